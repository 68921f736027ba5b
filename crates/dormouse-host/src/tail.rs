//! Reading the events of an assistant from the log, as they are written.

use std::collections::VecDeque;

use dormouse_contracts::{AssistantId, ReadEvents, Seq, StoredEvent};
use dormouse_engine::{Event, Handle, Recorded, ReplayError};
use dormouse_store::RedbLog;

/// How many events are read at a time. For a slow reader, only this many events are in memory.
const PAGE: usize = 64;

/// The events of one assistant after a position, each once and in order, read from the log. A slow reader does not
/// delay the assistant. A reader can resume at any position that it has seen.
#[derive(Debug)]
pub struct Tail {
    log: RedbLog,
    key: AssistantId,
    handle: Handle,
    after: Seq,
    page: VecDeque<StoredEvent>,
    has_ended: bool,
}

impl Tail {
    /// The events after `after`, while the assistant behind the handle runs.
    #[must_use]
    pub fn new(log: &RedbLog, key: &AssistantId, handle: &Handle, after: Seq) -> Self {
        Self {
            log: log.clone(),
            key: key.clone(),
            handle: handle.clone(),
            after,
            page: VecDeque::new(),
            has_ended: false,
        }
    }

    /// The events from now on.
    pub(crate) fn of_running(log: &RedbLog, key: &AssistantId, handle: &Handle) -> Self {
        Self::new(log, key, handle, handle.status().seq)
    }

    /// Another tail from the same position.
    #[must_use]
    pub fn again(&self) -> Self {
        Self::new(&self.log, &self.key, &self.handle, self.after)
    }

    /// The last event that was returned.
    #[must_use]
    pub fn position(&self) -> Seq {
        self.after
    }

    /// The next event, as soon as it is on disk; `None` if the assistant has ended and every event was returned. Dropping
    /// the future loses nothing.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] if the log cannot be read.
    pub async fn next(&mut self) -> Result<Option<Recorded>, ReplayError> {
        self.next_of(|_| true).await
    }

    /// The next event of a kind that is wanted, as [`next`](Self::next) returns it. All others are skipped without being
    /// decoded, which takes most of the time.
    pub(crate) async fn next_of(
        &mut self,
        is_wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<Recorded>, ReplayError> {
        loop {
            if let Some(stored) = self.page.front() {
                let (seq, at) = (stored.seq, stored.at);
                if !is_wanted(&stored.kind) {
                    self.page.pop_front();
                    self.after = seq;
                    continue;
                }
                let event = Event::decode(stored)?;
                self.page.pop_front();
                self.after = seq;
                return Ok(Some(Recorded { seq, at, event }));
            }
            self.page = self.log.read(&self.key, self.after, PAGE).await?.into();
            if !self.page.is_empty() {
                continue;
            }
            if self.has_ended {
                return Ok(None);
            }
            // An assistant that has ended may have written since the page was read.
            self.has_ended = !self.handle.has_written_after(self.after).await;
        }
    }
}
