//! A log that is open for writing, also while an assistant runs that writes it.

use dormouse_contracts::{
    Append, AppendError, AppendRequest, AssistantId, BoxFuture, LoadSnapshot, ReadError,
    ReadEvents, Seq, Snapshot, StoredEvent,
};
use dormouse_store::RedbLog;

use super::residency::Resident;

/// A log that is open for writing, for changes to one assistant. Nobody but the assistant writes the log of one that is awake,
/// so that one appends the events itself.
#[derive(Debug)]
pub struct OpenLog {
    log: RedbLog,
    resident: Option<Resident>,
}

impl OpenLog {
    /// The log, with the assistant if that is awake.
    #[must_use]
    pub fn new(log: RedbLog, resident: Option<Resident>) -> Self {
        Self { log, resident }
    }

    /// The assistant, if it is awake.
    #[must_use]
    pub fn resident(&self) -> Option<&Resident> {
        self.resident.as_ref()
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
