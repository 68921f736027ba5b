//! The four traits of `dormouse-contracts` that the log implements.

use dormouse_contracts::{
    Append, AppendError, AppendErrorKind, AppendRequest, AssistantId, BoxFuture, LoadSnapshot,
    ReadError, ReadEvents, SaveSnapshot, Seq, Snapshot, StoredEvent,
};

use super::RedbLog;
use crate::{
    committer::Request,
    events,
    fault::contained,
    rows::{self, MAX_SNAPSHOT_BYTES},
    snapshots,
};

impl Append for RedbLog {
    fn append(&self, request: AppendRequest) -> BoxFuture<'_, Result<Seq, AppendError>> {
        Box::pin(async move {
            if !request.events.iter().all(rows::is_acceptable) {
                return Err(AppendError::new(AppendErrorKind::Unacceptable, None));
            }
            self.request(|reply| Request::Append(request, reply)).await
        })
    }
}

impl ReadEvents for RedbLog {
    /// A page holds at most about 32 MiB, so it may be shorter than `limit`; only an empty one means the end.
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        if let Some(found) = self.core.recent.read(assistant, after, limit) {
            return Box::pin(async { Ok(found) });
        }
        let assistant = assistant.clone();
        Box::pin(self.run_read(move |database| events::page(database, &assistant, after, limit)))
    }
}

impl SaveSnapshot for RedbLog {
    fn save_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        snapshot: Snapshot,
    ) -> BoxFuture<'a, Result<(), AppendError>> {
        Box::pin(async move {
            if snapshot.payload.len() > MAX_SNAPSHOT_BYTES {
                return Err(AppendError::new(AppendErrorKind::Unacceptable, None));
            }
            self.request(|reply| Request::Snapshot(assistant.clone(), snapshot, reply))
                .await
                .map(drop)
        })
    }
}

impl LoadSnapshot for RedbLog {
    fn load_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        up_to: Seq,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, ReadError>> {
        let assistant = assistant.clone();
        Box::pin(self.run_read(move |database| {
            contained(|| snapshots::load(&database.begin_read()?, &assistant, up_to))
        }))
    }
}
