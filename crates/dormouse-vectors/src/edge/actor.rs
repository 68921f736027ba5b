//! The only thread that calls the engine. The engine's flush panics if another thread updates meanwhile.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
};

use dormouse_contracts::VectorErrorKind;
use tokio::sync::{mpsc, oneshot};

use super::{shard::EdgeFailure, shards::OpenShards};

/// How many calls may wait.
const WAITING: usize = 16;

type Job = Box<dyn FnOnce(&mut OpenShards) + Send>;

/// The handle to the thread. Dropping it ends the thread after the waiting calls.
pub(super) struct EdgeActor {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl EdgeActor {
    /// Moves the collections to a thread of their own.
    pub(super) fn of(mut shards: OpenShards) -> io::Result<Self> {
        let (jobs, mut waiting) = mpsc::channel::<Job>(WAITING);
        let thread = thread::Builder::new()
            .name("qdrant-edge".to_owned())
            .spawn(move || {
                while let Some(job) = waiting.blocking_recv() {
                    job(&mut shards);
                }
                shards.close();
            })?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Queues `work` and waits for its result. A panic in it becomes a failure and closes every collection; each is
    /// opened again when it is needed.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut OpenShards) -> Result<T, EdgeFailure> + Send + 'static,
    ) -> Result<T, EdgeFailure> {
        let (reply, replied) = oneshot::channel();
        let job: Job = Box::new(move |shards| {
            let done = catch_unwind(AssertUnwindSafe(|| work(shards)));
            let answer = done.unwrap_or_else(|_panic| {
                shards.close();
                Err(EdgeFailure::because(
                    VectorErrorKind::Damaged,
                    "the engine met something it did not expect",
                ))
            });
            // The caller may have stopped waiting.
            drop(reply.send(answer));
        });
        let gone = || EdgeFailure::from(VectorErrorKind::Unavailable);
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.send(job).await.map_err(|_gone| gone())?;
        replied.await.map_err(|_gone| gone())?
    }
}

impl Drop for EdgeActor {
    /// Waits for the call under way, so that the folder is free when this returns.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // The caller of the panicking work has already received the failure.
            drop(thread.join());
        }
    }
}
