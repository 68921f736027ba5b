//! What a transaction on a memory's file can fail with.

use std::path::{Path, PathBuf};

use dormouse_contracts::BoxError;
use dormouse_database::DatabaseFault;

/// The kind of a failure of a memory's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The disk is full or has failed. What was acknowledged is safe; the same write may succeed later.
    #[error("the disk failed or is full")]
    Disk,
    /// A row or a page of the file is damaged.
    #[error("the file is damaged: restore it from a copy, or export what can be read")]
    Damaged,
    /// The memory was opened for reading.
    #[error("it was opened for reading only: open it for writing to change it")]
    ReadOnly,
}

/// A failure of a memory's file.
#[derive(Debug, thiserror::Error)]
#[error("the memory's file {}: {kind}", path.display())]
pub struct StoreError {
    pub(super) path: PathBuf,
    pub(super) kind: StoreErrorKind,
    #[source]
    pub(super) source: BoxError,
}

impl StoreError {
    pub(crate) fn disk(path: &Path, error: std::io::Error) -> Self {
        Self {
            path: path.to_owned(),
            kind: StoreErrorKind::Disk,
            source: error.into(),
        }
    }

    /// The kind of the failure.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

/// A failure inside a transaction, before the path is known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the database failed")]
    Database(#[from] DatabaseFault),
    #[error("a row of the file cannot be parsed")]
    Row(#[from] serde_json::Error),
    #[error("the checksum of a row of the file does not match")]
    Checksum,
    #[error("{0}")]
    Inconsistent(&'static str),
    #[error("this is a read-only view of the file")]
    View,
    #[error("the copy of the search index may hold what is to be erased")]
    Copy(#[from] std::io::Error),
}

dormouse_database::from_redb!(Fault::Database);

impl Fault {
    pub(super) fn kind(&self) -> StoreErrorKind {
        match self {
            Self::Copy(_) => StoreErrorKind::Disk,
            Self::View => StoreErrorKind::ReadOnly,
            Self::Database(fault) if fault.is_disk() => StoreErrorKind::Disk,
            Self::Database(_) | Self::Row(_) | Self::Checksum | Self::Inconsistent(_) => {
                StoreErrorKind::Damaged
            }
        }
    }
}

/// How a transaction can fail: by a fault of the file, or by a refusal of the closure.
#[derive(Debug)]
pub(crate) enum Abort<E> {
    Fault(Fault),
    Refused(E),
}

impl<E, F: Into<Fault>> From<F> for Abort<E> {
    fn from(fault: F) -> Self {
        Self::Fault(fault.into())
    }
}

/// Why a transaction of [`Store::write`](super::Store::write) changed nothing.
#[derive(Debug)]
pub(crate) enum WriteError<E> {
    Store(StoreError),
    Refused(E),
}
