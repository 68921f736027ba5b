//! The file from which everything else can be made again: records, changes, entities and vectors, on redb.

mod fault;
mod reading;
mod row;
pub(crate) mod tables;
mod writing;

use std::{
    convert::Infallible,
    error::Error,
    path::{Path, PathBuf},
    sync::{
        PoisonError, RwLock, RwLockReadGuard,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
};

use dormouse_contracts::{AssistantId, BoxError};
use dormouse_database::{self as database, Database, DatabaseOpenError, DatabaseView};
use redb::WriteTransaction;

pub(crate) use fault::{Abort, Fault, WriteError};
pub use fault::{StoreError, StoreErrorKind};
pub(crate) use reading::Reading;
use tables::{
    ASSISTANT, BY_EVENT, CHANGES, ENTITIES, FILE_ID, HISTORY, KIND, LABELS, RECORDS, REVERTED,
    SOURCES, SPACES, STATE, VECTORS,
};
pub(crate) use writing::{Cause, Writing};

/// A memory's file.
#[derive(Debug)]
pub(crate) struct Store {
    place: Place,
    slot: RwLock<Slot>,
    /// Whether the log that the memory follows has everything that is written. Then a commit has only one phase. If the
    /// newest commit is damaged later, the next opening takes it for unfinished, and the memory takes in its events
    /// once more.
    follows_log: AtomicBool,
    /// Whether commits are in memory that are not on disk yet.
    is_ahead: AtomicBool,
    /// How many times a failure closed the database, which loses what was only in memory.
    closed: AtomicU64,
}

/// When what is written is on disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OnDisk {
    /// When writing returns.
    Now,
    /// With the next write that is on disk, or when the memory is closed. Only for what a log has.
    Later,
}

/// The state of the database.
#[derive(Debug)]
enum Slot {
    Open(Database),
    /// The file cannot be opened for writing at the moment; this is a view of it.
    Viewed(Database),
    /// Closed by a failure; the next use opens it again.
    Closed,
}

/// How the database is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

impl Slot {
    fn database(&self, access: Access) -> Option<&Database> {
        match self {
            Self::Open(database) => Some(database),
            Self::Viewed(view) => (access == Access::Read).then_some(view),
            Self::Closed => None,
        }
    }
}

#[derive(Debug)]
enum Place {
    File(PathBuf),
    /// A view of a file, and whether another process had it open.
    View(PathBuf, bool),
    Memory,
}

impl Store {
    /// Opens the file. Makes it for this assistant if there is none.
    pub(crate) fn open(path: &Path, assistant: &AssistantId) -> Result<Self, DatabaseOpenError> {
        let database = database::open(path, &KIND, |writing| initialise(writing, assistant))?;
        Ok(Self::of(Place::File(path.to_owned()), Slot::Open(database)))
    }

    fn of(place: Place, slot: Slot) -> Self {
        Self {
            place,
            slot: RwLock::new(slot),
            follows_log: AtomicBool::new(false),
            is_ahead: AtomicBool::new(false),
            closed: AtomicU64::new(0),
        }
    }

    /// Opens an existing file.
    pub(crate) fn open_existing(path: &Path) -> Result<Self, DatabaseOpenError> {
        let database = database::open_existing(path, &KIND)?;
        Ok(Self::of(Place::File(path.to_owned()), Slot::Open(database)))
    }

    /// Opens the newest commit of an existing file. Neither the file nor its folder is written.
    pub(crate) fn open_view(path: &Path) -> Result<Self, DatabaseOpenError> {
        let DatabaseView {
            database,
            is_in_use,
        } = database::open_view(path, &KIND)?;
        let place = Place::View(path.to_owned(), is_in_use);
        Ok(Self::of(place, Slot::Open(database)))
    }

    /// For a view, whether another process had the file open; `None` otherwise.
    pub(crate) fn view(&self) -> Option<bool> {
        match &self.place {
            Place::View(_, is_in_use) => Some(*is_in_use),
            Place::File(_) | Place::Memory => None,
        }
    }

    /// Fails for a view, which cannot be changed.
    pub(crate) fn check_writable(&self) -> Result<(), StoreError> {
        match &self.place {
            Place::View(..) => Err(self.error(Fault::View)),
            Place::File(_) | Place::Memory => Ok(()),
        }
    }

    /// A store without a file.
    pub(crate) fn ephemeral(assistant: &AssistantId) -> Result<Self, StoreError> {
        let store = Self::of(Place::Memory, Slot::Closed);
        let made = database::contained(|| {
            let backend = redb::backends::InMemoryBackend::new();
            Database::on(backend, &KIND, |writing| initialise(writing, assistant))
        });
        let database = made.map_err(|fault| store.error(fault.into()))?;
        Ok(Self::of(Place::Memory, Slot::Open(database)))
    }

    /// The file's path; `None` for a store without one.
    pub(crate) fn path(&self) -> Option<&Path> {
        match &self.place {
            Place::File(path) | Place::View(path, _) => Some(path),
            Place::Memory => None,
        }
    }

    /// From now on a log has everything that is written.
    pub(crate) fn follow_log(&self) {
        self.follows_log.store(true, Ordering::Relaxed);
    }

    pub(crate) fn follows_log(&self) -> bool {
        self.follows_log.load(Ordering::Relaxed)
    }

    /// How many times a failure closed the database. What was only in memory is lost each time.
    pub(crate) fn closed(&self) -> u64 {
        self.closed.load(Ordering::Relaxed)
    }

    /// Writes what is only in memory.
    pub(crate) fn persist(&self) -> Result<(), StoreError> {
        if !self.is_ahead.load(Ordering::Relaxed) {
            return Ok(());
        }
        match self.write(|_writing| Ok::<_, Abort<Infallible>>(())) {
            Ok(()) => Ok(()),
            Err(WriteError::Store(error)) => Err(error),
            Err(WriteError::Refused(never)) => match never {},
        }
    }

    /// Lets the closing of the file write what is only in memory.
    pub(crate) fn persist_when_closed(&self) -> Result<(), StoreError> {
        let guard = self.slot.read().unwrap_or_else(PoisonError::into_inner);
        match guard.database(Access::Write) {
            Some(database) if self.is_ahead.load(Ordering::Relaxed) => {
                let begun = database.begin_writing().map_err(Fault::from);
                begun.map_err(|fault| self.error(fault))
            }
            _ => Ok(()),
        }
    }

    /// Does `work` in one transaction: all of it is on disk when this returns, or nothing of it ever is.
    pub(crate) fn write<T, E>(
        &self,
        work: impl FnOnce(&mut Writing<'_>) -> Result<T, Abort<E>>,
    ) -> Result<T, WriteError<E>> {
        self.write_on(OnDisk::Now, work)
    }

    /// Does `work` in one transaction: all of it or nothing of it.
    pub(crate) fn write_on<T, E>(
        &self,
        on_disk: OnDisk,
        work: impl FnOnce(&mut Writing<'_>) -> Result<T, Abort<E>>,
    ) -> Result<T, WriteError<E>> {
        let outcome = {
            let guard = self.opened(Access::Write).map_err(WriteError::Store)?;
            let Some(database) = guard.database(Access::Write) else {
                return Err(WriteError::Store(
                    self.error(Fault::Inconsistent("it is closed")),
                ));
            };
            let mut refused = None;
            let done = database::contained(|| {
                let transaction = match on_disk {
                    OnDisk::Later => database::begin_write_in_memory(database)?,
                    OnDisk::Now => {
                        let mut transaction = database::begin_write(database)?;
                        transaction.set_two_phase_commit(!self.follows_log());
                        transaction
                    }
                };
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
                        let is_ahead = on_disk == OnDisk::Later;
                        self.is_ahead.store(is_ahead, Ordering::Relaxed);
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
                (Ok(None), None) => Fault::Inconsistent("a transaction ended without an outcome"),
                (Err(fault), _) => fault.into(),
            }
        };
        Err(WriteError::Store(self.give_up(outcome)))
    }

    /// Reads one consistent state of the store.
    pub(crate) fn read<T>(
        &self,
        work: impl FnOnce(&Reading) -> Result<T, Fault>,
    ) -> Result<T, StoreError> {
        let fault = {
            let guard = self.opened(Access::Read)?;
            let Some(database) = guard.database(Access::Read) else {
                return Err(self.error(Fault::Inconsistent("it is closed")));
            };
            let mut failed = None;
            let done = database::contained(|| {
                let read = Reading::begin(database).and_then(|reading| work(&reading));
                Ok(read.map_err(|fault| failed = Some(fault)).ok())
            });
            match (done, failed) {
                (Ok(Some(value)), _) => return Ok(value),
                (Ok(None), Some(fault)) => fault,
                (Ok(None), None) => Fault::Inconsistent("a reading ended without an outcome"),
                (Err(fault), _) => fault.into(),
            }
        };
        Err(match fault.kind() {
            StoreErrorKind::Disk => self.give_up(fault),
            StoreErrorKind::Damaged | StoreErrorKind::ReadOnly => self.error(fault),
        })
    }

    /// The database. If an earlier failure closed it, it is opened again. While it cannot be opened for writing, readers get
    /// a view.
    fn opened(&self, access: Access) -> Result<RwLockReadGuard<'_, Slot>, StoreError> {
        {
            let guard = self.slot.read().unwrap_or_else(PoisonError::into_inner);
            if guard.database(access).is_some() {
                return Ok(guard);
            }
        }
        if let Place::File(path) = &self.place {
            let mut guard = self.slot.write().unwrap_or_else(PoisonError::into_inner);
            if guard.database(access).is_none() {
                match (database::open_existing(path, &KIND), access) {
                    (Ok(database), _) => *guard = Slot::Open(database),
                    (Err(error), Access::Write) => return Err(unopened(error)),
                    (Err(error), Access::Read) => {
                        let view = database::open_view(path, &KIND);
                        // The first error is reported: why the file cannot be written says more than that it cannot
                        // be read either.
                        let view = view.map_err(|_unreadable| unopened(error))?;
                        *guard = Slot::Viewed(view.database);
                    }
                }
            }
        }
        Ok(self.slot.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Closes the database after a failure of the disk: redb refuses everything until it is opened again.
    fn give_up(&self, fault: Fault) -> StoreError {
        let is_file = matches!(self.place, Place::File(_));
        let is_over = is_file && matches!(fault, Fault::Database(_));
        let error = self.error(fault);
        if is_over {
            tracing::warn!(
                error = &error as &dyn Error,
                "the next use opens the memory again and takes in what waits in the log"
            );
            let mut guard = self.slot.write().unwrap_or_else(PoisonError::into_inner);
            let closed = std::mem::replace(&mut *guard, Slot::Closed);
            self.closed.fetch_add(1, Ordering::Relaxed);
            self.is_ahead.store(false, Ordering::Relaxed);
            drop(database::contained(|| {
                drop(closed);
                Ok(())
            }));
        }
        error
    }

    /// Fails as after an error of the disk.
    #[cfg(test)]
    pub(crate) fn fail(&self) -> StoreError {
        self.give_up(Fault::Database(database::DatabaseFault::Closed))
    }

    /// The content of the file cannot be used.
    pub(crate) fn unusable(&self, source: BoxError) -> StoreError {
        StoreError {
            path: self.path().unwrap_or(Path::new("(not on disk)")).to_owned(),
            kind: StoreErrorKind::Damaged,
            source,
        }
    }

    fn error(&self, fault: Fault) -> StoreError {
        StoreError {
            path: self.path().unwrap_or(Path::new("(not on disk)")).to_owned(),
            kind: fault.kind(),
            source: Box::new(fault),
        }
    }
}

fn unopened(error: DatabaseOpenError) -> StoreError {
    StoreError {
        path: error.path().to_owned(),
        kind: StoreErrorKind::Disk,
        source: Box::new(error),
    }
}

fn initialise(writing: &WriteTransaction, assistant: &AssistantId) -> Result<(), redb::Error> {
    writing.open_table(STATE)?;
    let mut labels = writing.open_table(LABELS)?;
    labels.insert(FILE_ID, database::unique_id().as_str())?;
    labels.insert(ASSISTANT, assistant.as_str())?;
    writing.open_table(CHANGES)?;
    writing.open_table(RECORDS)?;
    writing.open_table(HISTORY)?;
    writing.open_table(BY_EVENT)?;
    writing.open_table(REVERTED)?;
    writing.open_table(SOURCES)?;
    writing.open_table(ENTITIES)?;
    writing.open_table(SPACES)?;
    writing.open_table(VECTORS)?;
    Ok(())
}

#[cfg(test)]
mod tests;
