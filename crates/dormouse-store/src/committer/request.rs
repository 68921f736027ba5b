//! Requests to the writer thread.

use dormouse_contracts::{AppendError, AppendRequest, AssistantId, Seq, Snapshot};
use tokio::sync::oneshot;

/// A request to the writer thread.
#[derive(Debug)]
pub(crate) enum Request {
    Append(AppendRequest, Reply),
    Snapshot(AssistantId, Snapshot, Reply),
    /// A reader met a failure after which the database must be reopened.
    Recover,
    /// Check whether the log is being closed.
    Wake,
}

/// Where the answer goes. The caller may have dropped its future; the request is carried out all the same.
pub(crate) type Reply = oneshot::Sender<Result<Seq, AppendError>>;

impl Request {
    /// The size of the payload that the request writes, in bytes.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Self::Append(request, _) => request.events.iter().map(|e| e.payload.len()).sum(),
            Self::Snapshot(_, snapshot, _) => snapshot.payload.len(),
            Self::Recover | Self::Wake => 0,
        }
    }

    /// Whether the request writes anything and waits for an answer.
    pub(super) fn is_write(&self) -> bool {
        match self {
            Self::Append(..) | Self::Snapshot(..) => true,
            Self::Recover | Self::Wake => false,
        }
    }

    pub(super) fn answer(self, result: Result<Seq, AppendError>) {
        match self {
            Self::Append(_, reply) | Self::Snapshot(_, _, reply) => {
                // The receiver is gone if the caller dropped its future.
                drop(reply.send(result));
            }
            Self::Recover | Self::Wake => {}
        }
    }
}
