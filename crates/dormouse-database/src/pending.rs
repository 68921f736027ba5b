//! Commits that are on disk outside of a database's file.

use std::{fmt, io};

use dormouse_contracts::BoxError;

use crate::{
    database::Database,
    error::{DatabaseOpenError, FileSubject},
    fault::{DatabaseFault, catch_panic},
};

/// Commits that are on disk outside of a database's file, for example in a write-ahead file. Each opening of the database
/// applies them before anybody else can use it, and so does each snapshot of it.
pub trait PendingCommits: fmt::Debug + Send + Sync {
    /// Everything that is pending, in the form that [`apply`](Self::apply) takes; `None` if there is nothing.
    ///
    /// # Errors
    ///
    /// Any error of the storage.
    fn read(&self) -> io::Result<Option<Vec<u8>>>;

    /// Applies what [`read`](Self::read) returned. It may have been applied before, completely or not at all.
    ///
    /// # Errors
    ///
    /// [`PendingError`]; the database is not used then.
    fn apply(
        &self,
        pending: Option<&[u8]>,
        database: &Database,
        target: PendingTarget,
    ) -> Result<(), PendingError>;
}

/// What pending commits are applied to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PendingTarget {
    /// The file itself. Once they are committed there, they are no longer needed elsewhere.
    File,
    /// A copy in memory: nothing on disk changes.
    Copy,
}

/// Why pending commits were not applied.
#[derive(Debug, thiserror::Error)]
pub enum PendingError {
    /// The database failed.
    #[error("the database failed")]
    Database(#[from] DatabaseFault),
    /// They are damaged, or do not belong to the database.
    #[error("the pending commits cannot be applied")]
    Unusable(#[source] BoxError),
}

/// The database with its pending commits.
pub(crate) fn bring_in(
    subject: FileSubject<'_>,
    database: Database,
    pending: &dyn PendingCommits,
    read: Option<&[u8]>,
    target: PendingTarget,
) -> Result<Database, DatabaseOpenError> {
    let applied = catch_panic(|| {
        if target == PendingTarget::File {
            // What is applied is written soon, so the opening fails if writing is impossible.
            database.begin_writing().map_err(DatabaseFault::from)?;
        }
        pending.apply(read, &database, target)
    });
    match applied.unwrap_or_else(|panic| Err(panic.into())) {
        Ok(()) => Ok(database),
        Err(error) => {
            // Closing a database can panic, too.
            drop(catch_panic(|| drop(database)));
            Err(named(subject, error))
        }
    }
}

fn named(subject: FileSubject<'_>, error: PendingError) -> DatabaseOpenError {
    match error {
        PendingError::Database(DatabaseFault::Failed(error)) => subject.unopened(*error),
        PendingError::Database(fault) => subject.damaged(fault),
        PendingError::Unusable(cause) => subject.damaged(cause),
    }
}
