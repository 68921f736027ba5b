//! An event log in memory, with faults on request.

mod faults;

use std::{
    collections::{BTreeMap, HashMap},
    future::ready,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use dormouse_contracts::{
    Append, AppendError, AppendErrorKind, AppendRequest, AssistantId, BoxFuture, LoadSnapshot,
    NewEvent, ReadError, ReadErrorKind, ReadEvents, SaveSnapshot, Seq, Snapshot, StoredEvent,
};

use faults::Faults;

use crate::fault::Fault;

/// An event log in memory, with all four ports.
///
/// It has the limits of the log on disk: kinds of 1 to [`KIND_LIMIT`](Self::KIND_LIMIT) bytes of ASCII, payloads of up
/// to [`PAYLOAD_LIMIT`](Self::PAYLOAD_LIMIT) bytes and snapshots of up to [`SNAPSHOT_LIMIT`](Self::SNAPSHOT_LIMIT).
///
/// It keeps every promise of the ports except the one about power failures, and fails on request. A clone is another
/// handle to the same log: a test simulates a restart by dropping an engine and starting another one on a clone.
///
/// An append happens when it is called, before its future is polled, so dropping the future does not undo it. All
/// snapshots are kept.
#[derive(Clone, Debug, Default)]
pub struct MemoryLog {
    state: Arc<Mutex<State>>,
}

#[derive(Debug, Default)]
struct State {
    streams: HashMap<AssistantId, Vec<StoredEvent>>,
    snapshots: HashMap<AssistantId, BTreeMap<Seq, Snapshot>>,
    /// The last request of each assistant if it was answered with `Unknown`: where it was to begin, and its events that are
    /// written.
    doubted: HashMap<AssistantId, (Seq, Vec<NewEvent>)>,
    appends: usize,
    faults: Faults,
}

impl MemoryLog {
    /// The longest name of an event's kind, in bytes of ASCII.
    pub const KIND_LIMIT: usize = 64;

    /// The largest payload of one event, in bytes: 16 MiB.
    pub const PAYLOAD_LIMIT: usize = 16 * 1024 * 1024;

    /// The largest payload of a snapshot, in bytes: 64 MiB.
    pub const SNAPSHOT_LIMIT: usize = 64 * 1024 * 1024;

    /// An empty log.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes the next `count` appends fail with `kind` and write nothing. Replaces an earlier request.
    pub fn fail_next_appends(&self, count: usize, kind: AppendErrorKind) {
        self.state().faults.appends = Fault::next(count, kind);
    }

    /// Makes the next `count` appends fail with [`Unknown`](AppendErrorKind::Unknown), although they write what they should.
    /// Replaces an earlier request. The case in which nothing is written is
    /// `fail_next_appends(count, AppendErrorKind::Unknown)`.
    pub fn lose_next_answers(&self, count: usize) {
        self.state().faults.answers = Fault::next(count, AppendErrorKind::Unknown);
    }

    /// Makes the next `count` reads of events or snapshots fail with `kind`.
    pub fn fail_next_reads(&self, count: usize, kind: ReadErrorKind) {
        self.state().faults.reads = Fault::next(count, kind);
    }

    /// Makes the next `count` saves of snapshots fail with `kind`.
    pub fn fail_next_snapshots(&self, count: usize, kind: AppendErrorKind) {
        self.state().faults.snapshots = Fault::next(count, kind);
    }

    /// Closes the log after `count` more appends. From then on everything fails with `Closed`, until
    /// [`reopen`](Self::reopen). To simulate a crash at every write of a scenario, repeat it with `count` 0, 1, 2 and
    /// so on.
    pub fn close_after(&self, count: usize) {
        self.state().faults.closes_after = Some(count);
    }

    /// Opens the log again and cancels every requested fault.
    pub fn reopen(&self) {
        self.state().faults = Faults::default();
    }

    /// Deletes every snapshot, as a log may do at any time.
    pub fn lose_snapshots(&self) {
        self.state().snapshots.clear();
    }

    /// Everything in the log of one assistant, in order.
    #[must_use]
    pub fn events(&self, assistant: &AssistantId) -> Vec<StoredEvent> {
        let state = self.state();
        state.streams.get(assistant).cloned().unwrap_or_default()
    }

    /// The snapshots kept for one assistant, in order.
    #[must_use]
    pub fn snapshots(&self, assistant: &AssistantId) -> Vec<Snapshot> {
        let state = self.state();
        let kept = state.snapshots.get(assistant);
        kept.map_or_else(Vec::new, |kept| kept.values().cloned().collect())
    }

    /// How often an append was called, including failed ones.
    #[must_use]
    pub fn appends(&self) -> usize {
        self.state().appends
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn append(&mut self, request: AppendRequest) -> Result<Seq, AppendErrorKind> {
        self.appends = self.appends.saturating_add(1);
        self.faults.append()?;
        // This check comes before the check of the expected position, because such a request never succeeds.
        if !request.events.iter().all(is_acceptable) {
            return Err(AppendErrorKind::Unacceptable);
        }
        let doubted = self.doubted.remove(&request.assistant);
        let is_again = |(expected, events): &(Seq, Vec<NewEvent>)| {
            *expected == request.expected && request.events.starts_with(events)
        };
        let written = doubted
            .filter(is_again)
            .map_or(0, |(_, events)| events.len());
        let stream = self.streams.entry(request.assistant.clone()).or_default();
        let actual = Seq::ZERO.plus(stream.len() as u64);
        if request.expected.plus(written as u64) != actual {
            return Err(AppendErrorKind::Conflict {
                expected: request.expected,
                actual,
            });
        }
        let mut last = actual;
        for event in request.events.iter().skip(written) {
            last = last.next();
            stream.push(stored(last, event.clone()));
        }
        if let Err(unknown) = self.faults.answers.strike() {
            let doubted = (request.expected, request.events);
            self.doubted.insert(request.assistant, doubted);
            return Err(unknown);
        }
        Ok(last)
    }

    fn read(
        &mut self,
        assistant: &AssistantId,
        after: Seq,
        limit: usize,
    ) -> Result<Vec<StoredEvent>, ReadErrorKind> {
        self.faults.read()?;
        let Some(stream) = self.streams.get(assistant) else {
            return Ok(Vec::new());
        };
        // Sequence numbers start at 1, so the event after number n is at index n.
        let skipped = usize::try_from(after.0).unwrap_or(usize::MAX);
        Ok(stream.iter().skip(skipped).take(limit).cloned().collect())
    }

    fn save(&mut self, assistant: &AssistantId, snapshot: Snapshot) -> Result<(), AppendErrorKind> {
        self.faults.save()?;
        if snapshot.payload.len() > MemoryLog::SNAPSHOT_LIMIT {
            return Err(AppendErrorKind::Unacceptable);
        }
        let kept = self.snapshots.entry(assistant.clone()).or_default();
        kept.insert(snapshot.seq, snapshot);
        Ok(())
    }

    fn load(
        &mut self,
        assistant: &AssistantId,
        up_to: Seq,
    ) -> Result<Option<Snapshot>, ReadErrorKind> {
        self.faults.read()?;
        let kept = self.snapshots.get(assistant);
        Ok(kept
            .and_then(|kept| kept.range(..=up_to).next_back())
            .map(|(_, snapshot)| snapshot.clone()))
    }
}

fn is_acceptable(event: &NewEvent) -> bool {
    let kind = event.kind;
    let is_kind = kind.is_ascii() && (1..=MemoryLog::KIND_LIMIT).contains(&kind.len());
    is_kind && event.payload.len() <= MemoryLog::PAYLOAD_LIMIT
}

fn stored(seq: Seq, event: NewEvent) -> StoredEvent {
    StoredEvent {
        seq,
        at: event.at,
        kind: event.kind.to_owned(),
        schema: event.schema,
        payload: event.payload,
    }
}

impl Append for MemoryLog {
    fn append(&self, request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>> {
        let answer = self.state().append(request);
        Box::pin(ready(answer.map_err(|kind| AppendError::new(kind, None))))
    }
}

impl ReadEvents for MemoryLog {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        let answer = self.state().read(assistant, after, limit);
        Box::pin(ready(answer.map_err(|kind| ReadError::new(kind, None))))
    }
}

impl SaveSnapshot for MemoryLog {
    fn save_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        snapshot: Snapshot,
    ) -> BoxFuture<'a, Result<(), AppendError>> {
        let answer = self.state().save(assistant, snapshot);
        Box::pin(ready(answer.map_err(|kind| AppendError::new(kind, None))))
    }
}

impl LoadSnapshot for MemoryLog {
    fn load_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        up_to: Seq,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, ReadError>> {
        let answer = self.state().load(assistant, up_to);
        Box::pin(ready(answer.map_err(|kind| ReadError::new(kind, None))))
    }
}

#[cfg(test)]
mod tests;
