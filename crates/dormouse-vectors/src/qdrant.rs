//! An index on a Qdrant server.

mod address;
mod client;
mod collections;
mod config;
mod failure;
mod request;
mod wire;

use std::fmt;

use dormouse_contracts::{
    BoxFuture, CollectionName, Hit, Point, PointFilter, Retention, VectorError, VectorErrorKind,
    VectorIndex,
};
use qdrant_client::qdrant::{
    CountPointsBuilder, DeleteCollection, DeletePointsBuilder, PointId, PointsIdsList,
    PointsOperationResponse, Query, QueryPointsBuilder, UpdateStatus, UpsertPointsBuilder,
};

use self::{
    client::Client,
    collections::{Known, name},
    failure::{Failure, Fault},
    wire::Wire,
};
use crate::{direction, rank::rank};

pub use self::{
    address::{ApiKey, CollectionPrefix, QdrantConfigError, QdrantUrl},
    config::{CollectionLayout, QdrantConfig},
};

/// The most ids in one request to remove points.
const IDS_AT_ONCE: usize = 4_096;

/// Above this limit the number of points is counted first, because a server reserves memory for as many hits as
/// requested.
const MODEST_LIMIT: usize = 10_000;

/// Collections on a Qdrant server or cluster, over gRPC.
///
/// Tested with servers 1.18. The payload of a point is `assistant`, `trust` and `at` (µs since 1970), each indexed, so
/// that a filter costs little. Collections are named `prefix~name`. Answers are approximate once a collection is large
/// enough for the server to build its graph. Times after the year 2255 are filtered to within a millisecond or so.
///
/// At most [`QdrantConfig::requests_at_once`] requests are under way, and further ones wait their turn. The wait is
/// part of [`QdrantConfig::timeout`], or of [`QdrantConfig::make_timeout`] for a request that creates a collection.
/// Points are sent in requests of at most 256 points and 4 MiB, one after the other. Each request returns once its
/// points can be found; they survive a crash of the server. If the connection breaks, a request is tried once more. If
/// there are several addresses, it is tried at each of the others. Beyond that nothing is retried, and there is no
/// circuit breaker: the caller knows what can wait. Dropping a future gives up its result; the server may still
/// execute the request.
///
/// With `https` the server's certificate must be signed by an authority that the system trusts, or by
/// [`QdrantConfig::authority`].
///
/// Errors contain the server's message, without the key. The kind is [`VectorErrorKind::Unavailable`] for failures
/// that may pass, including a full disk of the server. Calls outside a tokio runtime fail with
/// [`VectorErrorKind::Refused`].
///
/// # Examples
///
/// ```no_run
/// use dormouse_contracts::{CollectionName, VectorIndex};
/// use dormouse_vectors::{Qdrant, QdrantConfig, QdrantUrl};
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let url = QdrantUrl::try_new("http://127.0.0.1:6334")?;
/// let index = Qdrant::connect(QdrantConfig::new(url))?;
/// index.prepare(&CollectionName::try_new("memories")?, 384).await?;
/// # Ok(()) }
/// ```
pub struct Qdrant {
    wire: Wire,
    known: Known,
}

impl Qdrant {
    /// An index on that server. Nothing is sent before the first request, so a server that is down is not an error.
    ///
    /// # Errors
    ///
    /// [`QdrantConfigError::Url`] if the client cannot use the address.
    pub fn connect(config: QdrantConfig) -> Result<Self, QdrantConfigError> {
        Ok(Self {
            wire: Wire::new(config)?,
            known: Known::default(),
        })
    }

    /// The failure for the caller. If cached facts about the collection may have caused the failure, they are
    /// forgotten.
    fn refuse(&self, collection: &CollectionName, failure: Failure) -> VectorError {
        let is_stale = matches!(
            failure.kind,
            VectorErrorKind::Missing | VectorErrorKind::Dimension { .. }
        );
        if is_stale {
            self.known.forget(collection);
        }
        failure.of(self.identity())
    }

    async fn dimensions(&self, collection: &CollectionName) -> Result<usize, Failure> {
        collections::dimensions(&self.wire, &self.known, collection).await
    }

    /// Fails if the collection does not exist now.
    async fn check_presence(&self, collection: &CollectionName) -> Result<usize, Failure> {
        collections::current_dimensions(&self.wire, &self.known, collection).await
    }

    async fn add(&self, collection: &CollectionName, points: &[Point]) -> Result<(), Failure> {
        if points.is_empty() {
            return self.check_presence(collection).await.map(drop);
        }
        let dimensions = self.dimensions(collection).await?;
        direction::check_points(points, dimensions)?;
        for batch in request::batches(points) {
            let batch = batch.iter().map(|point| request::point(point, dimensions));
            let batch: Vec<_> = batch.collect::<Result<_, _>>()?;
            let upsert = UpsertPointsBuilder::new(name(&self.wire, collection), batch).wait(true);
            let upsert = upsert.build();
            let ask = |client: Client| {
                let upsert = upsert.clone();
                async move { client.points().upsert(upsert).await }
            };
            applied(&self.wire.ask(ask).await?)?;
        }
        Ok(())
    }

    async fn take_out(&self, collection: &CollectionName, ids: &[u64]) -> Result<(), Failure> {
        if ids.is_empty() {
            return self.check_presence(collection).await.map(drop);
        }
        for ids in ids.chunks(IDS_AT_ONCE) {
            let ids = ids.iter().map(|id| PointId::from(*id)).collect();
            let delete = DeletePointsBuilder::new(name(&self.wire, collection))
                .points(PointsIdsList { ids })
                .wait(true)
                .build();
            let ask = |client: Client| {
                let delete = delete.clone();
                async move { client.points().delete(delete).await }
            };
            applied(&self.wire.ask(ask).await?)?;
        }
        Ok(())
    }

    async fn find(
        &self,
        collection: &CollectionName,
        query: &[f32],
        filter: &PointFilter,
        limit: usize,
    ) -> Result<Vec<Hit>, Failure> {
        let limit = self.modest(collection, limit).await?;
        let unit = direction::unit(query, self.dimensions(collection).await?)?;
        if limit == 0 {
            return Ok(Vec::new());
        }
        let mut query = QueryPointsBuilder::new(name(&self.wire, collection))
            .query(Query::new_nearest(unit))
            .limit(limit as u64)
            .with_payload(false);
        if let Some(filter) = request::filter(filter) {
            query = query.filter(filter);
        }
        let query = query.build();
        let ask = |client: Client| {
            let query = query.clone();
            async move { client.points().query(query).await }
        };
        let answer = self.wire.ask(ask).await?;
        let mut hits: Vec<Hit> = answer.result.iter().filter_map(request::hit).collect();
        hits.sort_by(rank);
        hits.truncate(limit);
        Ok(hits)
    }

    /// A limit that the server can allocate: never more than there are points.
    async fn modest(&self, collection: &CollectionName, limit: usize) -> Result<usize, Failure> {
        match limit {
            0 => self.check_presence(collection).await.map(|_| 0),
            1..=MODEST_LIMIT => Ok(limit),
            _ => {
                let count = self.number(collection).await?;
                Ok(limit.min(usize::try_from(count).unwrap_or(usize::MAX)))
            }
        }
    }

    async fn number(&self, collection: &CollectionName) -> Result<u64, Failure> {
        let count = CountPointsBuilder::new(name(&self.wire, collection)).exact(true);
        let count = count.build();
        let ask = |client: Client| {
            let count = count.clone();
            async move { client.points().count(count).await }
        };
        let answer = self.wire.ask(ask).await?;
        // If a missing number counted as zero, the caller would conclude that all points are lost.
        let result = answer.result.ok_or(Fault::EmptyAnswer);
        let result =
            result.map_err(|fault| Failure::because(VectorErrorKind::Unavailable, fault))?;
        Ok(result.count)
    }

    async fn count_now(&self, collection: &CollectionName) -> Result<Option<u64>, Failure> {
        match self.number(collection).await {
            Ok(count) => Ok(Some(count)),
            Err(failure) if failure.kind == VectorErrorKind::Missing => Ok(None),
            Err(failure) => Err(failure),
        }
    }

    async fn drop_collection(&self, collection: &CollectionName) -> Result<(), Failure> {
        self.known.forget(collection);
        let request = DeleteCollection {
            collection_name: name(&self.wire, collection),
            timeout: Some(self.wire.config().make_timeout.as_secs().max(1)),
        };
        let ask = |client: Client| {
            let request = request.clone();
            async move { client.collections().delete(request).await }
        };
        match self.wire.ask_to_make(ask).await {
            Ok(_) => Ok(()),
            Err(failure) if failure.kind == VectorErrorKind::Missing => Ok(()),
            Err(failure) => Err(failure),
        }
    }
}

/// Fails if the server answered before the points can be found.
fn applied(answer: &PointsOperationResponse) -> Result<(), Failure> {
    let status = answer.result.as_ref().map(|result| result.status);
    if status == Some(UpdateStatus::Completed as i32) {
        Ok(())
    } else {
        Err(Failure::because(
            VectorErrorKind::Unavailable,
            Fault::NotApplied,
        ))
    }
}

impl fmt::Debug for Qdrant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Qdrant")
            .field("config", self.wire.config())
            .finish_non_exhaustive()
    }
}

impl VectorIndex for Qdrant {
    fn identity(&self) -> String {
        let config = self.wire.config();
        format!("qdrant {}/{}", config.url.as_str(), config.prefix.as_str())
    }

    fn retention(&self) -> Retention {
        Retention::Durable
    }

    fn prepare<'a>(
        &'a self,
        collection: &'a CollectionName,
        dimensions: usize,
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        Box::pin(async move {
            let prepared = async {
                direction::check_dimensions(dimensions)?;
                collections::prepare(&self.wire, &self.known, collection, dimensions).await
            };
            prepared
                .await
                .map_err(|failure| self.refuse(collection, failure))
        })
    }

    fn upsert<'a>(
        &'a self,
        collection: &'a CollectionName,
        points: &'a [Point],
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        Box::pin(async move {
            let added = self.add(collection, points).await;
            added.map_err(|failure| self.refuse(collection, failure))
        })
    }

    fn remove<'a>(
        &'a self,
        collection: &'a CollectionName,
        ids: &'a [u64],
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        Box::pin(async move {
            let removed = self.take_out(collection, ids).await;
            removed.map_err(|failure| self.refuse(collection, failure))
        })
    }

    fn search<'a>(
        &'a self,
        collection: &'a CollectionName,
        query: &'a [f32],
        filter: &'a PointFilter,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Hit>, VectorError>> {
        Box::pin(async move {
            let found = self.find(collection, query, filter, limit).await;
            found.map_err(|failure| self.refuse(collection, failure))
        })
    }

    fn count<'a>(
        &'a self,
        collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<Option<u64>, VectorError>> {
        Box::pin(async move {
            let count = self.count_now(collection).await;
            count.map_err(|failure| self.refuse(collection, failure))
        })
    }

    fn discard<'a>(
        &'a self,
        collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        Box::pin(async move {
            let discarded = self.drop_collection(collection).await;
            discarded.map_err(|failure| self.refuse(collection, failure))
        })
    }
}
