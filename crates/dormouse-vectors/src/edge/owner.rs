//! The one thread that may touch the engine: its flush panics beside another one's update.

use std::{
    io,
    panic::{AssertUnwindSafe, catch_unwind},
    thread,
};

use dormouse_contracts::VectorErrorKind;
use tokio::sync::{mpsc, oneshot};

use super::{shard::Failure, shelves::Shelves};

/// How many calls may wait.
const WAITING: usize = 16;

type Job = Box<dyn FnOnce(&mut Shelves) + Send>;

/// The way to the thread. Dropping it ends the thread once nothing waits any more.
pub(super) struct Owner {
    jobs: Option<mpsc::Sender<Job>>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Owner {
    /// Hands the collections over to a thread of their own.
    pub(super) fn of(mut shelves: Shelves) -> io::Result<Self> {
        let (jobs, mut waiting) = mpsc::channel::<Job>(WAITING);
        let thread = thread::Builder::new()
            .name("qdrant-edge".to_owned())
            .spawn(move || {
                while let Some(job) = waiting.blocking_recv() {
                    job(&mut shelves);
                }
                shelves.close();
            })?;
        Ok(Self {
            jobs: Some(jobs),
            thread: Some(thread),
        })
    }

    /// Has `work` done when it is its turn. A panic in it becomes a failure, and every collection is opened anew.
    pub(super) async fn ask<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Shelves) -> Result<T, Failure> + Send + 'static,
    ) -> Result<T, Failure> {
        let (tell, told) = oneshot::channel();
        let job: Job = Box::new(move |shelves| {
            let done = catch_unwind(AssertUnwindSafe(|| work(shelves)));
            let answer = done.unwrap_or_else(|_panic| {
                shelves.close();
                Err(Failure::because(
                    VectorErrorKind::Damaged,
                    "the engine met something it did not expect",
                ))
            });
            // Whoever asked may have gone.
            drop(tell.send(answer));
        });
        let gone = || Failure::from(VectorErrorKind::Unavailable);
        let jobs = self.jobs.as_ref().ok_or_else(gone)?;
        jobs.send(job).await.map_err(|_gone| gone())?;
        told.await.map_err(|_gone| gone())?
    }
}

impl Drop for Owner {
    /// Waits for what is under way, so that the folder is free when this returns.
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A panic has been told to whoever asked.
            drop(thread.join());
        }
    }
}
