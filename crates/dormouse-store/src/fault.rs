//! What can go wrong under the log, and keeping panics of the database from getting out.

use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use dormouse_contracts::{AppendError, AppendErrorKind, ReadError, ReadErrorKind};

/// The cause behind an error of the log. Its type is not public; its text is.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the database failed")]
    Database(#[source] Box<redb::Error>),
    #[error("the database met something it did not expect: {message}")]
    Panicked { message: Box<str> },
    #[error("the file could not be reached")]
    Io(#[from] std::io::Error),
    /// An earlier failure closed the database, and it cannot be opened again yet.
    #[error("the database was closed after an earlier failure")]
    Unavailable(#[source] Arc<Fault>),
    #[error("the log is closed")]
    Closed,
    /// A record that is there cannot be used.
    #[error("a record of the log cannot be used")]
    Unusable(#[source] ReadErrorKind),
}

macro_rules! from_redb {
    ($($error:ident),*) => {$(
        impl From<redb::$error> for Fault {
            fn from(error: redb::$error) -> Self {
                Self::Database(Box::new(error.into()))
            }
        }
    )*};
}

from_redb!(
    StorageError,
    TableError,
    TransactionError,
    CommitError,
    DatabaseError,
    SetDurabilityError
);

impl Fault {
    /// Whether the bytes themselves are wrong, rather than the way to them.
    pub(crate) fn is_damage(&self) -> bool {
        match self {
            Self::Panicked { .. } | Self::Unusable(_) => true,
            Self::Database(error) => matches!(
                **error,
                redb::Error::Corrupted(_)
                    | redb::Error::TableTypeMismatch { .. }
                    | redb::Error::TableDoesNotExist(_)
                    | redb::Error::TableIsMultimap(_)
                    | redb::Error::TypeDefinitionChanged { .. }
            ),
            Self::Io(_) | Self::Unavailable(_) | Self::Closed => false,
        }
    }

    pub(crate) fn into_read_error(self) -> ReadError {
        let kind = match &self {
            Self::Unusable(kind) => *kind,
            Self::Closed => ReadErrorKind::Closed,
            Self::Database(_) | Self::Panicked { .. } | Self::Io(_) | Self::Unavailable(_) => {
                ReadErrorKind::Storage
            }
        };
        ReadError::new(kind, Some(Box::new(self)))
    }
}

/// One fault as the cause of several errors: everyone whose append shared the failed commit.
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

/// Runs `work` and turns a panic inside it into a fault. redb checks much of what it reads from a damaged
/// file, but not all; whatever it had open is dropped and must not be used again.
pub(crate) fn contained<T>(work: impl FnOnce() -> Result<T, Fault>) -> Result<T, Fault> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result,
        Err(payload) => Err(Fault::Panicked {
            message: message(payload.as_ref()),
        }),
    }
}

fn message(payload: &(dyn Any + Send)) -> Box<str> {
    if let Some(text) = payload.downcast_ref::<&str>() {
        (*text).into()
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text.as_str().into()
    } else {
        "no message".into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_inside_becomes_a_fault_that_says_what_it_said() {
        let fault = contained::<()>(|| panic!("page {} out of range", 7)).unwrap_err();
        assert!(fault.is_damage());
        assert!(
            fault.to_string().ends_with("page 7 out of range"),
            "{fault}"
        );
    }
}
