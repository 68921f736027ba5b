//! Qdrant's engine in this process.

mod actor;
mod error;
mod shard;
mod shards;

use std::{
    fmt,
    path::{Path, PathBuf},
};

use dormouse_contracts::{
    BoxFuture, CollectionName, Hit, Point, PointFilter, Retention, VectorError, VectorErrorKind,
    VectorIndex,
};

use actor::EdgeActor;
pub use error::EdgeError;
use shard::EdgeFailure;
use shards::OpenShards;

/// An index of vectors in a folder, which runs the engine of the Qdrant server in this process.
///
/// When a call returns, its changes are on disk. Every call that writes flushes them, which takes about ten
/// milliseconds, so pass many points at once. The engine's own log is not replayed after a crash, so no call returns
/// before the flush.
///
/// All work happens on a separate thread, in the order of the calls; its queue holds sixteen calls. Dropping an index
/// ends the thread after the call under way. Dropping the future of a call does not stop a call that has begun. If the
/// engine panics, which it does on damaged files, the call fails with [`VectorErrorKind::Damaged`]: discard the
/// collection and fill it again.
///
/// It searches exactly, which is fast enough for some hundred thousand points. The engine never shortens its log, which
/// grows by some two megabytes each time a thousand points of 384 numbers are written: if its points are often
/// replaced, discard the collection and fill it again. It writes warnings with the crate `log`; the filter
/// `qdrant_edge=error` silences them.
pub struct Edge {
    folder: PathBuf,
    actor: EdgeActor,
}

impl Edge {
    /// Opens the index in `folder`, and makes the folder if there is none. Blocks for a moment; collections are opened
    /// when they are first needed.
    ///
    /// # Errors
    ///
    /// [`EdgeError`] if the folder is in use, or cannot be used.
    pub fn open(folder: impl AsRef<Path>) -> Result<Self, EdgeError> {
        let folder = folder.as_ref();
        let shards = OpenShards::open(folder)?;
        // Different paths to one folder must give the index the same identity.
        let folder = folder.canonicalize().map_err(|source| EdgeError::Io {
            folder: folder.to_owned(),
            source,
        })?;
        let actor = EdgeActor::of(shards).map_err(|source| EdgeError::Io {
            folder: folder.clone(),
            source,
        })?;
        Ok(Self { folder, actor })
    }

    /// Sends `work` to the thread, and adds the name of this index to a failure.
    fn ask<'a, T: Send + 'static>(
        &'a self,
        work: impl FnOnce(&mut OpenShards) -> Result<T, EdgeFailure> + Send + 'static,
    ) -> BoxFuture<'a, Result<T, VectorError>> {
        Box::pin(async move {
            let answer = self.actor.ask(work).await;
            answer.map_err(|failure| failure.of(self.identity()))
        })
    }
}

impl fmt::Debug for Edge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Edge")
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}

impl VectorIndex for Edge {
    fn identity(&self) -> String {
        format!("edge {}", self.folder.display())
    }

    fn retention(&self) -> Retention {
        Retention::Durable
    }

    fn prepare<'a>(
        &'a self,
        collection: &'a CollectionName,
        dimensions: usize,
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        let name = collection.clone();
        self.ask(move |shards| shards.prepare(&name, dimensions))
    }

    fn upsert<'a>(
        &'a self,
        collection: &'a CollectionName,
        points: &'a [Point],
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        let (name, points) = (collection.clone(), points.to_vec());
        self.ask(move |shards| shards.with(&name, |shard| shard.upsert(&points)))
    }

    fn remove<'a>(
        &'a self,
        collection: &'a CollectionName,
        ids: &'a [u64],
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        let (name, ids) = (collection.clone(), ids.to_vec());
        self.ask(move |shards| shards.with(&name, |shard| shard.remove(&ids)))
    }

    fn search<'a>(
        &'a self,
        collection: &'a CollectionName,
        query: &'a [f32],
        filter: &'a PointFilter,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Hit>, VectorError>> {
        let (name, query, filter) = (collection.clone(), query.to_vec(), filter.clone());
        self.ask(move |shards| shards.with(&name, |shard| shard.search(&query, &filter, limit)))
    }

    fn count<'a>(
        &'a self,
        collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<Option<u64>, VectorError>> {
        let name = collection.clone();
        self.ask(
            move |shards| match shards.with(&name, |shard| shard.count()) {
                Ok(count) => Ok(Some(count)),
                Err(failure) if failure.kind() == VectorErrorKind::Missing => Ok(None),
                Err(failure) => Err(failure),
            },
        )
    }

    fn discard<'a>(
        &'a self,
        collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<(), VectorError>> {
        let name = collection.clone();
        self.ask(move |shards| shards.discard(&name))
    }
}
