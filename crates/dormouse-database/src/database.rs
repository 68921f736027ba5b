use std::{fmt, fs::File};

use redb::{
    DatabaseError, ReadTransaction, ReadableDatabase, StorageBackend, TransactionError,
    WriteTransaction, backends::FileBackend,
};

use crate::{
    kind::FileKind,
    measured::{Length, Measured},
};

/// An open database. While it lives, nobody else can open its file.
///
/// Dropping it closes the file, which writes; what was committed is safe without that.
pub struct Database {
    redb: redb::Database,
    length: Length,
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
    /// Opens a database on storage that is no file: memory, or in tests something that fails on purpose. Empty storage
    /// becomes a file of this kind, with what `initialise` lays down in its first commit; what is there already is
    /// opened without any check.
    ///
    /// # Errors
    ///
    /// Whatever the database library or the storage says.
    pub fn on(
        backend: impl StorageBackend,
        kind: &FileKind,
        initialise: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<Self, redb::Error> {
        let is_new = backend.len().map_err(redb::Error::Io)? == 0;
        let database = Self::lay(backend, kind)?;
        if is_new {
            database.found(kind, initialise)?;
        }
        Ok(database)
    }

    /// Opens what is in `file`; an empty one becomes an empty database.
    pub(crate) fn in_file(file: File, kind: &FileKind) -> Result<Self, DatabaseError> {
        Self::lay(FileBackend::new(file)?, kind)
    }

    fn lay(backend: impl StorageBackend, kind: &FileKind) -> Result<Self, DatabaseError> {
        let length = Length::default();
        let redb = redb::Database::builder()
            .set_cache_size(kind.cache_bytes)
            .create_with_backend(Measured::new(backend, length.clone()))?;
        Ok(Self {
            redb,
            length,
            large_bytes: kind.check_up_to_bytes,
        })
    }

    /// The first commit of a new file.
    pub(crate) fn found(
        &self,
        kind: &FileKind,
        initialise: impl FnOnce(&WriteTransaction) -> Result<(), redb::Error>,
    ) -> Result<(), redb::Error> {
        let writing = begin_write(self)?;
        kind.state(&writing)?;
        initialise(&writing)?;
        Ok(writing.commit()?)
    }

    /// Checks every page, unless the file is large; `false` if it was damaged and has been set back.
    pub(crate) fn check(&mut self) -> Result<bool, DatabaseError> {
        if self.is_large() {
            return Ok(true);
        }
        self.redb.check_integrity()
    }

    /// Begins to read what is committed now. Later commits do not disturb it.
    ///
    /// # Errors
    ///
    /// Whatever the database library says; after a failure of the disk that is all it will say.
    pub fn begin_read(&self) -> Result<ReadTransaction, TransactionError> {
        self.redb.begin_read()
    }

    /// The length of the file in bytes.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.length.bytes()
    }

    fn is_large(&self) -> bool {
        self.bytes() > self.large_bytes
    }
}

/// Begins a transaction whose commit reaches the disk in two phases: a damaged newest commit is then an error at the next
/// opening, and never taken for one that a crash left unfinished. In a large file ([`FileKind::check_up_to_bytes`]) the
/// commit also records which pages are in use. Waits while another transaction is being written.
///
/// # Errors
///
/// Whatever the database library says; after a failure of the disk that is all it will say.
pub fn begin_write(database: &Database) -> Result<WriteTransaction, redb::Error> {
    let mut writing = database.redb.begin_write()?;
    writing.set_two_phase_commit(true);
    writing.set_quick_repair(database.is_large());
    Ok(writing)
}
