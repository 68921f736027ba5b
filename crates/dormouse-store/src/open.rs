//! Opens a log, or reports exactly why it cannot be opened.

use std::{fs, io, path::Path};

use dormouse_contracts::ReadErrorKind;
use dormouse_database::{DatabaseFault, DatabaseHandle, DatabaseOpenError};
use redb::{ReadTransaction, WriteTransaction};

use crate::{
    events,
    fault::{Fault, contained},
    rows::{EVENTS, HEADS, SNAPSHOTS},
    scan::{Readable, scan},
    signature::{self, Creation, LOG_FILE},
    wal::{self, WalFault, WalFile, WalStore, write_ahead_file},
};

mod error;

pub use error::LogOpenError;

/// What to do if the file does not exist.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    Create,
    Refuse,
}

/// A log whose database is open and whose threads are not running yet.
#[derive(Debug)]
pub(crate) struct OpenedLog {
    pub(crate) database: DatabaseHandle,
    pub(crate) creation: Creation,
    /// Where appends are written ahead; `None` if the log is only read.
    pub(crate) ahead: Option<Box<dyn WalStore>>,
}

/// Opens the file, or creates it.
pub(crate) fn open(path: &Path, absence: Absence) -> Result<OpenedLog, LogOpenError> {
    let opened = match absence {
        Absence::Create => {
            refuse_orphan(path)?;
            DatabaseHandle::open(path, &LOG_FILE, create_tables)
        }
        Absence::Refuse => DatabaseHandle::open_existing(path, &LOG_FILE),
    };
    let mut opened = check_opened(path, opened)?;
    opened.ahead = Some(Box::new(WalFile::of(path)));
    Ok(opened)
}

/// Refuses to create a log where only its write-ahead file is left.
fn refuse_orphan(path: &Path) -> Result<(), LogOpenError> {
    if !is_absent(path) {
        return Ok(());
    }
    let bytes = WalFile::of(path).read();
    let bytes = bytes.map_err(|error| LogOpenError::io(&write_ahead_file(path), error))?;
    // Another process may have created the log meanwhile.
    match wal::is_empty(&bytes.unwrap_or_default()) || !is_absent(path) {
        true => Ok(()),
        false => Err(LogOpenError::WriteAhead {
            path: path.into(),
            readable: readable(path),
            source: Box::new(WalFault::Alone),
        }),
    }
}

fn is_absent(path: &Path) -> bool {
    fs::symlink_metadata(path).is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

/// Opens the newest commit of the file for reading.
pub(crate) fn view(path: &Path) -> Result<OpenedLog, LogOpenError> {
    check_opened(path, DatabaseHandle::open_view(path, &LOG_FILE))
}

/// Creates the tables of an empty log.
pub(crate) fn create_tables(transaction: &WriteTransaction) -> Result<(), redb::Error> {
    transaction.open_table(EVENTS)?;
    transaction.open_table(HEADS)?;
    transaction.open_table(SNAPSHOTS)?;
    Ok(())
}

/// Checks that an opened database is a log without gaps.
pub(crate) fn check_opened(
    path: &Path,
    opened: Result<DatabaseHandle, DatabaseOpenError>,
) -> Result<OpenedLog, LogOpenError> {
    let database = opened.map_err(name)?;
    check(database).map_err(|fault| name_fault(path, fault))
}

fn check(database: DatabaseHandle) -> Result<OpenedLog, Fault> {
    let creation = contained(|| {
        let transaction = database.begin_read()?;
        check_ends(&transaction)?;
        let creation = signature::creation(&transaction).map_err(DatabaseFault::from)?;
        creation.ok_or_else(events::corrupt)
    })?;
    Ok(OpenedLog {
        database,
        creation,
        ahead: None,
    })
}

/// Compares each head with the last event of its assistant. Otherwise a log that lost its end would look like a shorter
/// log.
fn check_ends(transaction: &ReadTransaction) -> Result<(), Fault> {
    let events = transaction.open_table(EVENTS)?;
    transaction.open_table(SNAPSHOTS)?;
    let heads = events::assistants(transaction)?;
    for (assistant, end) in &heads {
        let last = events::last_event(&events, assistant)?;
        if last != *end {
            let at = last.min(*end).next();
            return Err(Fault::Unusable(ReadErrorKind::Missing { at }));
        }
    }
    // Every head has events. If more assistants have events than heads, a head is lost.
    if events::owners(&events)?.len() == heads.len() {
        Ok(())
    } else {
        Err(events::corrupt())
    }
}

/// Converts an error of the database to an error of the log. For a damaged file, adds what can still be read.
fn name(error: DatabaseOpenError) -> LogOpenError {
    match error {
        DatabaseOpenError::Absent { path, .. } => LogOpenError::Absent { path },
        DatabaseOpenError::Empty { path, .. } => LogOpenError::Empty { path },
        DatabaseOpenError::InUse { path } => LogOpenError::InUse { path },
        DatabaseOpenError::Foreign { path, .. } => LogOpenError::NotALog { path },
        DatabaseOpenError::NewerFormat {
            path,
            found,
            newest,
            ..
        } => LogOpenError::Newer {
            path,
            found,
            known: newest,
        },
        // [`LogFile`] reports no format as older, because it reads all of them.
        DatabaseOpenError::OlderFormat { path, .. } => LogOpenError::NotALog { path },
        DatabaseOpenError::Truncated {
            path,
            found,
            expected,
            ..
        } => LogOpenError::Truncated {
            readable: readable(&path),
            path,
            found,
            expected,
        },
        DatabaseOpenError::Damaged { path, source, .. } if source.is::<WalFault>() => {
            LogOpenError::WriteAhead {
                readable: readable(&path),
                path,
                source,
            }
        }
        DatabaseOpenError::Damaged { path, source, .. } => LogOpenError::Corrupt {
            readable: readable(&path),
            path,
            source,
        },
        DatabaseOpenError::Repaired { path } => LogOpenError::Repaired { path },
        DatabaseOpenError::Io { path, source, .. }
            if source.kind() == io::ErrorKind::IsADirectory =>
        {
            LogOpenError::NotALog { path }
        }
        DatabaseOpenError::Io { path, source, .. } => LogOpenError::io(&path, source),
    }
}

fn name_fault(path: &Path, fault: Fault) -> LogOpenError {
    let is_disk = matches!(&fault, Fault::Database(fault) if fault.is_disk());
    match fault {
        Fault::Database(DatabaseFault::Failed(error)) if is_disk => match *error {
            redb::Error::Io(source) => LogOpenError::io(path, source),
            error => LogOpenError::io(path, io::Error::other(error)),
        },
        fault => LogOpenError::Corrupt {
            path: path.into(),
            readable: readable(path),
            source: Box::new(fault),
        },
    }
}

/// Returns what can still be read of a damaged file, or nothing if the scan fails.
fn readable(path: &Path) -> Vec<Readable> {
    match scan(path) {
        Ok(found) => found.readable(),
        Err(error) => {
            tracing::warn!(%error, "the damaged log could not be scanned");
            Vec::new()
        }
    }
}
