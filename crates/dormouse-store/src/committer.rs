//! The writer thread: gathers waiting requests, commits them together, and then answers all of them.
//!
//! A commit costs one sync of the write-ahead file, however many requests share it, and sometimes two of the log's own file:
//! if the batch is large, or the write-ahead file is full or failed. While one commit is being written, the next requests
//! wait in the queue; they form the next batch. So the log needs no delay to gather a batch, and a single request is
//! committed at once.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use dormouse_contracts::{AssistantId, Seq};
use dormouse_database::{DatabaseFault, DatabaseHandle};
use redb::Durability;
use tokio::sync::mpsc;

use crate::{
    events,
    fault::{Fault, SharedFault, contained},
    recent::RecentEvents,
    signature,
    stats::Counters,
    wal::{Taken, WalWriter},
};

mod batch;
mod request;

use batch::{Batch, Verdict, Written};
pub(crate) use request::{Reply, Request};

/// The most requests that share a commit.
const BATCH_REQUESTS: usize = 512;
/// A batch takes no further request once it has this much payload, in bytes.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// What the writer thread owns.
#[derive(Debug)]
pub(crate) struct LogWriter {
    pub(crate) database: Arc<DatabaseHandle>,
    pub(crate) counters: Arc<Counters>,
    pub(crate) recent: Arc<RecentEvents>,
    pub(crate) ahead: WalWriter,
}

impl LogWriter {
    /// Serves requests until the log is closed and the queue is empty; then closes the database.
    pub(crate) fn run(&mut self, mut requests: mpsc::Receiver<Request>, closing: &AtomicBool) {
        loop {
            // The queue is closed here and not by the handle: what is already in it must still be written.
            if closing.load(Ordering::Acquire) {
                requests.close();
            }
            let Some(first) = requests.blocking_recv() else {
                break;
            };
            let (batch, alone) = gather(first, &mut requests);
            self.serve(batch);
            if let Some(alone) = alone {
                self.serve(vec![alone]);
            }
        }
        self.finish();
        self.database.close();
    }

    /// Makes the log's file complete without the write-ahead file, and removes that one.
    fn finish(&mut self) {
        if !self.ahead.is_open() {
            return;
        }
        let committed = self.database.write(|transaction| {
            signature::set_generation(&transaction, None)?;
            Ok::<_, Fault>(transaction.commit()?)
        });
        match committed {
            Ok(()) => self.ahead.begin(None),
            Err(fault) => {
                tracing::warn!(%fault, "the log was not closed; the next opening reads its write-ahead file");
            }
        }
    }

    /// Opens the database again, with the content of the write-ahead file.
    fn reopen(&mut self) -> Result<(), DatabaseFault> {
        self.ahead.forget();
        self.database.reopen()
    }

    fn serve(&mut self, mut batch: Vec<Request>) {
        if batch.iter().any(|one| matches!(one, Request::Recover)) {
            self.recent.forget();
            self.recover();
        }
        if !batch.iter().any(Request::is_write) {
            return;
        }
        let (mut attempt, mut result) = self.try_commit(&batch);
        // Nothing reaches a file before the commit begins, so a second attempt cannot write anything twice. It often
        // succeeds, because redb refuses all work after an earlier failure until the database is reopened.
        if result.is_err() && attempt.stage == Stage::Preparing && self.reopen().is_ok() {
            (attempt, result) = self.try_commit(&batch);
        }
        match result {
            Ok(()) => {
                // A caller whose events are acknowledged must find them when it reads.
                self.keep(&mut batch, &attempt.batch.verdicts);
                answer(batch, attempt.batch.verdicts);
            }
            Err(fault) => {
                self.recent.forget();
                self.settle(batch, attempt, fault);
            }
        }
    }

    /// Keeps the events of a committed batch for those who read them next.
    fn keep(&self, batch: &mut [Request], verdicts: &[Verdict]) {
        for (request, verdict) in batch.iter_mut().zip(verdicts) {
            if let (Request::Append(request, _), Verdict::Done(_)) = (request, verdict) {
                let events = std::mem::take(&mut request.events);
                self.recent
                    .committed(&request.assistant, request.expected, events);
            }
        }
    }

    /// Reopens the database if it refuses to begin a transaction.
    fn recover(&mut self) {
        let begun: Result<(), Fault> = self.database.write(|transaction| Ok(transaction.abort()?));
        if begun.is_err()
            && let Err(fault) = self.reopen()
        {
            tracing::warn!(%fault, "the log could not be reopened");
        }
    }

    fn try_commit(&mut self, requests: &[Request]) -> (Attempt, Result<(), Fault>) {
        let mut attempt = Attempt {
            stage: Stage::Preparing,
            batch: Batch::default(),
        };
        let result = self.database.write(|mut transaction| {
            let written = attempt.batch.apply(&transaction, requests)?;
            // All requests are conflicts. A commit would cost a sync and write nothing.
            if written == Written::NOTHING {
                transaction.abort()?;
                return Ok(());
            }
            // Set before the commit and not after it: if the commit fails or panics, only the files show whether it
            // took effect.
            attempt.stage = Stage::Committing;
            match self.ahead.take(&attempt.batch.frames, attempt.batch.bytes) {
                Taken::Yes => {
                    let in_memory = transaction.set_durability(Durability::None);
                    in_memory.map_err(redb::Error::from)?;
                    transaction.commit()?;
                }
                // This commit also makes the earlier ones durable, which are in memory.
                Taken::No => {
                    let generation = self.ahead.next_generation();
                    signature::set_generation(&transaction, generation)?;
                    transaction.commit()?;
                    self.ahead.begin(generation);
                }
            }
            self.counters.committed(written.events);
            Ok(())
        });
        (attempt, result)
    }

    /// After a failed attempt: reopens the database, finds out what the file contains, and answers accordingly.
    fn settle(&mut self, batch: Vec<Request>, attempt: Attempt, fault: Fault) {
        tracing::warn!(
            fault = &fault as &dyn std::error::Error,
            requests = batch.len(),
            "a commit failed"
        );
        let reopened = self.reopen();
        // While the database cannot be reopened, readers use a snapshot, which may contain the commit. But nothing can
        // make that commit durable now, so it is reported as failed.
        let is_committed = attempt.stage == Stage::Committing
            && reopened.is_ok()
            && self.affirm(&attempt.batch.ends).unwrap_or(false);
        if is_committed {
            return answer(batch, attempt.batch.verdicts);
        }
        let shared = SharedFault::new(fault);
        for request in batch {
            request.answer(Err(shared.to_append_error()));
        }
    }

    /// Whether a commit that was reported as failed is in the file after all. If so, makes it durable: its first phase
    /// has written the data, so one more successful commit is enough.
    ///
    /// It checks the end of one assistant only, because a transaction is in the file completely or not at all.
    fn affirm(&self, ends: &HashMap<AssistantId, Seq>) -> Result<bool, Fault> {
        let Some((assistant, end)) = ends.iter().next() else {
            // The batch has only snapshots. They can be made again, so a failure is a safe answer.
            return Ok(false);
        };
        let found = contained(|| events::end(&self.database.begin_read()?, assistant, *end))?;
        if found != *end {
            return Ok(false);
        }
        self.database
            .write(|transaction| Ok::<_, Fault>(transaction.commit()?))?;
        Ok(true)
    }
}

/// The requests that share the next commit, and one behind them that shares its commit with nobody.
fn gather(
    first: Request,
    requests: &mut mpsc::Receiver<Request>,
) -> (Vec<Request>, Option<Request>) {
    if first.is_alone() {
        return (Vec::new(), Some(first));
    }
    let mut bytes = first.bytes();
    let mut batch = vec![first];
    while batch.len() < BATCH_REQUESTS && bytes < BATCH_BYTES {
        let Ok(request) = requests.try_recv() else {
            break;
        };
        if request.is_alone() {
            return (batch, Some(request));
        }
        bytes = bytes.saturating_add(request.bytes());
        batch.push(request);
    }
    (batch, None)
}

fn answer(batch: Vec<Request>, verdicts: Vec<Verdict>) {
    for (request, verdict) in batch.into_iter().zip(verdicts) {
        request.answer(verdict.into_result());
    }
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

#[cfg(test)]
mod tests;
