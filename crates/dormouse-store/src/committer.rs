//! The writer thread: gathers what is waiting, commits it at once, and then answers everybody.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use dormouse_contracts::{
    AppendError, AppendErrorKind, AppendRequest, AssistantId, ReadErrorKind, Seq, Snapshot,
};
use redb::{ReadableTable, Table, WriteTransaction};
use tokio::sync::{mpsc, oneshot};

use crate::{
    fault::{Fault, SharedFault, contained},
    head, reading, record, snapshot,
    tables::{EVENTS, HEADS, key},
    vault::Vault,
};

/// The most requests that share a commit.
const BATCH_REQUESTS: usize = 512;
/// A batch takes no further request once it holds this much payload, in bytes.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

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
pub(crate) fn run(vault: &Vault, mut requests: mpsc::Receiver<Request>, closing: &Arc<AtomicBool>) {
    loop {
        if closing.load(Ordering::Acquire) {
            requests.close();
        }
        let Some(first) = requests.blocking_recv() else {
            break;
        };
        serve(vault, gather(first, &mut requests));
    }
    vault.close();
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

/// What becomes of one request of a batch that could be committed.
enum Verdict {
    Done(Seq),
    Conflict {
        expected: Seq,
        actual: Seq,
    },
    /// This assistant's own records are damaged; the others in the batch are not concerned.
    Refused(Fault),
}

impl Verdict {
    fn into_result(self) -> Result<Seq, AppendError> {
        match self {
            Self::Done(end) => Ok(end),
            Self::Conflict { expected, actual } => Err(AppendError::new(
                AppendErrorKind::Conflict { expected, actual },
                None,
            )),
            Self::Refused(fault) => Err(AppendError::new(
                AppendErrorKind::Storage,
                Some(Box::new(fault)),
            )),
        }
    }
}

/// How far an attempt got before it failed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Beginning,
    Writing,
    Committing,
}

/// The state of one attempt to commit a batch.
struct Attempt {
    stage: Stage,
    ends: HashMap<AssistantId, Seq>,
    verdicts: Vec<Verdict>,
}

fn serve(vault: &Vault, batch: Vec<Request>) {
    if batch
        .iter()
        .any(|request| matches!(request, Request::Recover))
    {
        recover(vault);
    }
    let (mut attempt, mut result) = try_commit(vault, &batch);
    if result.is_err() && attempt.stage == Stage::Beginning && vault.reopen().is_ok() {
        // The database was unusable before this batch came; now it may be fine.
        (attempt, result) = try_commit(vault, &batch);
    }
    match result {
        Ok(()) => answer(batch, attempt.verdicts),
        Err(fault) => settle(vault, batch, attempt, fault),
    }
}

/// Opens the database again if it refuses to begin a transaction.
fn recover(vault: &Vault) {
    let usable = contained(|| {
        vault.begin_write()?.abort()?;
        Ok(())
    });
    if usable.is_err()
        && let Err(fault) = vault.reopen()
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
fn settle(vault: &Vault, batch: Vec<Request>, attempt: Attempt, fault: Fault) {
    tracing::error!(%fault, requests = batch.len(), "a commit failed");
    let reopened = vault.reopen();
    let committed = attempt.stage == Stage::Committing
        && reopened.is_ok()
        && affirm(vault, &attempt.ends).unwrap_or(false);
    if committed {
        return answer(batch, attempt.verdicts);
    }
    let shared = SharedFault::new(fault);
    for request in batch {
        request.answer(Err(shared.to_append_error()));
    }
}

/// Whether the transaction that was reported as failed is in the file after all; if so, makes sure that it
/// stays there. Commits have two phases and the first, which writes the data, must have succeeded for this,
/// so one more successful commit is enough.
fn affirm(vault: &Vault, ends: &HashMap<AssistantId, Seq>) -> Result<bool, Fault> {
    contained(|| {
        let Some((assistant, end)) = ends.iter().next() else {
            return Ok(false);
        };
        let found = reading::end(&vault.begin_read()?, assistant, *end)?;
        if found != *end {
            return Ok(false);
        }
        vault.begin_write()?.commit()?;
        Ok(true)
    })
}

fn try_commit(vault: &Vault, batch: &[Request]) -> (Attempt, Result<(), Fault>) {
    let mut attempt = Attempt {
        stage: Stage::Beginning,
        ends: HashMap::new(),
        verdicts: Vec::with_capacity(batch.len()),
    };
    let result = contained(|| {
        let transaction = vault.begin_write()?;
        attempt.stage = Stage::Writing;
        let written = attempt.apply(&transaction, batch)?;
        if written == Written::NOTHING {
            transaction.abort()?;
            return Ok(());
        }
        attempt.stage = Stage::Committing;
        transaction.commit()?;
        vault.counters().committed(written.events);
        Ok(())
    });
    (attempt, result)
}

#[derive(Clone, Copy, PartialEq, Eq)]
struct Written {
    events: u64,
    snapshots: u64,
}

impl Written {
    const NOTHING: Self = Self {
        events: 0,
        snapshots: 0,
    };
}

type Bytes = &'static [u8];

impl Attempt {
    fn apply(
        &mut self,
        transaction: &WriteTransaction,
        batch: &[Request],
    ) -> Result<Written, Fault> {
        let mut written = Written::NOTHING;
        let mut heads = transaction.open_table(HEADS)?;
        let mut events = transaction.open_table(EVENTS)?;
        for request in batch {
            let verdict = match request {
                Request::Append(request, _) => {
                    let verdict = self.append(&heads, &mut events, request)?;
                    if matches!(verdict, Verdict::Done(_)) {
                        written.events += u64::try_from(request.events.len()).unwrap_or(u64::MAX);
                    }
                    verdict
                }
                Request::Snapshot(assistant, snapshot, _) => {
                    snapshot::save(transaction, assistant, snapshot)?;
                    written.snapshots += 1;
                    Verdict::Done(snapshot.seq)
                }
                Request::Recover | Request::Wake => Verdict::Done(Seq::ZERO),
            };
            self.verdicts.push(verdict);
        }
        for (assistant, end) in &self.ends {
            let head = head::encode(assistant, *end);
            heads.insert(assistant.as_str().as_bytes(), head.as_slice())?;
        }
        Ok(written)
    }

    fn append(
        &mut self,
        heads: &Table<'_, Bytes, Bytes>,
        events: &mut Table<'_, Bytes, Bytes>,
        request: &AppendRequest,
    ) -> Result<Verdict, Fault> {
        let (assistant, expected) = (&request.assistant, request.expected);
        let actual = match self.end(heads, events, assistant) {
            Ok(end) => end,
            Err(fault @ Fault::Unusable(_)) => return Ok(Verdict::Refused(fault)),
            Err(fault) => return Err(fault),
        };
        if actual != expected {
            return Ok(Verdict::Conflict { expected, actual });
        }
        let mut seq = actual;
        for event in &request.events {
            seq = seq.next();
            let bytes = record::encode(assistant, seq, event);
            events.insert(key(assistant, seq).as_slice(), bytes.as_slice())?;
        }
        if seq != actual {
            self.ends.insert(assistant.clone(), seq);
        }
        Ok(Verdict::Done(seq))
    }

    /// Where the log ends after what came earlier in this batch. The head must agree with the events: writing
    /// after a head that damage set back would replace history.
    fn end(
        &self,
        heads: &Table<'_, Bytes, Bytes>,
        events: &Table<'_, Bytes, Bytes>,
        assistant: &AssistantId,
    ) -> Result<Seq, Fault> {
        if let Some(end) = self.ends.get(assistant) {
            return Ok(*end);
        }
        let end = match heads.get(assistant.as_str().as_bytes())? {
            None => Seq::ZERO,
            Some(bytes) => head::decode(assistant, bytes.value())
                .map_err(|fault| Fault::Unusable(reading::unusable(fault, Seq(1))))?,
        };
        let last = reading::last_place(events, assistant)?;
        if last == end {
            Ok(end)
        } else {
            let at = end.min(last).next();
            Err(Fault::Unusable(ReadErrorKind::Missing { at }))
        }
    }
}

#[cfg(test)]
mod tests;
