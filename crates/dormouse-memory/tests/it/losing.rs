//! An index that has lost points.

use std::{
    future::pending,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{
    BoxFuture, CollectionName, Hit, Point, PointFilter, Retention, VectorError, VectorIndex,
};
use dormouse_memory::SearchMode;
use dormouse_testing::HashedEmbedder;
use dormouse_vectors::Exact;
use tokio::time::advance;

use crate::{add, said, with_vectors};

/// Longer than a full index is taken to be full.
const A_WHILE: Duration = Duration::from_secs(601);

/// An index that has lost some points, and hangs when a collection is to be removed.
#[derive(Default)]
struct Losing {
    exact: Exact,
    lost: AtomicU64,
}

impl VectorIndex for Losing {
    fn identity(&self) -> String {
        self.exact.identity()
    }

    fn retention(&self) -> Retention {
        Retention::Durable
    }

    fn prepare<'a>(
        &'a self,
        collection: &'a CollectionName,
        dimensions: usize,
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        self.exact.prepare(collection, dimensions)
    }

    fn upsert<'a>(
        &'a self,
        collection: &'a CollectionName,
        points: &'a [Point],
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        self.exact.upsert(collection, points)
    }

    fn remove<'a>(
        &'a self,
        collection: &'a CollectionName,
        ids: &'a [u64],
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        self.exact.remove(collection, ids)
    }

    fn search<'a>(
        &'a self,
        collection: &'a CollectionName,
        query: &'a [f32],
        filter: &'a PointFilter,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Hit>, VectorError>> {
        self.exact.search(collection, query, filter, limit)
    }

    fn count<'a>(
        &'a self,
        collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<Option<u64>, VectorError>> {
        Box::pin(async {
            let count = self.exact.count(collection).await?;
            Ok(count.map(|count| count - self.lost.load(Ordering::Relaxed)))
        })
    }

    fn discard<'a>(
        &'a self,
        _collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        Box::pin(pending())
    }
}

#[tokio::test(start_paused = true)]
async fn what_is_left_of_an_index_serves_while_nothing_of_it_can_be_removed() {
    let index = Arc::new(Losing::default());
    let encoder = Arc::new(HashedEmbedder::new(64));
    let memory = with_vectors(encoder, index.clone());
    let memory = memory.ephemeral().unwrap();
    add(&memory, said("Alice", 1, "peppermint tea")).await;
    add(&memory, said("Alice", 2, "a boat")).await;
    memory.index_pending(100).await.unwrap();
    index.lost.store(1, Ordering::Relaxed);
    advance(A_WHILE).await;
    for _ in 0..3 {
        let recall = memory.recall("peppermint").await.unwrap();
        assert_eq!(recall.mode, SearchMode::WordsAndVectors);
    }
}
