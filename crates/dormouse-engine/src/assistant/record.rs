//! Folding events into the state and writing them into the log, as many as possible at once.

use std::{error::Error, time::Duration};

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{AppendError, AppendErrorKind, AppendRequest, Seq, Timestamp};
use tokio::time::Instant;

use super::{Assistant, Recorded, RunError, Saved};
use crate::{
    decide::OutsideCall,
    event::{Event, Woke},
    remembering::is_for_memory,
    replay::encode_snapshot,
    status::Activity,
    work::Indexing,
};

/// After how many events a snapshot is saved. Folding so many takes 5 ms, and a snapshot may be half a megabyte.
const SNAPSHOT_EVERY: u64 = 2_000;

/// How long an event on which nothing depends yet waits for the next necessary write. A crash within that time has the
/// same effect as a crash a moment earlier.
const WRITE_WITHIN: Duration = Duration::from_millis(20);

/// Events that are in the state and not on disk yet.
#[derive(Debug, Default)]
pub(super) struct Unwritten {
    events: Vec<Recorded>,
    /// When they are written even if nothing requires it; `None` if a write has failed, because then `advance` tries
    /// again.
    due: Option<Instant>,
    /// Whether some of them may be in the log.
    in_doubt: bool,
}

impl Unwritten {
    pub(super) fn is_empty(&self) -> bool {
        self.events.is_empty()
    }

    pub(super) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Whether a write has failed. Then nothing may begin before a write succeeds.
    pub(super) fn is_stuck(&self) -> bool {
        !self.is_empty() && self.due.is_none()
    }

    /// Whether some of them may be in the log, because it did not say whether it has them.
    pub(super) fn is_in_doubt(&self) -> bool {
        self.in_doubt
    }

    fn is_for_memory(&self) -> bool {
        let mut events = self.events.iter();
        events.any(|recorded| is_for_memory(&recorded.event))
    }
}

impl Assistant {
    /// Folds events into the state. They are written together with the next events that must be on disk.
    ///
    /// Joining writes makes a message cheap: each write costs a sync, and only a few writes are necessary.
    pub(super) fn note(&mut self, at: Timestamp, events: Vec<Event>) {
        if events.is_empty() {
            return;
        }
        if self.progress.unwritten.is_empty() {
            self.progress.unwritten.due = Some(Instant::now() + WRITE_WITHIN);
        }
        for event in events {
            let recorded = self.fold_in(at, event);
            self.progress.unwritten.events.push(recorded);
        }
    }

    /// Notes when it woke, before the first event that may depend on that. Returns whether it did.
    pub(super) fn note_waking(&mut self) -> bool {
        let woke = self.progress.woke.take();
        if let Some(at) = woke {
            self.note(at, vec![Event::Woke(Woke {})]);
        }
        woke.is_some()
    }

    /// Writes what must be on disk before this call to the outside. Before an act, that is everything, above all its
    /// intention. Before a search of the memory, it is the events that the memory reads from the log.
    pub(super) async fn write_before(&mut self, call: &OutsideCall) -> Result<Saved, RunError> {
        let is_needed = match call {
            OutsideCall::Perform(_) | OutsideCall::AskAfter(_) | OutsideCall::ExtractFacts => true,
            OutsideCall::Recall(_) | OutsideCall::AskMemory(..) => {
                self.progress.unwritten.is_for_memory()
            }
            // A reservation counts as spent even if the call fails, so it must be on disk. A reservation that was made
            // in advance is on disk already.
            OutsideCall::Ask(_) => {
                let reserved = self.state.ledger.of_turn();
                reserved.is_some_and(|reserved| !reserved.from_ahead)
            }
            OutsideCall::Assess(_) | OutsideCall::Observe(..) | OutsideCall::Summarize(_) => false,
        };
        if is_needed {
            self.flush().await
        } else {
            Ok(Saved::Yes)
        }
    }

    /// Writes everything that is in the state and not on disk yet.
    pub(super) async fn flush(&mut self) -> Result<Saved, RunError> {
        self.commit(Vec::new()).await
    }

    /// Writes events, together with those that wait to be written, and then folds them into the state. If they cannot
    /// be written, the state stays as it was; the earlier events still wait to be written.
    ///
    /// If it is not known whether they were written, they have happened: they are in the state, and wait to be written with the
    /// others. The next write repeats them as they are, so that the log can tell whether it has them.
    pub(super) async fn commit(&mut self, events: Vec<Event>) -> Result<Saved, RunError> {
        self.commit_at(self.ports.clock.now(), events).await
    }

    /// Like [`commit`](Self::commit), for events of this time.
    pub(super) async fn commit_at(
        &mut self,
        at: Timestamp,
        events: Vec<Event>,
    ) -> Result<Saved, RunError> {
        let waiting = self.progress.unwritten.events.iter();
        let waiting = waiting.map(|recorded| recorded.event.encode(recorded.at));
        let encoded = waiting
            .chain(events.iter().map(|event| event.encode(at)))
            .collect::<Result<Vec<_>, _>>()?;
        if encoded.is_empty() {
            return Ok(Saved::Yes);
        }
        let written = encoded.len() as u64;
        let request = AppendRequest {
            assistant: self.config.key.clone(),
            expected: self.written(),
            events: encoded,
        };
        if let Err(error) = self.ports.log.append(request).await {
            if error.kind() == AppendErrorKind::Unknown {
                self.note(at, events);
                self.progress.unwritten.in_doubt = true;
            }
            self.progress.unwritten.due = None;
            return self.append_failed(&error);
        }
        if let Activity::Stalled { .. } = self.progress.activity {
            self.progress.activity = Activity::Idle;
        }
        self.progress.unwritten = Unwritten::default();
        for event in events {
            self.fold_in(at, event);
        }
        self.progress.since_snapshot += written;
        if self.progress.since_snapshot >= SNAPSHOT_EVERY {
            self.save_snapshot().await;
        }
        Ok(Saved::Yes)
    }

    /// The last event that is on disk.
    pub(super) fn written(&self) -> Seq {
        let waiting = self.progress.unwritten.events.len() as u64;
        Seq(self.state.seq.0.saturating_sub(waiting))
    }

    fn append_failed(&mut self, error: &AppendError) -> Result<Saved, RunError> {
        match error.kind() {
            AppendErrorKind::Conflict { expected, actual } => {
                Err(RunError::Conflict { expected, actual })
            }
            AppendErrorKind::Storage | AppendErrorKind::Unknown => {
                let cause = root_cause(error);
                tracing::warn!(cause, "the log cannot be written; waiting");
                self.progress.activity = Activity::Stalled { cause };
                Ok(Saved::No)
            }
            kind => Err(RunError::Log(kind)),
        }
    }

    fn fold_in(&mut self, at: Timestamp, event: Event) -> Recorded {
        let seq = self.state.seq.next();
        let event = self.state.accounted(at, event);
        match &event {
            Event::EffectIntended(intended) => self.progress.fresh = Some(intended.key.clone()),
            Event::StopNoticeIntended(intended) => self.progress.fresh = Some(intended.key.clone()),
            Event::EmergencyStopTriggered(it) => {
                let (assistant, cause, reason) = (&self.config.key, &it.cause, &it.reason);
                tracing::error!(%assistant, ?cause, ?reason, "the emergency stop was triggered");
            }
            _ => {}
        }
        if matches!(event, Event::TickEnded(_)) {
            self.progress.indexing = Indexing::Due;
        }
        self.note_sign(at, &event);
        self.state.apply(seq, at, &event);
        Recorded { seq, at, event }
    }

    /// Notes since when people who wait have seen no sign of the assistant.
    fn note_sign(&mut self, at: Timestamp, event: &Event) {
        match event {
            // People see acts, and the end of a tick is reported, so these are signs. A new tick starts a new wait.
            Event::TickStarted(_) | Event::TickEnded(_) | Event::EffectSettled(_) => {
                self.progress.silent_since = None;
            }
            // The other senders were notified that the answer takes longer, but the sender of this message was not. So
            // it starts a new wait.
            Event::Perceived(it)
                if it.classification.verdict == MessageVerdict::Trigger
                    && self.slow_since().is_some() =>
            {
                self.progress.silent_since = Some(at);
            }
            _ => {}
        }
    }

    /// Saves a snapshot of what is on disk, if the log has grown since the last one. A failure is harmless: the log is
    /// authoritative.
    pub(super) async fn save_snapshot(&mut self) {
        if self.progress.since_snapshot == 0 {
            return;
        }
        self.progress.since_snapshot = 0;
        let saved = match encode_snapshot(&self.state) {
            Ok(snapshot) => self
                .ports
                .log
                .save_snapshot(&self.config.key, snapshot)
                .await
                .map_err(|e| e.to_string()),
            Err(error) => Err(error.to_string()),
        };
        if let Err(error) = saved {
            tracing::warn!(
                error,
                "no snapshot was saved; the next start folds more of the log"
            );
        }
    }
}

/// The root cause of an error: for a disk error, the file and what the operating system says.
fn root_cause(error: &dyn Error) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}
