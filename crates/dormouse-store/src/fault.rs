//! Failures of the storage that the log uses.

use std::sync::Arc;

use dormouse_contracts::{AppendError, AppendErrorKind, ReadError, ReadErrorKind};
use dormouse_database::{DatabaseFault, catch_panic};

use crate::wal::WalFault;

/// The cause of an error of the log. Callers see its text, but not its type.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error(transparent)]
    Database(#[from] DatabaseFault),
    #[error("the file could not be reached")]
    Io(#[from] std::io::Error),
    /// A record exists but cannot be used.
    #[error("a record of the log cannot be used")]
    Unusable(#[source] ReadErrorKind),
    #[error(transparent)]
    WriteAhead(#[from] WalFault),
}

dormouse_database::from_redb!(Fault::Database);

impl Fault {
    /// Whether the file's content is wrong. If not, the access to it failed.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Unusable(_) | Self::WriteAhead(_) => true,
            Self::Database(fault) => fault.is_damage(),
            Self::Io(_) => false,
        }
    }

    /// Whether the database refuses all work until it is opened again.
    pub(crate) fn needs_reopening(&self) -> bool {
        match self {
            Self::Database(fault) => !matches!(fault, DatabaseFault::Closed),
            Self::Io(_) | Self::Unusable(_) | Self::WriteAhead(_) => false,
        }
    }

    pub(crate) fn into_read_error(self) -> ReadError {
        let kind = match &self {
            Self::Unusable(kind) => *kind,
            Self::Database(DatabaseFault::Closed) => ReadErrorKind::Closed,
            Self::Database(_) | Self::Io(_) | Self::WriteAhead(_) => ReadErrorKind::Storage,
        };
        ReadError::new(kind, Some(Box::new(self)))
    }
}

/// One fault as the cause of several errors: each append in the failed commit gets an error.
#[derive(Clone, Debug, thiserror::Error)]
#[error("the commit failed")]
pub(crate) struct SharedFault(#[source] Arc<Fault>);

impl SharedFault {
    pub(crate) fn new(fault: Fault) -> Self {
        Self(Arc::new(fault))
    }

    pub(crate) fn to_append_error(&self) -> AppendError {
        AppendError::new(AppendErrorKind::Storage, Some(Box::new(self.clone())))
    }
}

/// Runs `work` and turns a panic inside it into a fault. redb checks much of what it reads from a damaged file, but not
/// all. A panic drops everything that `work` had opened; none of it may be used again.
pub(crate) fn contained<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    catch_panic(work)?
}
