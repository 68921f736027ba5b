//! Writing events into the log and, once they are on disk, folding them into the state.

use std::{error::Error, sync::Arc};

use dormouse_contracts::{AppendError, AppendErrorKind, AppendRequest, Timestamp};

use super::{Assistant, Recorded, RunError, Saved};
use crate::{event::Event, replay::freeze, status::Activity, work::Tending};

/// After how many events a snapshot is saved.
const SNAPSHOT_EVERY: u64 = 500;

impl Assistant {
    /// Writes what came of a call to the outside, if it could not be written before.
    pub(super) async fn flush(&mut self) -> Result<Saved, RunError> {
        if self.progress.unsaved.is_empty() {
            return Ok(Saved::Yes);
        }
        let events = self.progress.unsaved.clone();
        let saved = self.commit(events).await?;
        if saved == Saved::Yes {
            self.progress.unsaved.clear();
        }
        Ok(saved)
    }

    /// Writes events into the log and, once they are on disk, folds them into the state.
    pub(super) async fn commit(&mut self, events: Vec<Event>) -> Result<Saved, RunError> {
        if events.is_empty() {
            return Ok(Saved::Yes);
        }
        let at = self.ports.clock.now();
        let encoded = events
            .iter()
            .map(|event| event.encode(at))
            .collect::<Result<_, _>>()?;
        let request = AppendRequest {
            assistant: self.config.key.clone(),
            expected: self.state.seq,
            events: encoded,
        };
        if let Err(error) = self.ports.log.append(request).await {
            return self.append_failed(&error);
        }
        for event in events {
            self.fold_in(at, event).await;
        }
        if self.progress.since_snapshot >= SNAPSHOT_EVERY {
            self.save_snapshot().await;
        }
        Ok(Saved::Yes)
    }

    fn append_failed(&mut self, error: &AppendError) -> Result<Saved, RunError> {
        match error.kind() {
            AppendErrorKind::Conflict { expected, actual } => {
                Err(RunError::Conflict { expected, actual })
            }
            AppendErrorKind::Storage => {
                let cause = error.source().map(ToString::to_string);
                tracing::error!(cause, "the log cannot be written; waiting");
                self.progress.activity = Activity::Stalled;
                Ok(Saved::No)
            }
            kind => Err(RunError::Log(kind)),
        }
    }

    async fn fold_in(&mut self, at: Timestamp, event: Event) {
        let seq = self.state.seq.next();
        if let Event::EffectIntended(intended) = &event {
            self.progress.fresh = Some(intended.key.clone());
        }
        if matches!(event, Event::TickEnded(_)) {
            self.progress.tending = Tending::Due;
        }
        self.state.apply(seq, at, event.clone());
        self.progress.since_snapshot += 1;
        if self.watchers.is_empty() {
            return;
        }
        let recorded = Arc::new(Recorded { seq, at, event });
        let mut kept = Vec::with_capacity(self.watchers.len());
        for watcher in self.watchers.drain(..) {
            if watcher.send(Arc::clone(&recorded)).await.is_ok() {
                kept.push(watcher);
            }
        }
        self.watchers = kept;
    }

    /// Saves a snapshot. Failing to is harmless: the log is the truth.
    pub(super) async fn save_snapshot(&mut self) {
        self.progress.since_snapshot = 0;
        let saved = match freeze(&self.state) {
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
