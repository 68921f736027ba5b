//! An exact index, which compares a query with every point.

mod block;
mod code;
mod kernel;
mod nearest;
mod points;

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, PoisonError, RwLock},
};

use dormouse_contracts::{
    BoxFuture, CollectionName, Hit, Point, PointFilter, Retention, VectorError, VectorErrorKind,
    VectorIndex,
};
use fearless_simd::Level;

use self::{
    code::QueryCode,
    points::{CodedPoint, Points},
};
use crate::direction;

const IDENTITY: &str = "exact";

/// How many points are stored at a time before a waiting search may run.
const POINTS_AT_ONCE: usize = 256;

/// The exact index: it compares a query with every point in memory, so it misses none.
///
/// It is empty after every start. Each component of a vector is stored in two bytes; a point of 384 dimensions takes
/// about 830 bytes. A search reads the first byte of all admitted points, and the second byte only of those that may be
/// among the nearest. The error bound of the first byte is known, so no point that could be among the nearest is
/// skipped. Scores differ from those of 32-bit floats by at most [`Exact::score_error`].
///
/// The work runs on the thread that polls the future, and waits only for a lock. A search takes about 2 ms for 100,000
/// points of 384 dimensions; the time is linear in both. Searches run in parallel; adding points blocks them for at
/// most 256 points at a time. With a million points, poll it on a separate thread if other work must not wait. A future
/// that is dropped before its first poll has done nothing; after that poll it is complete.
///
/// # Examples
///
/// ```
/// use dormouse_contracts::{
///     AssistantId, CollectionName, Point, PointFilter, PointPayload, Timestamp, Trust, VectorIndex,
/// };
/// use dormouse_vectors::Exact;
///
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let index = Exact::new();
/// let memories = CollectionName::try_new("memories")?;
/// index.prepare(&memories, 2).await?;
/// let payload = PointPayload {
///     assistant: AssistantId::try_new("alice")?,
///     trust: Trust::FULL,
///     at: Timestamp::EPOCH,
/// };
/// let point = |id, vector| Point { id, vector, payload: payload.clone() };
/// index.upsert(&memories, &[point(7, vec![0.0, 1.0]), point(8, vec![3.0, 0.1])]).await?;
///
/// let hits = index.search(&memories, &[1.0, 0.0], &PointFilter::default(), 1).await?;
/// assert_eq!(hits[0].id, 8);
/// # Ok(()) }
/// ```
pub struct Exact {
    level: Level,
    collections: RwLock<HashMap<CollectionName, Arc<RwLock<Points>>>>,
}

impl Exact {
    /// An index without collections.
    #[must_use]
    pub fn new() -> Self {
        Self {
            level: Level::new(),
            collections: RwLock::default(),
        }
    }

    /// The largest difference between a score and the cosine of the vectors, for vectors of `dimensions` components:
    /// 0.0004 for 384. It is reached only if one component outweighs all others; otherwise it is a tenth of that.
    #[must_use]
    pub fn score_error(dimensions: usize) -> f32 {
        code::score_error(dimensions)
    }

    /// The memory of all points in bytes, within a few percent.
    ///
    /// # Errors
    ///
    /// [`VectorErrorKind::Damaged`], as from every call.
    pub fn memory_bytes(&self) -> Result<u64, VectorError> {
        let collections = self.collections.read().map_err(broken).map_err(refuse)?;
        let mut bytes = 0;
        for points in collections.values() {
            bytes += points
                .read()
                .map_err(broken)
                .map_err(refuse)?
                .memory_bytes() as u64;
        }
        Ok(bytes)
    }

    fn points(&self, collection: &CollectionName) -> Result<Arc<RwLock<Points>>, VectorErrorKind> {
        let collections = self.collections.read().map_err(broken)?;
        collections
            .get(collection)
            .cloned()
            .ok_or(VectorErrorKind::Missing)
    }

    fn prepare_now(
        &self,
        collection: &CollectionName,
        dimensions: usize,
    ) -> Result<(), VectorErrorKind> {
        direction::check_dimensions(dimensions)?;
        let mut collections = self.collections.write().map_err(broken)?;
        let points = collections
            .entry(collection.clone())
            .or_insert_with(|| Arc::new(RwLock::new(Points::new(dimensions))));
        let expected = points.read().map_err(broken)?.dimensions();
        if expected == dimensions {
            Ok(())
        } else {
            Err(VectorErrorKind::Dimension {
                expected,
                actual: dimensions,
            })
        }
    }

    fn upsert_now(
        &self,
        collection: &CollectionName,
        added: &[Point],
    ) -> Result<(), VectorErrorKind> {
        let points = self.points(collection)?;
        let dimensions = points.read().map_err(broken)?.dimensions();
        // All vectors are checked first: an invalid one must not leave the call half done.
        direction::check_points(added, dimensions)?;
        for chunk in added.chunks(POINTS_AT_ONCE) {
            // Coding needs no lock, so searches continue meanwhile.
            let mut coded = Vec::with_capacity(chunk.len());
            for point in chunk {
                let unit = direction::unit(&point.vector, dimensions)?;
                coded.push(CodedPoint::new(point, &unit));
            }
            let mut points = points.write().map_err(broken)?;
            coded.iter().try_for_each(|point| points.put(point))?;
        }
        Ok(())
    }

    fn remove_now(&self, collection: &CollectionName, ids: &[u64]) -> Result<(), VectorErrorKind> {
        let points = self.points(collection)?;
        // The lock is released after each chunk, so that searches can run in between.
        for chunk in ids.chunks(POINTS_AT_ONCE) {
            let mut points = points.write().map_err(broken)?;
            chunk.iter().for_each(|id| points.remove(*id));
        }
        Ok(())
    }

    fn search_now(
        &self,
        collection: &CollectionName,
        query: &[f32],
        filter: &PointFilter,
        limit: usize,
    ) -> Result<Vec<Hit>, VectorErrorKind> {
        let points = self.points(collection)?;
        let points = points.read().map_err(broken)?;
        let unit = direction::unit(query, points.dimensions())?;
        Ok(points.nearest(self.level, &QueryCode::of(unit), filter, limit))
    }

    fn count_now(&self, collection: &CollectionName) -> Result<Option<u64>, VectorErrorKind> {
        match self.points(collection) {
            Ok(points) => Ok(Some(points.read().map_err(broken)?.len() as u64)),
            Err(VectorErrorKind::Missing) => Ok(None),
            Err(kind) => Err(kind),
        }
    }

    fn discard_now(&self, collection: &CollectionName) -> Result<(), VectorErrorKind> {
        let mut collections = self.collections.write().map_err(broken)?;
        // Searches that hold the old `Arc` finish on the discarded points.
        collections.remove(collection);
        Ok(())
    }
}

/// A thread panicked while it changed the points, so they may be inconsistent.
fn broken<T>(_: PoisonError<T>) -> VectorErrorKind {
    VectorErrorKind::Damaged
}

fn refuse(kind: VectorErrorKind) -> VectorError {
    VectorError::new(IDENTITY, kind)
}

impl Default for Exact {
    fn default() -> Self {
        Self::new()
    }
}

impl fmt::Debug for Exact {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exact")
            .field("level", &self.level)
            .finish_non_exhaustive()
    }
}

impl VectorIndex for Exact {
    fn identity(&self) -> String {
        IDENTITY.to_owned()
    }

    fn retention(&self) -> Retention {
        Retention::Volatile
    }

    fn prepare<'a>(
        &'a self,
        collection: &'a CollectionName,
        dimensions: usize,
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        Box::pin(async move { self.prepare_now(collection, dimensions).map_err(refuse) })
    }

    fn upsert<'a>(
        &'a self,
        collection: &'a CollectionName,
        points: &'a [Point],
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        Box::pin(async move { self.upsert_now(collection, points).map_err(refuse) })
    }

    fn remove<'a>(
        &'a self,
        collection: &'a CollectionName,
        ids: &'a [u64],
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        Box::pin(async move { self.remove_now(collection, ids).map_err(refuse) })
    }

    fn search<'a>(
        &'a self,
        collection: &'a CollectionName,
        query: &'a [f32],
        filter: &'a PointFilter,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Hit>, VectorError>> {
        Box::pin(async move {
            self.search_now(collection, query, filter, limit)
                .map_err(refuse)
        })
    }

    fn count<'a>(
        &'a self,
        collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<Option<u64>, VectorError>> {
        Box::pin(async move { self.count_now(collection).map_err(refuse) })
    }

    fn discard<'a>(
        &'a self,
        collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        Box::pin(async move { self.discard_now(collection).map_err(refuse) })
    }
}
