//! Why the file of a bridge was not read or written.

use dormouse_contracts::{WorldError, WorldErrorKind};
use dormouse_database::DatabaseFault;

/// A row could not be read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum StoreError {
    #[error("the bridge's file failed")]
    File(#[from] DatabaseFault),
    #[error("a row of the bridge's file is invalid")]
    Row(#[from] serde_json::Error),
    #[error("the thread that works on the bridge's file ended")]
    Thread(#[from] tokio::task::JoinError),
}

dormouse_database::from_redb!(StoreError::File);

/// A write that failed: it took no effect, or it is unknown whether it did.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WriteError {
    /// Nothing was written.
    #[error("nothing was written")]
    NotWritten(#[source] StoreError),
    /// The commit failed, and the file could not be read after it.
    #[error("it is unknown whether it was written")]
    Unknown(#[source] StoreError),
}

impl From<WriteError> for WorldError {
    fn from(error: WriteError) -> Self {
        let kind = match &error {
            WriteError::NotWritten(_) => WorldErrorKind::NotReached,
            WriteError::Unknown(_) => WorldErrorKind::Unanswered,
        };
        Self::new(kind, Some(error.into()))
    }
}

impl From<StoreError> for WorldError {
    fn from(error: StoreError) -> Self {
        Self::new(WorldErrorKind::NotReached, Some(error.into()))
    }
}
