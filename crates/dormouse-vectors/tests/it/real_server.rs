//! The same promises, kept by a real server: `QDRANT_URL`, and `QDRANT_API_KEY` if it asks for one.

use std::{env, panic::AssertUnwindSafe, process, sync::Mutex, time::Duration};

use dormouse_contracts::{
    BoxFuture, CollectionName, Hit, Point, PointFilter, Retention, VectorError, VectorIndex,
};
use dormouse_testing::conformance::{self, Exactness};
use dormouse_vectors::{ApiKey, CollectionPrefix, Qdrant, QdrantConfig, QdrantUrl};
use futures_util::FutureExt;

#[tokio::test]
async fn a_real_server_keeps_every_promise() {
    let Ok(url) = env::var("QDRANT_URL") else {
        println!("skipped: QDRANT_URL is not set");
        return;
    };
    let mut config = QdrantConfig::new(QdrantUrl::try_new(&url).unwrap());
    let key = env::var("QDRANT_API_KEY")
        .ok()
        .filter(|key| !key.is_empty());
    config.api_key = key.map(|key| ApiKey::try_new(key).unwrap());
    config.prefix = CollectionPrefix::try_new(&format!("test-{}", process::id())).unwrap();
    config.timeout = Duration::from_secs(60);

    let server = Remembering::new(Qdrant::connect(config.clone()).unwrap());
    let checked = AssertUnwindSafe(async {
        conformance::vector_index(&server, Exactness::Approximate).await;
        let reconnected = Qdrant::connect(config).unwrap();
        conformance::vector_index_reopened(&reconnected).await;
    });
    let outcome = checked.catch_unwind().await;
    server.discard_all().await;
    if let Err(panic) = outcome {
        std::panic::resume_unwind(panic);
    }
    println!("checked: {url} keeps every promise of a vector index");
}

/// Knows which collections were made, so that none is left on somebody's server.
struct Remembering {
    index: Qdrant,
    made: Mutex<Vec<CollectionName>>,
}

impl Remembering {
    fn new(index: Qdrant) -> Self {
        Self {
            index,
            made: Mutex::default(),
        }
    }

    async fn discard_all(&self) {
        let made = std::mem::take(&mut *self.made.lock().unwrap());
        for collection in made {
            self.index.discard(&collection).await.unwrap();
        }
    }
}

impl VectorIndex for Remembering {
    fn identity(&self) -> String {
        self.index.identity()
    }

    fn retention(&self) -> Retention {
        self.index.retention()
    }

    fn prepare<'a>(
        &'a self,
        collection: &'a CollectionName,
        dimensions: usize,
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        self.made.lock().unwrap().push(collection.clone());
        self.index.prepare(collection, dimensions)
    }

    fn upsert<'a>(
        &'a self,
        collection: &'a CollectionName,
        points: &'a [Point],
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        self.index.upsert(collection, points)
    }

    fn remove<'a>(
        &'a self,
        collection: &'a CollectionName,
        ids: &'a [u64],
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        self.index.remove(collection, ids)
    }

    fn search<'a>(
        &'a self,
        collection: &'a CollectionName,
        query: &'a [f32],
        filter: &'a PointFilter,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Hit>, VectorError>> {
        self.index.search(collection, query, filter, limit)
    }

    fn count<'a>(
        &'a self,
        collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<Option<u64>, VectorError>> {
        self.index.count(collection)
    }

    fn discard<'a>(
        &'a self,
        collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        self.index.discard(collection)
    }
}
