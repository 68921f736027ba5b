//! Runs one work step of a night, while the assistant runs.

use std::{
    panic::AssertUnwindSafe,
    sync::{Arc, atomic::AtomicU64, atomic::Ordering},
    time::Duration,
};

use dormouse_contracts::Author;
use futures_util::FutureExt;

use super::extraction::{ActorLog, asker};
use crate::{
    Ports,
    handle::Handle,
    remembering::LoggedMemory,
    sleeping::{NightWorker, SleepStep},
};

/// The work step, and how it is done.
pub(crate) struct NightTask {
    pub(crate) night: u64,
    pub(crate) step: SleepStep,
    /// The names of the assistant.
    pub(crate) names: Vec<String>,
    /// How long a request may take.
    pub(crate) timeout: Duration,
    /// Counts panics.
    pub(crate) panics: Arc<AtomicU64>,
}

/// Does a work step. Returns whether its outcome is in the log.
pub(crate) async fn work_at_night(ports: Ports, handle: Handle, task: NightTask) -> bool {
    let panics = Arc::clone(&task.panics);
    match caught(Box::pin(work(ports, handle, task)), &panics).await {
        Some(Ok(())) => true,
        Some(Err(error)) => {
            tracing::warn!(error, "work of a night is not done; trying again later");
            false
        }
        None => false,
    }
}

/// The outcome of the work; `None` if it panics, which is counted.
async fn caught<T>(work: impl Future<Output = T>, panics: &AtomicU64) -> Option<T> {
    let done = AssertUnwindSafe(work).catch_unwind().await;
    if done.is_err() {
        panics.fetch_add(1, Ordering::Relaxed);
        tracing::error!("work of a night has a defect and panicked");
    }
    done.ok()
}

async fn work(ports: Ports, handle: Handle, task: NightTask) -> Result<(), String> {
    // The worker limits the requests of a step.
    let by = asker(
        &ports,
        task.names,
        (Author::Sleep(task.night), 0),
        task.timeout,
    );
    let log = ActorLog {
        log: ports.log,
        handle: handle.clone(),
    };
    let opened = LoggedMemory::open(log, ports.memory, ports.clock).await;
    let memory = opened.map_err(|error| error.to_string())?;
    let mut memory = memory.knowing(Box::pin(handle.inspect()).await);
    let worker = NightWorker::new(by, task.night);
    let worked = match caught(Box::pin(worker.work(&mut memory, task.step)), &task.panics).await {
        Some(worked) => worked,
        None => worker.panicked(&mut memory, task.step).await,
    };
    worked.map_err(|error| error.to_string())
}
