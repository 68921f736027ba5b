//! The file that everything else can be made of again: records, changes, entities and vectors, on redb.

mod reading;
mod row;
pub(crate) mod tables;
mod writing;

use std::{
    path::{Path, PathBuf},
    sync::{PoisonError, RwLock, RwLockReadGuard},
};

use dormouse_contracts::BoxError;
use dormouse_database::{self as database, Database, DatabaseFault, OpenError};
use redb::WriteTransaction;

pub(crate) use reading::Reading;
use tables::{
    CHANGES, ENTITIES, FILE_ID, HISTORY, KIND, LABELS, ORIGINS, RECORDS, REVERTED, SPACES, STATE,
    VECTORS,
};
pub(crate) use writing::Writing;

/// What went wrong with a memory's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreErrorKind {
    /// The disk is full or has failed. What was acknowledged is safe; the same write may succeed later.
    #[error("the disk refuses")]
    Disk,
    /// A record of the file makes no sense, or pages of it are damaged.
    #[error("the file is damaged: restore it from a copy, or export what can be read")]
    Damaged,
}

/// A failure of a memory's file.
#[derive(Debug, thiserror::Error)]
#[error("the memory's file {}: {kind}", path.display())]
pub struct StoreError {
    path: PathBuf,
    kind: StoreErrorKind,
    #[source]
    source: BoxError,
}

impl StoreError {
    pub(crate) fn disk(path: &Path, error: std::io::Error) -> Self {
        Self {
            path: path.to_owned(),
            kind: StoreErrorKind::Disk,
            source: error.into(),
        }
    }

    /// What a caller can act on.
    #[must_use]
    pub fn kind(&self) -> StoreErrorKind {
        self.kind
    }
}

/// A failure inside of a transaction, before it has a path.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Fault {
    #[error("the database failed")]
    Database(#[from] DatabaseFault),
    #[error("a row of the file makes no sense")]
    Row(#[from] serde_json::Error),
    #[error("a row of the file is not as it was written")]
    Checksum,
    #[error("{0}")]
    Refers(&'static str),
    #[error("the copy of the search index cannot be removed")]
    Copy(#[from] std::io::Error),
}

macro_rules! from_redb {
    ($($error:ident),*) => {$(
        impl From<redb::$error> for Fault {
            fn from(error: redb::$error) -> Self {
                Self::Database(redb::Error::from(error).into())
            }
        }
    )*};
}
from_redb!(StorageError, TableError, TransactionError, CommitError);

impl From<redb::Error> for Fault {
    fn from(error: redb::Error) -> Self {
        Self::Database(error.into())
    }
}

impl Fault {
    fn kind(&self) -> StoreErrorKind {
        match self {
            Self::Copy(_) => StoreErrorKind::Disk,
            Self::Database(fault) if fault.is_disk() => StoreErrorKind::Disk,
            Self::Database(_) | Self::Row(_) | Self::Checksum | Self::Refers(_) => {
                StoreErrorKind::Damaged
            }
        }
    }
}

/// What a closure of a transaction may fail with: a fault of the file, or a refusal of its own.
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

/// A memory's file.
#[derive(Debug)]
pub(crate) struct Store {
    place: Place,
    /// `None` after a failure of the disk, until the next use opens it again.
    database: RwLock<Option<Database>>,
}

#[derive(Debug)]
enum Place {
    File(PathBuf),
    Memory,
}

impl Store {
    /// Opens the file, making it first if there is none. `id` names the file if it is made.
    pub(crate) fn open(path: &Path, id: &str) -> Result<Self, OpenError> {
        let database = database::open(path, &KIND, |writing| initialise(writing, id))?;
        Ok(Self {
            place: Place::File(path.to_owned()),
            database: RwLock::new(Some(database)),
        })
    }

    /// Opens a file that is there.
    pub(crate) fn open_existing(path: &Path) -> Result<Self, OpenError> {
        let database = database::open_existing(path, &KIND)?;
        Ok(Self {
            place: Place::File(path.to_owned()),
            database: RwLock::new(Some(database)),
        })
    }

    /// A store that is gone when it is dropped.
    pub(crate) fn ephemeral(id: &str) -> Result<Self, StoreError> {
        let store = Self {
            place: Place::Memory,
            database: RwLock::new(None),
        };
        let made = database::contained(|| {
            let backend = redb::backends::InMemoryBackend::new();
            Database::on(backend, &KIND, |writing| initialise(writing, id))
        });
        let database = made.map_err(|fault| store.error(fault.into()))?;
        Ok(Self {
            place: Place::Memory,
            database: RwLock::new(Some(database)),
        })
    }

    /// The file's path; `None` for a store without one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::File(path) => Some(path),
            Place::Memory => None,
        }
    }

    /// Carries out `work` in one transaction: all of it is on disk when this returns, or nothing of it ever is.
    pub(crate) fn write<T, E>(
        &self,
        work: impl FnOnce(&mut Writing<'_>) -> Result<T, Abort<E>>,
    ) -> Result<T, WriteError<E>> {
        let outcome = {
            let guard = self.opened().map_err(WriteError::Store)?;
            let Some(database) = guard.as_ref() else {
                return Err(WriteError::Store(self.error(Fault::Refers("it is closed"))));
            };
            let mut refused = None;
            let done = database::contained(|| {
                let transaction = database::begin_write(database)?;
                let mut writing = match Writing::begin(&transaction) {
                    Ok(writing) => writing,
                    Err(fault) => {
                        refused = Some(Abort::Fault(fault));
                        return Ok(None);
                    }
                };
                let made = work(&mut writing);
                drop(writing);
                match made {
                    Ok(value) => {
                        transaction.commit()?;
                        Ok(Some(value))
                    }
                    Err(abort) => {
                        refused = Some(abort);
                        transaction.abort()?;
                        Ok(None)
                    }
                }
            });
            match (done, refused) {
                (Ok(Some(value)), _) => return Ok(value),
                (Ok(None), Some(Abort::Refused(refusal))) => {
                    return Err(WriteError::Refused(refusal));
                }
                (Ok(None), Some(Abort::Fault(fault))) => fault,
                (Ok(None), None) => Fault::Refers("a transaction ended without an outcome"),
                (Err(fault), _) => fault.into(),
            }
        };
        Err(WriteError::Store(self.give_up(outcome)))
    }

    /// Looks at one consistent state of the store.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Reading) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let guard = self.opened()?;
        let Some(database) = guard.as_ref() else {
            return Err(self.error(Fault::Refers("it is closed")));
        };
        let mut failed = None;
        let done = database::contained(|| {
            let reading = match Reading::begin(database) {
                Ok(reading) => reading,
                Err(fault) => {
                    failed = Some(fault);
                    return Ok(None);
                }
            };
            match work(&reading) {
                Ok(value) => Ok(Some(value)),
                Err(fault) => {
                    failed = Some(fault);
                    Ok(None)
                }
            }
        });
        match (done, failed) {
            (Ok(Some(value)), _) => Ok(value),
            (Ok(None), Some(fault)) => Err(self.error(fault)),
            (Ok(None), None) => {
                Err(self.error(Fault::Refers("a reading ended without an outcome")))
            }
            (Err(fault), _) => Err(self.error(fault.into())),
        }
    }

    /// The database, opened again if an earlier failure closed it.
    fn opened(&self) -> Result<RwLockReadGuard<'_, Option<Database>>, StoreError> {
        {
            let guard = self.database.read().unwrap_or_else(PoisonError::into_inner);
            if guard.is_some() {
                return Ok(guard);
            }
        }
        if let Place::File(path) = &self.place {
            let mut guard = self
                .database
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            if guard.is_none() {
                let opened = database::open_existing(path, &KIND);
                *guard = Some(opened.map_err(|error| StoreError {
                    path: path.clone(),
                    kind: StoreErrorKind::Disk,
                    source: Box::new(error),
                })?);
            }
        }
        Ok(self.database.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// After a failure of the disk the database refuses everything until it is opened again.
    fn give_up(&self, fault: Fault) -> StoreError {
        if let (Place::File(_), Fault::Database(_)) = (&self.place, &fault) {
            let mut guard = self
                .database
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            let closed = guard.take();
            drop(database::contained(|| {
                drop(closed);
                Ok(())
            }));
        }
        self.error(fault)
    }

    fn error(&self, fault: Fault) -> StoreError {
        StoreError {
            path: self.path().unwrap_or(Path::new("(not on disk)")).to_owned(),
            kind: fault.kind(),
            source: Box::new(fault),
        }
    }
}

/// Why a transaction of [`Store::write`] changed nothing.
#[derive(Debug)]
pub(crate) enum WriteError<E> {
    Store(StoreError),
    Refused(E),
}

fn initialise(writing: &WriteTransaction, id: &str) -> Result<(), redb::Error> {
    writing.open_table(STATE)?;
    writing.open_table(LABELS)?.insert(FILE_ID, id)?;
    writing.open_table(CHANGES)?;
    writing.open_table(RECORDS)?;
    writing.open_table(HISTORY)?;
    writing.open_table(REVERTED)?;
    writing.open_table(ORIGINS)?;
    writing.open_table(ENTITIES)?;
    writing.open_table(SPACES)?;
    writing.open_table(VECTORS)?;
    Ok(())
}
