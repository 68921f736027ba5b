//! The writer thread: gathers what is waiting, commits it at once, and then answers everybody.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use dormouse_contracts::{AppendError, AppendRequest, AssistantId, Seq, Snapshot};
use dormouse_database::DatabaseHandle;
use tokio::sync::{mpsc, oneshot};

use crate::{
    fault::{Fault, SharedFault, contained},
    reading,
    stats::Counters,
};

mod batch;

use batch::{Batch, Verdict, Written};

/// The most requests that share a commit.
const BATCH_REQUESTS: usize = 512;
/// A batch takes no further request once it holds this much payload, in bytes.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// What the writer thread owns.
#[derive(Debug)]
pub(crate) struct LogWriter {
    pub(crate) database: Arc<DatabaseHandle>,
    pub(crate) counters: Arc<Counters>,
}

/// Something for the writer thread to do.
#[derive(Debug)]
pub(crate) enum Request {
    Append(AppendRequest, Reply),
    Snapshot(AssistantId, Snapshot, Reply),
    /// A reader met a failure after which the database has to be opened again.
    Recover,
    /// Look whether the log is being closed.
    Wake,
}

/// Where an answer goes. Whoever asked may have left; what they asked for is done all the same.
pub(crate) type Reply = oneshot::Sender<Result<Seq, AppendError>>;

impl Request {
    fn bytes(&self) -> usize {
        match self {
            Self::Append(request, _) => request.events.iter().map(|e| e.payload.len()).sum(),
            Self::Snapshot(_, snapshot, _) => snapshot.payload.len(),
            Self::Recover | Self::Wake => 0,
        }
    }

    /// Where the answer goes, if one is wanted.
    fn reply(&self) -> Option<&Reply> {
        match self {
            Self::Append(_, reply) | Self::Snapshot(_, _, reply) => Some(reply),
            Self::Recover | Self::Wake => None,
        }
    }

    fn answer(self, result: Result<Seq, AppendError>) {
        match self {
            Self::Append(_, reply) | Self::Snapshot(_, _, reply) => {
                // The receiver may be gone, which is its right.
                drop(reply.send(result));
            }
            Self::Recover | Self::Wake => {}
        }
    }
}

/// Serves requests until the log is closed and nothing is waiting any more; then closes the database.
pub(crate) fn run(
    writer: &LogWriter,
    mut requests: mpsc::Receiver<Request>,
    closing: &Arc<AtomicBool>,
) {
    loop {
        if closing.load(Ordering::Acquire) {
            requests.close();
        }
        let Some(first) = requests.blocking_recv() else {
            break;
        };
        serve(writer, gather(first, &mut requests));
    }
    writer.database.close();
}

fn gather(first: Request, requests: &mut mpsc::Receiver<Request>) -> Vec<Request> {
    let mut bytes = first.bytes();
    let mut batch = vec![first];
    while batch.len() < BATCH_REQUESTS && bytes < BATCH_BYTES {
        let Ok(request) = requests.try_recv() else {
            break;
        };
        bytes = bytes.saturating_add(request.bytes());
        batch.push(request);
    }
    batch
}

/// How far an attempt got before it failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Nothing can have reached the file.
    Preparing,
    /// The transaction may or may not be in the file.
    Committing,
}

/// One attempt to commit a batch.
struct Attempt {
    stage: Stage,
    batch: Batch,
}

fn serve(writer: &LogWriter, batch: Vec<Request>) {
    if batch
        .iter()
        .any(|request| matches!(request, Request::Recover))
    {
        recover(&writer.database);
    }
    if batch.iter().all(|request| request.reply().is_none()) {
        return;
    }
    let (mut attempt, mut result) = try_commit(writer, &batch);
    if result.is_err() && attempt.stage == Stage::Preparing && writer.database.reopen().is_ok() {
        // Nothing was committed, and the database may have been unusable since before this batch came.
        (attempt, result) = try_commit(writer, &batch);
    }
    match result {
        Ok(()) => answer(batch, attempt.batch.verdicts),
        Err(fault) => settle(&writer.database, batch, attempt, fault),
    }
}

/// Opens the database again if it refuses to begin a transaction.
fn recover(database: &DatabaseHandle) {
    let usable: Result<(), Fault> = database.write(|transaction| Ok(transaction.abort()?));
    if usable.is_err()
        && let Err(fault) = database.reopen()
    {
        tracing::warn!(%fault, "the log could not be opened again");
    }
}

fn answer(batch: Vec<Request>, verdicts: Vec<Verdict>) {
    for (request, verdict) in batch.into_iter().zip(verdicts) {
        request.answer(verdict.into_result());
    }
}

/// After a failed attempt: opens the database again, finds out what is really in it, and answers accordingly.
fn settle(database: &DatabaseHandle, batch: Vec<Request>, attempt: Attempt, fault: Fault) {
    tracing::warn!(
        fault = &fault as &dyn std::error::Error,
        requests = batch.len(),
        "a commit failed"
    );
    let reopened = database.reopen();
    let committed = attempt.stage == Stage::Committing
        && reopened.is_ok()
        && affirm(database, &attempt.batch.ends).unwrap_or(false);
    if committed {
        return answer(batch, attempt.batch.verdicts);
    }
    let shared = SharedFault::new(fault);
    for request in batch {
        request.answer(Err(shared.to_append_error()));
    }
}

/// Whether the transaction that was reported as failed is in the file after all; if so, makes sure that it
/// stays there. Commits have two phases and the first, which writes the data, must have succeeded for this,
/// so one more successful commit is enough.
fn affirm(database: &DatabaseHandle, ends: &HashMap<AssistantId, Seq>) -> Result<bool, Fault> {
    contained(|| {
        let Some((assistant, end)) = ends.iter().next() else {
            return Ok(false);
        };
        let found = reading::end(&database.begin_read()?, assistant, *end)?;
        if found != *end {
            return Ok(false);
        }
        database.write(|transaction| Ok::<_, Fault>(transaction.commit()?))?;
        Ok(true)
    })
}

fn try_commit(writer: &LogWriter, requests: &[Request]) -> (Attempt, Result<(), Fault>) {
    let mut attempt = Attempt {
        stage: Stage::Preparing,
        batch: Batch::default(),
    };
    let result = writer.database.write(|transaction| {
        let written = attempt.batch.apply(&transaction, requests)?;
        if written == Written::NOTHING {
            transaction.abort()?;
            return Ok(());
        }
        attempt.stage = Stage::Committing;
        transaction.commit()?;
        writer.counters.committed(written.events);
        Ok(())
    });
    (attempt, result)
}

#[cfg(test)]
mod tests;
