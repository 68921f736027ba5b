//! A database that can be opened again after a failure of the disk.

use std::{
    fmt, io,
    path::{Path, PathBuf},
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use dormouse_contracts::Timestamp;
use redb::{ReadTransaction, StorageBackend, WriteTransaction};

use crate::{
    database::{Database, begin_write},
    error::{DatabaseOpenError, FileSubject},
    fault::{DatabaseFault, catch_panic},
    kind::FileSignature,
    measured::StorageMeter,
    open,
    pending::{self, PendingCommits, PendingTarget},
};

/// Storage that is not a file: memory, or in tests a disk that fails on purpose. The content outlives a database that
/// is closed, so a database can be opened again on the same source.
pub trait DatabaseSource: fmt::Debug + Send + Sync {
    /// Storage for reading and writing.
    ///
    /// # Errors
    ///
    /// Any error of the storage.
    fn open(&self) -> io::Result<Box<dyn StorageBackend>>;

    /// Returns a snapshot of the content. Writes to the snapshot do not reach the source.
    ///
    /// # Errors
    ///
    /// Any error of the storage.
    fn snapshot(&self) -> io::Result<Box<dyn StorageBackend>>;

    /// The commits that are not in the storage yet; `None` if there are never any.
    fn pending_commits(&self) -> Option<Box<dyn PendingCommits>> {
        None
    }
}

/// An open database that can be opened again after a failure.
///
/// redb refuses all work after one failed read or write, and only the file shows whether a failed commit took effect.
/// So the owner of the handle calls [`reopen`](Self::reopen) after a failure. While the database cannot be opened for
/// writing, because the disk is full for example, readers get a snapshot.
///
/// # Examples
///
/// ```
/// use dormouse_database::{DatabaseFault, DatabaseHandle, FileKind};
/// use redb::TableDefinition;
///
/// const DIARY: FileKind = FileKind {
///     what: "a diary",
///     name: "diary",
///     format: 1,
///     cache_bytes: 4 << 20,
///     check_up_to_bytes: 64 << 20,
/// };
/// const DAYS: TableDefinition<'_, u64, &str> = TableDefinition::new("days");
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("diary.redb");
/// let diary = DatabaseHandle::open(&path, &DIARY, |writing| Ok(drop(writing.open_table(DAYS)?)))?;
/// let written = diary.write(|writing| {
///     writing.open_table(DAYS).map_err(redb::Error::from)?.insert(1, "Tea.").map_err(redb::Error::from)?;
///     Ok::<(), DatabaseFault>(writing.commit().map_err(redb::Error::from)?)
/// });
/// if written.is_err() {
///     diary.reopen()?;
/// }
/// assert!(diary.begin_read()?.open_table(DAYS)?.get(1)?.is_some());
/// # Ok(()) }
/// ```
pub struct DatabaseHandle {
    source: Source,
    kind: &'static dyn FileSignature,
    meter: StorageMeter,
    slot: RwLock<Slot>,
}

#[derive(Debug)]
enum Source {
    File(PathBuf),
    /// Snapshots of a file. The flag says whether another process had the file open when the handle was opened.
    View(PathBuf, bool),
    Other(Box<dyn DatabaseSource>),
}

/// The state of the handle.
enum Slot {
    Open(Database),
    /// A failure closed the database, and it could not be opened again.
    Failed {
        cause: Arc<DatabaseOpenError>,
        /// A snapshot of the file. Readers use it while the file cannot be opened for writing.
        snapshot: Option<Database>,
    },
    Closed,
}

impl Slot {
    fn writable(&self) -> Result<&Database, DatabaseFault> {
        match self {
            Self::Open(database) => Ok(database),
            Self::Failed { cause, .. } => Err(DatabaseFault::Unavailable(Arc::clone(cause))),
            Self::Closed => Err(DatabaseFault::Closed),
        }
    }

    fn readable(&self) -> Result<&Database, DatabaseFault> {
        match self {
            Self::Failed {
                snapshot: Some(snapshot),
                ..
            } => Ok(snapshot),
            Self::Open(_) | Self::Failed { .. } | Self::Closed => self.writable(),
        }
    }
}

impl fmt::Debug for DatabaseHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DatabaseHandle")
            .field("source", &self.source)
            .finish_non_exhaustive()
    }
}

impl Source {
    /// The name of the storage in errors.
    fn path(&self) -> &Path {
        match self {
            Self::File(path) | Self::View(path, _) => path,
            Self::Other(_) => Path::new("(not a file)"),
        }
    }

    fn open(
        &self,
        kind: &dyn FileSignature,
        meter: &StorageMeter,
    ) -> Result<Database, DatabaseOpenError> {
        let path = self.path();
        let subject = FileSubject { path, kind };
        match self {
            Self::File(_) => open::open_file(subject, meter),
            Self::View(..) => self.snapshot(kind),
            Self::Other(source) => {
                let backend = source.open().map_err(|error| subject.io(error))?;
                let database = open::open_storage(subject, backend, meter)?;
                with_pending(subject, database, &**source, PendingTarget::File)
            }
        }
    }

    fn snapshot(&self, kind: &dyn FileSignature) -> Result<Database, DatabaseOpenError> {
        let path = self.path();
        let subject = FileSubject { path, kind };
        match self {
            Self::File(_) | Self::View(..) => Ok(open::view_file(subject)?.database),
            Self::Other(source) => {
                let backend = source.snapshot().map_err(|error| subject.io(error))?;
                let database = open::view_storage(subject, backend)?;
                with_pending(subject, database, &**source, PendingTarget::Copy)
            }
        }
    }
}

impl DatabaseHandle {
    /// As [`open`](crate::open()).
    ///
    /// # Errors
    ///
    /// [`DatabaseOpenError`], except [`DatabaseOpenError::Absent`].
    pub fn open(
        path: &Path,
        kind: &'static dyn FileSignature,
        initialise: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Self, DatabaseOpenError> {
        let meter = StorageMeter::default();
        let subject = FileSubject { path, kind };
        let database = begun(subject, open::open_or_create(subject, &meter, initialise)?)?;
        Ok(Self::of(Source::File(path.into()), kind, meter, database))
    }

    /// As [`open_existing`](crate::open_existing).
    ///
    /// # Errors
    ///
    /// [`DatabaseOpenError`]; [`DatabaseOpenError::Absent`] if the file does not exist.
    pub fn open_existing(
        path: &Path,
        kind: &'static dyn FileSignature,
    ) -> Result<Self, DatabaseOpenError> {
        let meter = StorageMeter::default();
        let subject = FileSubject { path, kind };
        let database = begun(subject, open::open_file(subject, &meter)?)?;
        Ok(Self::of(Source::File(path.into()), kind, meter, database))
    }

    /// As [`open_view`](crate::open_view). [`reopen`](Self::reopen) moves the handle to the commit that is newest then.
    ///
    /// # Errors
    ///
    /// As [`open_view`](crate::open_view).
    pub fn open_view(
        path: &Path,
        kind: &'static dyn FileSignature,
    ) -> Result<Self, DatabaseOpenError> {
        let view = open::view_file(FileSubject { path, kind })?;
        let source = Source::View(path.into(), view.is_in_use);
        Ok(Self::of(
            source,
            kind,
            StorageMeter::default(),
            view.database,
        ))
    }

    /// Opens the content of a source, with the same checks as a file. An empty source becomes a database of this kind,
    /// and `initialise` creates its tables in the first commit.
    ///
    /// # Errors
    ///
    /// [`DatabaseOpenError`].
    pub fn on(
        source: Box<dyn DatabaseSource>,
        kind: &'static dyn FileSignature,
        initialise: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Self, DatabaseOpenError> {
        let meter = StorageMeter::default();
        let source = Source::Other(source);
        let subject = FileSubject {
            path: source.path(),
            kind,
        };
        let database = match &source {
            Source::Other(other) if is_empty(&**other).map_err(|error| subject.io(error))? => {
                let backend = other.open().map_err(|error| subject.io(error))?;
                let database = Database::with_storage(backend, kind, &meter);
                let database = database.map_err(|error| subject.unmade(error.into()))?;
                database
                    .commit_first(kind, Timestamp::EPOCH, initialise)
                    .map_err(|error| subject.unmade(error))?;
                database
            }
            _ => begun(subject, source.open(kind, &meter)?)?,
        };
        Ok(Self::of(source, kind, meter, database))
    }

    fn of(
        source: Source,
        kind: &'static dyn FileSignature,
        meter: StorageMeter,
        database: Database,
    ) -> Self {
        Self {
            source,
            kind,
            meter,
            slot: RwLock::new(Slot::Open(database)),
        }
    }

    /// Whether this is a view of a file that another process had open when the view was opened.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        matches!(self.source, Source::View(_, true))
    }

    /// Compares every page of a view with its checksum, also those that opening it did not check. Returns `false` if some do not
    /// match; then read nothing else from the view.
    ///
    /// Checks nothing and returns `true` for a database that is open for writing, and for a view of a file in use, whose pages
    /// may change meanwhile. Waits until nobody reads. Takes about a second per gigabyte.
    ///
    /// # Errors
    ///
    /// [`DatabaseFault`] if the view cannot be read, also because of damage.
    pub fn check_view(&self) -> Result<bool, DatabaseFault> {
        if !matches!(self.source, Source::View(_, false)) {
            return Ok(true);
        }
        let mut slot = self.slot.write().unwrap_or_else(PoisonError::into_inner);
        match &mut *slot {
            Slot::Open(database) => {
                let checked = catch_panic(|| database.check_pages())?;
                Ok(checked.map_err(redb::Error::from)?)
            }
            Slot::Failed { cause, .. } => Err(DatabaseFault::Unavailable(Arc::clone(cause))),
            Slot::Closed => Err(DatabaseFault::Closed),
        }
    }

    /// Returns the measurements of the storage since the handle was created. [`reopen`](Self::reopen) does not reset
    /// them.
    #[must_use]
    pub fn meter(&self) -> &StorageMeter {
        &self.meter
    }

    fn slot(&self) -> RwLockReadGuard<'_, Slot> {
        self.slot.read().unwrap_or_else(PoisonError::into_inner)
    }

    /// Begins to read the newest commit. Later commits and [`reopen`](Self::reopen) do not affect it. While the
    /// database cannot be opened for writing, this reads a snapshot.
    ///
    /// # Errors
    ///
    /// [`DatabaseFault`]. After a disk failure every call fails until the database is opened again.
    pub fn begin_read(&self) -> Result<ReadTransaction, DatabaseFault> {
        let slot = self.slot();
        let database = slot.readable()?;
        let begun = catch_panic(|| database.begin_read())?;
        Ok(begun.map_err(redb::Error::from)?)
    }

    /// Begins a transaction with [`begin_write`](crate::begin_write()) and runs `work` on it; `work` commits it or
    /// drops it. Nobody can reopen or close the database meanwhile. If `work` panics, this returns an error.
    ///
    /// # Errors
    ///
    /// [`DatabaseFault`] if the transaction cannot begin or `work` panics; otherwise the error of `work`.
    pub fn write<T, E: From<DatabaseFault>>(
        &self,
        work: impl FnOnce(WriteTransaction) -> Result<T, E>,
    ) -> Result<T, E> {
        let slot = self.slot();
        let database = slot.writable()?;
        catch_panic(|| work(begin_write(database).map_err(DatabaseFault::from)?))?
    }

    /// Closes the database and opens it again, with all checks of the first opening. If that fails but the file can
    /// still be read, readers get a snapshot. Waits until no transaction is being written.
    ///
    /// # Errors
    ///
    /// [`DatabaseFault::Unavailable`]; another call may succeed later. [`DatabaseFault::Closed`] after
    /// [`close`](Self::close).
    pub fn reopen(&self) -> Result<(), DatabaseFault> {
        let mut slot = self.slot.write().unwrap_or_else(PoisonError::into_inner);
        if matches!(*slot, Slot::Closed) {
            return Err(DatabaseFault::Closed);
        }
        // The old database must be closed first, because it locks the file. While nothing is open the slot says
        // `Closed`, but nobody sees that: the slot is locked.
        close(std::mem::replace(&mut *slot, Slot::Closed));
        let path = self.source.path();
        let subject = FileSubject {
            path,
            kind: self.kind,
        };
        let opened = self.source.open(self.kind, &self.meter);
        let opened = opened.and_then(|database| begun(subject, database));
        match opened {
            Ok(database) => {
                *slot = Slot::Open(database);
                Ok(())
            }
            Err(error) => {
                let cause = Arc::new(error);
                let snapshot = self.source.snapshot(self.kind).inspect_err(|error| {
                    tracing::warn!(
                        error = error as &dyn std::error::Error,
                        "a database cannot be opened, not even for reading"
                    );
                });
                *slot = Slot::Failed {
                    cause: Arc::clone(&cause),
                    snapshot: snapshot.ok(),
                };
                Err(DatabaseFault::Unavailable(cause))
            }
        }
    }

    /// Closes the database for good. Waits until no transaction is being written; dropping the handle does the same.
    pub fn close(&self) {
        let mut slot = self.slot.write().unwrap_or_else(PoisonError::into_inner);
        close(std::mem::replace(&mut *slot, Slot::Closed));
    }
}

impl Drop for DatabaseHandle {
    fn drop(&mut self) {
        self.close();
    }
}

/// A handle is opened to write, so its opening fails if writing is impossible.
fn begun(subject: FileSubject<'_>, database: Database) -> Result<Database, DatabaseOpenError> {
    let begun = catch_panic(|| database.begin_writing());
    let begun = begun.map_err(|panic| subject.damaged(panic))?;
    begun.map_err(|error| subject.unopened(error))?;
    Ok(database)
}

/// The database with the pending commits of its source.
fn with_pending(
    subject: FileSubject<'_>,
    database: Database,
    source: &dyn DatabaseSource,
    target: PendingTarget,
) -> Result<Database, DatabaseOpenError> {
    let Some(pending) = source.pending_commits() else {
        return Ok(database);
    };
    let read = pending.read().map_err(|error| subject.io(error))?;
    pending::bring_in(subject, database, &*pending, read.as_deref(), target)
}

fn is_empty(source: &dyn DatabaseSource) -> io::Result<bool> {
    Ok(source.snapshot()?.len()? == 0)
}

/// Closing a database writes, so it can fail. A file that was not closed is repaired by the next opening.
fn close(slot: Slot) {
    if let Err(fault) = catch_panic(|| drop(slot)) {
        tracing::warn!(%fault, "a database was not closed; the next opening repairs it");
    }
}
