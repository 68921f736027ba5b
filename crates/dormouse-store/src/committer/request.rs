//! Requests to the writer thread.

use std::sync::Arc;

use dormouse_contracts::{AppendError, AppendRequest, AssistantId, Seq, Snapshot};
use dormouse_database::DatabaseHandle;
use tokio::sync::oneshot;

/// A request to the writer thread.
#[derive(Debug)]
pub(crate) enum Request {
    Append(AppendRequest, Reply),
    Snapshot(AssistantId, Snapshot, Reply),
    /// Copy the whole log of an assistant from another database, if this one does not know the assistant.
    Adopt(AssistantId, Arc<DatabaseHandle>, Reply),
    /// Reopen the database, because a reader got an error that requires it.
    Recover,
    /// Check whether the log is being closed.
    Wake,
}

/// The channel for the answer. The request is carried out even if the caller has dropped its future.
pub(crate) type Reply = oneshot::Sender<Result<Seq, AppendError>>;

impl Request {
    /// The size of the payload that the request writes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Append(request, _) => request.events.iter().map(|e| e.payload.len()).sum(),
            Self::Snapshot(_, snapshot, _) => snapshot.payload.len(),
            Self::Adopt(..) | Self::Recover | Self::Wake => 0,
        }
    }

    /// Whether it has a commit of its own: a life may be so large that the disk has no room for it, and then the requests of
    /// others must not fail with it.
    pub(super) fn is_alone(&self) -> bool {
        matches!(self, Self::Adopt(..))
    }

    /// Whether the request writes anything and waits for an answer.
    pub(super) fn is_write(&self) -> bool {
        match self {
            Self::Append(..) | Self::Snapshot(..) | Self::Adopt(..) => true,
            Self::Recover | Self::Wake => false,
        }
    }

    pub(super) fn answer(self, result: Result<Seq, AppendError>) {
        match self {
            Self::Append(_, reply) | Self::Snapshot(_, _, reply) | Self::Adopt(_, _, reply) => {
                // Sending fails if the caller dropped its future.
                drop(reply.send(result));
            }
            Self::Recover | Self::Wake => {}
        }
    }
}
