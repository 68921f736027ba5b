use std::{fmt, fs::File, path::Path};

use dormouse_contracts::Timestamp;
use redb::{
    DatabaseError, ReadTransaction, ReadableDatabase, StorageBackend, StorageError,
    TransactionError, WriteTransaction,
};

use crate::{
    deferred::DeferredStorage,
    header::{self, Ending},
    kind::FileSignature,
    measured::{MeasuredStorage, StorageMeter},
    storage::FileStorage,
};

/// Files up to this size are checked at every opening, unless [`FileKind::check_up_to_bytes`] is less.
///
/// [`FileKind::check_up_to_bytes`]: crate::FileKind::check_up_to_bytes
const SHORT_BYTES: u64 = 4 << 20;

/// An open database. No other process can open its file while this value exists.
///
/// Dropping it closes the file. Closing writes to the file, but committed data are safe without that.
pub struct Database {
    redb: redb::Database,
    storage: DeferredStorage,
    meter: StorageMeter,
    large_bytes: u64,
}

impl fmt::Debug for Database {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Database")
            .field("bytes", &self.bytes())
            .finish_non_exhaustive()
    }
}

impl Database {
    /// Opens a database on storage that is not a file: memory, or in tests a backend that fails on purpose. Empty
    /// storage becomes a database of this kind, whose tables `initialise` creates in the first commit. Existing content
    /// is opened without a check.
    ///
    /// # Errors
    ///
    /// Any error of redb or of the storage.
    pub fn on(
        backend: impl StorageBackend,
        kind: &dyn FileSignature,
        initialise: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Self, redb::Error> {
        let is_new = backend.len().map_err(redb::Error::Io)? == 0;
        if !is_new {
            header::prepare(&backend).map_err(redb::Error::Io)?;
        }
        let database = Self::with_storage(Box::new(backend), kind, &StorageMeter::default())?;
        if is_new {
            database.commit_first(kind, Timestamp::EPOCH, initialise)?;
        }
        Ok(database)
    }

    /// Opens the content of `file`. Errors show `path` as its name. An empty file becomes an empty database.
    pub(crate) fn in_file(
        path: &Path,
        file: File,
        kind: &dyn FileSignature,
        meter: &StorageMeter,
    ) -> Result<Self, DatabaseError> {
        let storage = FileStorage::new(path, file).map_err(StorageError::from)?;
        Self::with_storage(Box::new(storage), kind, meter)
    }

    /// Opens the content of this storage. Nothing of it changes before the first transaction begins.
    pub(crate) fn with_storage(
        backend: Box<dyn StorageBackend>,
        kind: &dyn FileSignature,
        meter: &StorageMeter,
    ) -> Result<Self, DatabaseError> {
        let storage = DeferredStorage::new(MeasuredStorage::new(backend, meter.clone()));
        Self::deferred(storage, kind, meter)
    }

    /// Opens the content of this storage, which the meter measures.
    pub(crate) fn deferred(
        storage: DeferredStorage,
        kind: &dyn FileSignature,
        meter: &StorageMeter,
    ) -> Result<Self, DatabaseError> {
        let redb = redb::Database::builder()
            .set_cache_size(kind.cache_bytes())
            .create_with_backend(storage.clone())?;
        Ok(Self {
            redb,
            storage,
            meter: meter.clone(),
            large_bytes: kind.check_up_to_bytes(),
        })
    }

    /// Makes the first commit of a new file.
    pub(crate) fn commit_first(
        &self,
        kind: &dyn FileSignature,
        created_at: Timestamp,
        initialise: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<(), redb::Error> {
        let writing = begin_write(self)?;
        kind.write(&writing, created_at)?;
        initialise(&writing)?;
        Ok(writing.commit()?)
    }

    /// Checks every page, unless the file is large, or was closed properly and is not short. Returns `false` if the file was
    /// damaged and has been repaired.
    pub(crate) fn check(&mut self, ending: Ending) -> Result<bool, DatabaseError> {
        // Reading every page takes a millisecond per MiB, which would make opening slower the more a file holds.
        let is_skipped =
            self.is_large() || (ending == Ending::Closed && self.bytes() > SHORT_BYTES);
        if is_skipped {
            return Ok(true);
        }
        self.check_pages()
    }

    /// Checks every page. Returns `false` if the file was damaged and has been repaired.
    pub(crate) fn check_pages(&mut self) -> Result<bool, DatabaseError> {
        self.redb.check_integrity()
    }

    /// Lets redb write what it did when it opened the storage, and from now on everything. Closing the database then also
    /// writes what was committed [in memory](begin_write_in_memory). Does nothing after the first transaction of [`begin_write`].
    ///
    /// # Errors
    ///
    /// Any error of the storage.
    pub fn begin_writing(&self) -> Result<(), redb::Error> {
        self.storage.begin().map_err(redb::Error::Io)
    }

    /// Begins a transaction that reads the current commit. Later commits do not affect the transaction.
    ///
    /// # Errors
    ///
    /// Any error of redb. After a disk failure every call fails.
    pub fn begin_read(&self) -> Result<ReadTransaction, TransactionError> {
        self.redb.begin_read()
    }

    /// The length of the file in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.meter.bytes()
    }

    fn is_large(&self) -> bool {
        self.bytes() > self.large_bytes
    }
}

/// Begins a transaction with a two-phase commit. The first one also marks the file as open. Without the second phase, the next opening could not distinguish a
/// damaged newest commit from one that a crash left unfinished, and would not report the damage. In a large file
/// ([`FileKind::check_up_to_bytes`]) the commit also records which pages are in use. Waits while another transaction is
/// being written.
///
/// # Errors
///
/// Any error of redb. After a disk failure every call fails.
///
/// [`FileKind::check_up_to_bytes`]: crate::FileKind::check_up_to_bytes
pub fn begin_write(database: &Database) -> Result<WriteTransaction, redb::Error> {
    database.begin_writing()?;
    let mut writing = database.redb.begin_write()?;
    writing.set_two_phase_commit(true);
    writing.set_quick_repair(database.is_large());
    Ok(writing)
}

/// Begins a transaction whose commit stays in memory until the next commit of a transaction of [`begin_write`], which is on disk
/// together with all before it. Everybody who reads the database here sees it at once. If nothing was written before, nothing is
/// written now, either, and closing the database loses the commit unless [`Database::begin_writing`] was called. Waits while
/// another transaction is being written.
///
/// # Errors
///
/// Any error of redb. After a disk failure every call fails.
pub fn begin_write_in_memory(database: &Database) -> Result<WriteTransaction, redb::Error> {
    let mut writing = database.redb.begin_write()?;
    writing.set_durability(redb::Durability::None)?;
    Ok(writing)
}
