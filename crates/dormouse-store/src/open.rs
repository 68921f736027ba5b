//! Opening a log, and saying precisely why it cannot be opened.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::Arc,
};

use dormouse_contracts::{BoxError, ReadErrorKind, Seq};
use dormouse_database::{FrozenFile, sweep_leftovers};
use redb::{Database, ReadTransaction, ReadableDatabase, StorageBackend};

use crate::{
    create,
    fault::{Fault, contained},
    frame::FORMAT,
    header::{self, Header},
    medium::{Counters, FileMedium, FrozenMedium, Medium, WHOLE},
    meta::{self, Meta, Origin},
    reading,
    scan::Readable,
    survey::survey,
    tables::{EVENTS, SNAPSHOTS},
    vault::{self, LARGE_FILE_BYTES, Vault, open_database},
    verify,
};

mod error;

pub use error::LogOpenError;

/// What to do if there is no file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Absence {
    Create,
    Refuse,
}

/// A log whose database is open and whose threads are not started yet.
#[derive(Debug)]
pub(crate) struct Opened {
    pub(crate) vault: Vault,
    pub(crate) origin: Origin,
}

/// Opens the file, making it first if that is wanted and there is none.
pub(crate) fn open(path: &Path, absence: Absence) -> Result<Opened, LogOpenError> {
    sweep_leftovers(path);
    match check_file(path) {
        Err(LogOpenError::Absent { .. }) if absence == Absence::Create => {
            create::create(path).map_err(|e| LogOpenError::io(path, e))?;
        }
        checked => checked?,
    }
    examine_alone(path)?;
    let medium = Arc::new(FileMedium {
        path: PathBuf::from(path),
    });
    open_medium(medium).map_err(|trouble| name(path, trouble))
}

/// Opens the file as it is now, for reading; answers also whether another process has it open.
pub(crate) fn view(path: &Path) -> Result<(Opened, bool), LogOpenError> {
    check_file(path)?;
    let file = FrozenFile::open(path).map_err(|e| LogOpenError::io(path, e))?;
    let is_in_use = file.is_in_use();
    examine(path, &file)?;
    let medium = Arc::new(FrozenMedium::new(path, Some(file)));
    let opened = open_medium(medium).map_err(|trouble| name(path, trouble))?;
    Ok((opened, is_in_use))
}

/// Refuses what is no file, or an empty one.
fn check_file(path: &Path) -> Result<(), LogOpenError> {
    match fs::metadata(path) {
        Ok(found) if !found.is_file() => Err(LogOpenError::NotALog { path: path.into() }),
        Ok(found) if found.len() == 0 => Err(LogOpenError::Empty { path: path.into() }),
        Ok(_) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err(LogOpenError::Absent { path: path.into() })
        }
        Err(error) => Err(LogOpenError::io(path, error)),
    }
}

/// Looks at the header while nobody else can be writing it.
fn examine_alone(path: &Path) -> Result<(), LogOpenError> {
    let medium = FileMedium {
        path: PathBuf::from(path),
    };
    let backend = medium.backend().map_err(|e| LogOpenError::io(path, e))?;
    if let Ok(false) = backend.try_lock_range(WHOLE.0, WHOLE.1) {
        return Err(LogOpenError::InUse { path: path.into() });
    }
    let examined = examine(path, &*backend);
    let closed = backend.close();
    examined?;
    closed.map_err(|e| LogOpenError::io(path, e))
}

/// Refuses what can be seen to be no log by its header.
fn examine(path: &Path, backend: &dyn StorageBackend) -> Result<(), LogOpenError> {
    let (found, header) = header::look(backend).map_err(|e| LogOpenError::io(path, e))?;
    match header {
        Header::Foreign => Err(LogOpenError::NotALog { path: path.into() }),
        Header::Truncated { expected } => Err(LogOpenError::Truncated {
            path: path.into(),
            found,
            expected,
            readable: readable(path),
        }),
        Header::Unsettled { .. } | Header::Plausible => Ok(()),
    }
}

/// Why the storage of a log does not open, before it has a path.
#[derive(Debug)]
pub(crate) enum Trouble {
    Fault(Fault),
    NotALog,
    Newer { found: u16 },
}

impl From<Fault> for Trouble {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// Opens whatever storage a log is on and checks that it is one.
pub(crate) fn open_medium(medium: Arc<dyn Medium>) -> Result<Opened, Trouble> {
    let counters = Arc::new(Counters::default());
    let mut database = open_database(&*medium, &counters)?;
    let checked = check(&mut database, &counters);
    match checked {
        Ok(origin) => Ok(Opened {
            vault: Vault::new(medium, counters, database),
            origin,
        }),
        Err(trouble) => {
            vault::close(Some(database));
            Err(trouble)
        }
    }
}

fn check(database: &mut Database, counters: &Counters) -> Result<Origin, Trouble> {
    let stated = contained(|| meta::read(&database.begin_read()?))?;
    let origin = match stated {
        Meta::Known(origin) => origin,
        Meta::Newer { found } => return Err(Trouble::Newer { found }),
        Meta::None => return Err(Trouble::NotALog),
        Meta::Damaged => return Err(damaged().into()),
    };
    if counters.file_bytes() < LARGE_FILE_BYTES {
        let clean = contained(|| Ok(database.check_integrity()?))?;
        if !clean {
            tracing::warn!("the log's free space was not as recorded and has been counted anew");
        }
    }
    contained(|| check_ends(&database.begin_read()?))?;
    Ok(origin)
}

/// Compares where logs end by their heads with where their events end.
fn check_ends(transaction: &ReadTransaction) -> Result<(), Fault> {
    let events = transaction.open_table(EVENTS)?;
    transaction.open_table(SNAPSHOTS)?;
    let heads = reading::assistants(transaction)?;
    for (assistant, end) in &heads {
        let last = reading::last_place(&events, assistant)?;
        if last != *end {
            let at = last.min(*end).next();
            return Err(Fault::Unusable(ReadErrorKind::Missing { at }));
        }
    }
    if verify::owners(&events)?.len() == heads.len() {
        Ok(())
    } else {
        Err(damaged())
    }
}

fn damaged() -> Fault {
    Fault::Unusable(ReadErrorKind::Corrupt { at: Seq(1) })
}

/// Gives a trouble with a file its name.
fn name(path: &Path, trouble: Trouble) -> LogOpenError {
    let path_buf = || path.into();
    match trouble {
        Trouble::NotALog => LogOpenError::NotALog { path: path_buf() },
        Trouble::Newer { found } => LogOpenError::Newer {
            path: path_buf(),
            found,
            known: FORMAT,
        },
        Trouble::Fault(fault) => name_fault(path, fault),
    }
}

fn name_fault(path: &Path, fault: Fault) -> LogOpenError {
    let fault = match fault {
        Fault::Io(error) => return LogOpenError::io(path, error),
        Fault::Database(error) => match *error {
            redb::Error::DatabaseAlreadyOpen => return LogOpenError::InUse { path: path.into() },
            redb::Error::Io(error)
                if error.kind() != io::ErrorKind::UnexpectedEof
                    && error.kind() != io::ErrorKind::InvalidData =>
            {
                return LogOpenError::io(path, error);
            }
            other => Fault::Database(Box::new(other)),
        },
        other => other,
    };
    let source: BoxError = Box::new(fault);
    LogOpenError::Corrupt {
        path: path.into(),
        readable: readable(path),
        source,
    }
}

/// What of a damaged file can be read; nothing, if not even that works.
fn readable(path: &Path) -> Vec<Readable> {
    match survey(path) {
        Ok(found) => found.readable(),
        Err(error) => {
            tracing::warn!(%error, "the damaged log could not be searched");
            Vec::new()
        }
    }
}
