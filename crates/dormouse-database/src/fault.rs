use std::{
    any::Any,
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use crate::error::{DatabaseOpenError, is_disk};

/// A failure of an open database.
///
/// After a failure the database rejects all further work. If the file is opened again, it contains everything that was
/// committed before the failure.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseFault {
    /// redb returned an error.
    #[error("the database failed")]
    Failed(#[source] Box<redb::Error>),
    /// redb panicked, as it does on damaged pages.
    #[error("the database met something it did not expect: {message}")]
    Panicked {
        /// The panic message.
        message: Box<str>,
    },
    /// An earlier failure closed the database, and it could not be opened again yet.
    #[error("the database was closed after an earlier failure and cannot be opened again yet")]
    Unavailable(#[source] Arc<DatabaseOpenError>),
    /// The database was closed for good.
    #[error("the database is closed")]
    Closed,
}

impl From<redb::Error> for DatabaseFault {
    fn from(error: redb::Error) -> Self {
        Self::Failed(Box::new(error))
    }
}

/// Converts redb's errors into a variant that holds a [`DatabaseFault`], so that `?` works on each of redb's calls.
///
/// ```
/// use dormouse_database::DatabaseFault;
/// use redb::{ReadTransaction, TableDefinition};
///
/// #[derive(Debug)]
/// enum DiaryFault {
///     File(DatabaseFault),
/// }
///
/// dormouse_database::from_redb!(DiaryFault::File);
///
/// const DAYS: TableDefinition<'_, u64, &str> = TableDefinition::new("days");
///
/// fn was_written(reading: &ReadTransaction, day: u64) -> Result<bool, DiaryFault> {
///     Ok(reading.open_table(DAYS)?.get(day)?.is_some())
/// }
/// ```
#[macro_export]
macro_rules! from_redb {
    ($fault:ident::$variant:ident) => {
        impl From<::redb::Error> for $fault {
            fn from(error: ::redb::Error) -> Self {
                Self::$variant(error.into())
            }
        }
        $crate::from_redb!($fault::$variant: StorageError, TableError, TransactionError, CommitError);
    };
    ($fault:ident::$variant:ident: $($error:ident),*) => {$(
        impl From<::redb::$error> for $fault {
            fn from(error: ::redb::$error) -> Self {
                ::redb::Error::from(error).into()
            }
        }
    )*};
}

impl DatabaseFault {
    /// Whether the disk or the file system failed: the same operation may succeed later, with more space or another
    /// disk. If not, the file's content is wrong, or the caller misuses the file's tables.
    #[must_use]
    pub fn is_disk(&self) -> bool {
        match self {
            Self::Failed(error) => match error.as_ref() {
                redb::Error::Io(error) => is_disk(error),
                redb::Error::PreviousIo => true,
                _ => false,
            },
            Self::Unavailable(error) => matches!(**error, DatabaseOpenError::Io { .. }),
            Self::Panicked { .. } | Self::Closed => false,
        }
    }

    /// Whether the file's content is wrong.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Panicked { .. } => true,
            Self::Failed(error) => matches!(
                **error,
                redb::Error::Corrupted(_)
                    | redb::Error::TableTypeMismatch { .. }
                    | redb::Error::TableDoesNotExist(_)
                    | redb::Error::TableIsMultimap(_)
                    | redb::Error::TypeDefinitionChanged { .. }
            ),
            Self::Unavailable(_) | Self::Closed => false,
        }
    }
}

/// Runs `work` and turns a panic inside it into an error. redb checks much of what it reads from a damaged file, but
/// not everything.
///
/// A panic drops everything that `work` had opened. Closing a database writes to its file, so drop the database within
/// such a call too; then the file can be opened again. In an unchecked file ([`FileKind::check_up_to_bytes`]) redb can
/// panic a second time while it unwinds. Nothing can contain that: the process aborts, and committed data stay.
///
/// [`FileKind::check_up_to_bytes`]: crate::FileKind::check_up_to_bytes
///
/// # Errors
///
/// [`DatabaseFault`]: the error of `work`, or its panic.
pub fn contained<T>(work: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, DatabaseFault> {
    Ok(catch_panic(work)??)
}

/// Like [`contained`], for work that has its own type of error.
///
/// # Errors
///
/// [`DatabaseFault::Panicked`].
pub fn catch_panic<T>(work: impl FnOnce() -> T) -> Result<T, DatabaseFault> {
    catch_unwind(AssertUnwindSafe(work)).map_err(|payload| DatabaseFault::Panicked {
        message: message(payload.as_ref()),
    })
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
