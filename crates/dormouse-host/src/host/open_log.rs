//! A log that is open for writing, even while a running assistant writes to it.

use dormouse_contracts::{
    Append, AppendError, AppendRequest, AssistantId, BoxFuture, LoadSnapshot, ReadError,
    ReadEvents, Seq, Snapshot, StoredEvent,
};
use dormouse_engine::Handle;
use dormouse_memory::Memory;
use dormouse_store::RedbLog;

use super::residency::Resident;

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
