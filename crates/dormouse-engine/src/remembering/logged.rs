//! A memory together with its log: every change is first an event.

use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex, PoisonError},
};

use dormouse_contracts::{
    Append, AppendError, AppendErrorKind, AppendRequest, AssistantId, Author, Clock, LoadSnapshot,
    Origin, ReadEvents, Seq, Timestamp,
};
use dormouse_entities::{Entities, EntityChange, EntityChangeError};
use dormouse_memory::{Added, ChangeError, Memory, MemoryChange, MemoryError, RecordId};

use super::{CatchUpError, CaughtUp, catch_up};
use crate::{
    appending::{ATTEMPTS, append_decided, append_until_known, is_conflict},
    event::{EntityChanged, Event, MemoryChanged, WokeUp},
    replay::{ReplayError, fold_newer, restore},
    secrets::masked_observation,
    state::State,
};

/// Decides and appends, and starts again after each event that another writer appended first.
macro_rules! decided {
    ($it:ident, $attempt:expr) => {{
        let mut attempts = 1;
        loop {
            match $attempt.await {
                Err(error) => $it.after_conflict(error, &mut attempts).await?,
                made => break made,
            }
        }
    }};
}

/// A change was not made, or the memory has not read it yet.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LoggedChangeError {
    /// The memory refuses the change, or failed. Nothing was written.
    #[error(transparent)]
    Memory(#[from] MemoryError),
    /// The event cannot be written as JSON.
    #[error("the event cannot be written as JSON")]
    Encode(#[from] serde_json::Error),
    /// The event could not be written to the log.
    #[error("the event could not be written to the log")]
    Append(#[from] AppendError),
    /// The log could not be folded.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The memory could not read the log. If the event was written, it is read the next time.
    #[error(transparent)]
    CatchUp(#[from] CatchUpError),
}

/// Which of these changes, made one after the other, have an effect.
fn effects(
    known: &Entities,
    changes: &[EntityChange],
    now: Timestamp,
) -> Result<Vec<bool>, EntityChangeError> {
    if let [only] = changes {
        return Ok(vec![known.has_effect(only, now)?]);
    }
    let mut known = known.clone();
    let mut effects = Vec::with_capacity(changes.len());
    for change in changes {
        effects.push(known.has_effect(change, now)?);
        known.apply(change, now)?;
    }
    Ok(effects)
}

/// A memory with the log that it follows. Every change is an event of the log, which the memory then reads.
///
/// If another writer appends to the log meanwhile, such as the running assistant, the change is decided again.
pub struct LoggedMemory<L> {
    log: L,
    key: AssistantId,
    memory: Memory,
    clock: Arc<dyn Clock>,
    /// The last event of the log.
    through: Seq,
    /// The state that was looked at last.
    state: Mutex<Option<Arc<State>>>,
}

impl<L> std::fmt::Debug for LoggedMemory<L> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LoggedMemory")
            .field("key", &self.key)
            .field("through", &self.through)
            .finish_non_exhaustive()
    }
}

impl<L: Append + ReadEvents> LoggedMemory<L> {
    /// Lets the memory read the whole log.
    ///
    /// # Errors
    ///
    /// [`CatchUpError`] if the memory does not follow this log, or one of the two fails.
    pub async fn open(log: L, memory: Memory, clock: Arc<dyn Clock>) -> Result<Self, CatchUpError> {
        let key = memory.assistant().clone();
        let CaughtUp { through, .. } = catch_up(&log, &key, &memory).await?;
        Ok(Self {
            log,
            key,
            memory,
            clock,
            through,
            state: Mutex::default(),
        })
    }

    /// The same, with a state that the log folds to, so that it need not be folded again. `None` changes nothing.
    pub(crate) fn knowing(self, state: Option<State>) -> Self {
        self.keep_state(state.map(Arc::new));
        self
    }

    fn keep_state(&self, state: Option<Arc<State>>) -> Option<Arc<State>> {
        let mut kept = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut kept, state)
    }

    /// The state at the end of the log. It is kept, so that the next call folds only what is new since.
    ///
    /// # Errors
    ///
    /// [`ReplayError`] if the log cannot be folded.
    pub async fn state(&self) -> Result<Arc<State>, ReplayError>
    where
        L: LoadSnapshot,
    {
        // After an error nothing is kept, so that the next call folds everything.
        let mut state = match self.keep_state(None) {
            Some(state) => state,
            None => Arc::new(Box::pin(restore(&self.log, &self.key)).await?),
        };
        fold_newer(&self.log, &self.key, &mut state).await?;
        self.keep_state(Some(Arc::clone(&state)));
        Ok(state)
    }

    /// The memory, for reading. It has read the whole log.
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// The log.
    pub fn log(&self) -> &L {
        &self.log
    }

    /// Makes a change: checks it, writes it as an event, and lets the memory read the event. Returns the event, and
    /// which notes were added or known. A change without effect writes no event, for example if all notes are known, or
    /// if a record is already public.
    ///
    /// # Errors
    ///
    /// [`LoggedChangeError`].
    pub async fn change(
        &mut self,
        change: MemoryChange,
        author: Author,
        reason: &str,
    ) -> Result<(Option<Seq>, Vec<Added>), LoggedChangeError> {
        let change = change.masked();
        decided!(self, self.change_once(&change, &author, reason))
    }

    async fn change_once(
        &mut self,
        change: &MemoryChange,
        author: &Author,
        reason: &str,
    ) -> Result<(Option<Seq>, Vec<Added>), LoggedChangeError> {
        let (has_effect, added) = match self.checked(change).await {
            Ok((true, added)) => (true, added),
            decided => {
                self.check_current().await?;
                decided?
            }
        };
        if !has_effect {
            return Ok((None, added));
        }
        let changed = Event::MemoryChanged(MemoryChanged {
            change: change.clone(),
            author: author.clone(),
            reason: reason.to_owned(),
        });
        Ok((Some(self.append_once(&changed).await?), added))
    }

    /// Whether a change would have an effect now, and which of its notes are new or known.
    async fn checked(&self, change: &MemoryChange) -> Result<(bool, Vec<Added>), MemoryError> {
        if self.memory.is_made(change).await? {
            return Ok((false, Vec::new()));
        }
        let event = self.through.next();
        let added = self.memory.check_change(event, change.clone()).await?;
        let is_known = |added: &Added| matches!(added, Added::AlreadyThere(_));
        let has_effect = added.is_empty() || !added.iter().all(is_known);
        Ok((has_effect, added))
    }

    /// Fails if the memory has read more of the log than `self.through`, because then the next record gets another id
    /// than the checked one. When an event is appended, the log itself checks this.
    async fn check_current(&self) -> Result<(), LoggedChangeError> {
        let (expected, actual) = (self.through, Seq(self.memory.log_position().await?.seq));
        if actual <= expected {
            return Ok(());
        }
        let conflict = AppendErrorKind::Conflict { expected, actual };
        Err(AppendError::new(conflict, None).into())
    }

    /// Changes what is known of somebody, as [`LoggedMemory::change_entities`] does.
    ///
    /// # Errors
    ///
    /// [`LoggedChangeError`]; nothing was changed.
    pub async fn change_entity(
        &mut self,
        change: EntityChange,
        author: Author,
        reason: &str,
    ) -> Result<Option<Seq>, LoggedChangeError> {
        let made = self.change_entities(vec![change], author, reason).await?;
        Ok(made.into_iter().next().flatten())
    }

    /// Changes what is known of people and things, all or nothing: checks the changes one after the other, writes each as an
    /// event, and takes the events in. Returns the event of each change; one without effect makes none.
    ///
    /// # Errors
    ///
    /// [`LoggedChangeError`]; nothing was changed.
    pub async fn change_entities(
        &mut self,
        changes: Vec<EntityChange>,
        author: Author,
        reason: &str,
    ) -> Result<Vec<Option<Seq>>, LoggedChangeError> {
        let changes: Vec<_> = changes.into_iter().map(masked_observation).collect();
        decided!(self, self.change_entities_once(&changes, &author, reason))
    }

    async fn change_entities_once(
        &mut self,
        changes: &[EntityChange],
        author: &Author,
        reason: &str,
    ) -> Result<Vec<Option<Seq>>, LoggedChangeError> {
        let now = self.clock.now();
        let checked = self
            .memory
            .with_entities(|known| effects(known, changes, now));
        let has_effect = checked.map_err(|error| MemoryError::Change(error.into()))?;
        let effective = changes.iter().zip(&has_effect).filter(|(_, it)| **it);
        let events: Vec<_> = effective
            .map(|(change, _)| {
                Event::EntityChanged(EntityChanged {
                    change: change.clone(),
                    author: author.clone(),
                    reason: reason.to_owned(),
                })
            })
            .collect();
        let mut next = self.through;
        if !events.is_empty() {
            self.append_all_once(&events).await?;
        }
        let mut event = || {
            next = next.next();
            next
        };
        Ok(has_effect
            .into_iter()
            .map(|it| it.then(&mut event))
            .collect())
    }

    /// Ends the validity of a record: at `since`, or else when the record `by` that replaces it begins to be valid, or now. Returns
    /// that moment, too.
    ///
    /// # Errors
    ///
    /// [`LoggedChangeError`].
    pub async fn supersede(
        &mut self,
        record: RecordId,
        (by, since): (Option<RecordId>, Option<Timestamp>),
        author: Author,
        reason: &str,
    ) -> Result<(Option<Seq>, Timestamp), LoggedChangeError> {
        let until = match (since, by) {
            (Some(since), _) => since,
            (None, Some(by)) => {
                let found = self.memory.record(by).await?;
                let unknown = MemoryError::Change(ChangeError::Unknown(by));
                found.ok_or(unknown)?.valid_from
            }
            (None, None) => self.clock.now(),
        };
        let change = MemoryChange::Superseded { record, by, until };
        let (event, _) = self.change(change, author, reason).await?;
        Ok((event, until))
    }

    /// Takes back what an event did. Taking back an undo makes its changes again. The result is an event, too.
    ///
    /// # Errors
    ///
    /// [`LoggedChangeError`].
    pub async fn undo(
        &mut self,
        event: Seq,
        author: Author,
        reason: &str,
    ) -> Result<Option<Seq>, LoggedChangeError>
    where
        L: LoadSnapshot,
    {
        let undone = self.undo_unmarked(event, &author, reason).await?;
        self.mark_consolidated(author, reason).await?;
        Ok(undone)
    }

    /// The same, without updating the marks on entries of the journal. The caller does that once after several undos.
    pub(crate) async fn undo_unmarked(
        &mut self,
        event: Seq,
        author: &Author,
        reason: &str,
    ) -> Result<Option<Seq>, LoggedChangeError> {
        decided!(self, self.undo_once(event, author, reason))
    }

    /// Marks the entries of the journal from which facts were made, and removes the mark from those whose facts were
    /// taken back. If the program is killed before that, the next call does it.
    pub(crate) async fn mark_consolidated(
        &mut self,
        author: Author,
        reason: &str,
    ) -> Result<(), LoggedChangeError>
    where
        L: LoadSnapshot,
    {
        let state = self.state().await?;
        let book = &state.journal;
        let ids = book.journal().entries().map(|entry| entry.id);
        let records: Vec<Origin> = ids.filter_map(|id| book.record(id)).collect();
        let read_by = self.memory.read_by(&records).await?.into_iter();
        let read_by: Vec<(Origin, Option<Seq>)> = records.into_iter().zip(read_by).collect();
        let marked = |state: &State| {
            let stands = |event: &Seq| !state.undos.is_taken_back(*event);
            let read = read_by.iter();
            let read = read.filter(|(_, event)| event.as_ref().is_some_and(stands));
            let read: BTreeSet<Origin> = read.map(|(record, _)| *record).collect();
            let marked = state
                .journal
                .mark_consolidated(&read, (author.clone(), reason));
            marked.map(Event::JournalChanged)
        };
        // Nearly always all marks are already correct.
        let is_due = marked(&state).is_some();
        drop(state);
        if is_due {
            self.append_decided(marked).await?;
        }
        Ok(())
    }

    async fn undo_once(
        &mut self,
        event: Seq,
        author: &Author,
        reason: &str,
    ) -> Result<Option<Seq>, LoggedChangeError> {
        let opposite = match self.memory.opposite(event).await {
            Ok(opposite) => opposite,
            refused @ Err(_) => {
                self.check_current().await?;
                refused?
            }
        };
        if let Some(opposite) = opposite {
            let made = self.change_entities_once(std::slice::from_ref(&opposite), author, reason);
            return Ok(made.await?.into_iter().next().flatten());
        }
        let change = MemoryChange::Undone { event };
        Ok(self.change_once(&change, author, reason).await?.0)
    }

    /// Writes that the assistant wakes because all work of its night is done.
    ///
    /// # Errors
    ///
    /// [`LoggedChangeError`].
    pub async fn note_waking(&mut self, woken: WokeUp) -> Result<Seq, LoggedChangeError> {
        self.append(&Event::WokeUp(woken)).await
    }

    /// Appends an event that does not depend on the log, and lets the memory read it.
    pub(crate) async fn append(&mut self, event: &Event) -> Result<Seq, LoggedChangeError> {
        decided!(self, self.append_once(event))
    }

    /// Reads what another writer appended first, so that the next attempt may succeed.
    ///
    /// # Errors
    ///
    /// The error of the last attempt, if it failed for another reason, or too often.
    async fn after_conflict(
        &mut self,
        error: LoggedChangeError,
        attempts: &mut u32,
    ) -> Result<(), LoggedChangeError> {
        let is_conflict = matches!(&error, LoggedChangeError::Append(error) if is_conflict(error));
        if !is_conflict || *attempts >= ATTEMPTS {
            return Err(error);
        }
        *attempts += 1;
        self.through = catch_up(&self.log, &self.key, &self.memory).await?.through;
        Ok(())
    }

    /// Decides an event by the state and appends it. Starts again after each event that another writer appended first.
    /// If no event is decided, appends nothing.
    pub(crate) async fn append_decided(
        &mut self,
        mut decide: impl FnMut(&State) -> Option<Event>,
    ) -> Result<Option<Event>, LoggedChangeError>
    where
        L: LoadSnapshot,
    {
        let it = &*self;
        let (log, key) = (&it.log, &it.key);
        let look = || async { Ok::<_, LoggedChangeError>(it.state().await?) };
        let decide = |state: &State| Ok(decide(state).into_iter().collect());
        let mut decided = append_decided(log, key, &*it.clock, look, decide).await?;
        let Some(event) = decided.events.pop() else {
            return Ok(None);
        };
        self.through = decided.through;
        catch_up(&self.log, &self.key, &self.memory).await?;
        Ok(Some(event))
    }

    async fn append_once(&mut self, event: &Event) -> Result<Seq, LoggedChangeError> {
        self.append_all_once(std::slice::from_ref(event)).await
    }

    /// Appends all of these events or none.
    async fn append_all_once(&mut self, events: &[Event]) -> Result<Seq, LoggedChangeError> {
        let now = self.clock.now();
        let events: Result<_, _> = events.iter().map(|event| event.encode(now)).collect();
        let request = AppendRequest {
            assistant: self.key.clone(),
            expected: self.through,
            events: events?,
        };
        self.through = append_until_known(&self.log, request).await?;
        catch_up(&self.log, &self.key, &self.memory).await?;
        Ok(self.through)
    }
}
