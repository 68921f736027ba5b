use std::{
    any::Any,
    io,
    panic::{AssertUnwindSafe, catch_unwind},
};

/// A failure of a database that is open.
///
/// After one the database refuses all further work; opened again, the file holds what was committed before.
#[derive(Debug, thiserror::Error)]
pub enum DatabaseFault {
    /// The library said what is wrong.
    #[error("the database failed")]
    Failed(#[source] Box<redb::Error>),
    /// The library met what it did not expect, which it does on damaged pages.
    #[error("the database met something it did not expect: {message}")]
    Panicked {
        /// What it said.
        message: Box<str>,
    },
}

impl From<redb::Error> for DatabaseFault {
    fn from(error: redb::Error) -> Self {
        Self::Failed(Box::new(error))
    }
}

impl DatabaseFault {
    /// Whether the disk or the file system refused: the same may succeed later, with more room or another disk.
    /// Otherwise the file's own bytes are wrong, or the caller's use of its tables.
    #[must_use]
    pub fn is_disk(&self) -> bool {
        match self {
            Self::Failed(error) => match error.as_ref() {
                redb::Error::Io(error) => is_disk(error),
                redb::Error::PreviousIo => true,
                _ => false,
            },
            Self::Panicked { .. } => false,
        }
    }
}

/// Whether an error of the file system is its own, and not about the bytes it was asked for.
pub(crate) fn is_disk(error: &io::Error) -> bool {
    !matches!(
        error.kind(),
        io::ErrorKind::InvalidData | io::ErrorKind::UnexpectedEof
    )
}

/// Runs `work`, and makes an error of a panic inside it: redb checks much of what it reads from a damaged file, but not
/// all.
///
/// What was open inside is dropped. The database itself is to be dropped after a fault, in here too, since closing writes;
/// then the file can be opened again. In a file that was not checked ([`FileKind::check_up_to_bytes`]) redb can panic
/// a second time while it cleans up after the first, which nothing contains: the process ends, and what was
/// committed stays.
///
/// [`FileKind::check_up_to_bytes`]: crate::FileKind::check_up_to_bytes
///
/// # Errors
///
/// [`DatabaseFault`]: what `work` answered, or said when it panicked.
pub fn contained<T>(work: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, DatabaseFault> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(result) => result.map_err(DatabaseFault::from),
        Err(payload) => Err(DatabaseFault::Panicked {
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
