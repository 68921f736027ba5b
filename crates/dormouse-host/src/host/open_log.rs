//! A log that is open for writing, even while a running assistant writes to it.

use std::sync::Arc;

use dormouse_contracts::{
    Append, AppendError, AppendRequest, AssistantId, BoxFuture, Clock, LoadSnapshot, ReadError,
    ReadEvents, Seq, Snapshot, StoredEvent,
};
use dormouse_engine::{
    CatchUpError, DecidedEvents, Event, Handle, LoggedMemory, State, append_decided,
};
use dormouse_memory::Memory;
use dormouse_store::RedbLog;

use super::residency::Resident;
use crate::roster::{self, RosterError};

/// A log that is open for changes to one assistant. While the assistant is awake, only it may write to its log, so it
/// appends the events itself.
#[derive(Debug)]
pub struct OpenLog {
    log: RedbLog,
    resident: Option<Awake>,
}

impl OpenLog {
    /// The log, with the assistant if it is awake.
    #[must_use]
    pub fn new(log: RedbLog, resident: Option<Awake>) -> Self {
        Self { log, resident }
    }

    /// The assistant, if it is awake.
    #[must_use]
    pub fn resident(&self) -> Option<&Awake> {
        self.resident.as_ref()
    }

    /// The state of an assistant: as it is now if it is awake, and otherwise at the end of its log.
    ///
    /// # Errors
    ///
    /// [`RosterError::Unknown`] or [`RosterError::Life`].
    pub async fn state(&self, key: &AssistantId) -> Result<State, RosterError> {
        if let Some(resident) = &self.resident
            && let Some(state) = resident.handle().inspect().await
        {
            return Ok(state);
        }
        roster::known(self, key).await
    }

    /// Appends the events that `decide` makes of an assistant's state, all or none. If another writer appended
    /// meanwhile, `decide` runs again. Without events nothing is written.
    ///
    /// # Errors
    ///
    /// What `decide` refuses, or a [`RosterError`]; nothing was written.
    pub async fn change<E>(
        &self,
        key: &AssistantId,
        clock: &dyn Clock,
        decide: impl Fn(&State) -> Result<Vec<Event>, E>,
    ) -> Result<DecidedEvents, E>
    where
        E: From<RosterError> + From<AppendError> + From<serde_json::Error>,
    {
        let look = || async { Ok::<_, E>(self.state(key).await?) };
        append_decided(self, key, clock, look, decide).await
    }
}

/// An assistant that is awake in this process, for code that changes its log or reads its memory.
#[derive(Clone, Debug)]
pub struct Awake {
    handle: Handle,
    memory: Memory,
    /// Keeps it awake, if the host may put it away.
    _stay: Option<Resident>,
}

impl Awake {
    /// An assistant that the caller keeps awake by other means.
    #[must_use]
    pub fn new(handle: Handle, memory: Memory) -> Self {
        Self {
            handle,
            memory,
            _stay: None,
        }
    }

    /// Its handle.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Its memory.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Its memory with its log, for changes. By then the memory has taken in the whole log.
    ///
    /// # Errors
    ///
    /// [`CatchUpError`] if the memory does not follow the log, or one of the two fails.
    pub async fn logged_memory(
        self,
        log: &RedbLog,
        clock: Arc<dyn Clock>,
    ) -> Result<LoggedMemory<OpenLog>, CatchUpError> {
        let memory = self.memory.clone();
        let log = OpenLog::new(log.clone(), Some(self));
        LoggedMemory::open(log, memory, clock).await
    }
}

impl From<Resident> for Awake {
    fn from(resident: Resident) -> Self {
        Self {
            _stay: Some(resident.clone()),
            ..Self::new(resident.handle().clone(), resident.memory().clone())
        }
    }
}

impl Append for OpenLog {
    fn append(&self, request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>> {
        match &self.resident {
            Some(resident) => Box::pin(resident.handle().append(request)),
            None => self.log.append(request),
        }
    }
}

impl ReadEvents for OpenLog {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        self.log.read(assistant, after, limit)
    }
}

impl LoadSnapshot for OpenLog {
    fn load_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        up_to: Seq,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, ReadError>> {
        self.log.load_snapshot(assistant, up_to)
    }
}
