//! The log that a command writes: its own, or that of an assistant that runs.

use dormouse_contracts::{
    Append, AppendError, AppendRequest, AssistantId, BoxFuture, LoadSnapshot, ReadError,
    ReadEvents, Seq, Snapshot, StoredEvent,
};
use dormouse_host::Resident;
use dormouse_store::RedbLog;

/// A log that is open for writing. Nobody but the assistant writes the log of one that runs, so it does that for the command.
#[derive(Debug)]
pub(crate) struct CommandLog {
    pub(super) log: RedbLog,
    pub(super) resident: Option<Resident>,
}

impl Append for CommandLog {
    fn append(&self, request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>> {
        match &self.resident {
            Some(resident) => Box::pin(resident.handle().append(request)),
            None => self.log.append(request),
        }
    }
}

impl ReadEvents for CommandLog {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        self.log.read(assistant, after, limit)
    }
}

impl LoadSnapshot for CommandLog {
    fn load_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        up_to: Seq,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, ReadError>> {
        self.log.load_snapshot(assistant, up_to)
    }
}
