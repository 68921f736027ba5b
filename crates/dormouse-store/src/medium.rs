//! Where the bytes of a log live: a file, or in tests something that fails on purpose.

use std::{
    fmt, fs, io,
    ops::Bound,
    path::{Path, PathBuf},
    sync::{
        Mutex, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
};

use dormouse_database::{FileStorage, FrozenFile, MeasuredStorage, StorageMeter};
use redb::StorageBackend;

#[cfg(test)]
pub(crate) mod flaky;

/// What the log has written since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteStats {
    /// Transactions committed. Several appends share one.
    pub commits: u64,
    /// Events written.
    pub events: u64,
    /// Times the operating system was asked to bring the file to the disk.
    pub syncs: u64,
}

/// Counters behind [`WriteStats`], shared by the writer thread and the storage below it.
#[derive(Debug, Default)]
pub(crate) struct Counters {
    commits: AtomicU64,
    events: AtomicU64,
    storage: StorageMeter,
    /// The syncs before the log was open.
    syncs_before: AtomicU64,
}

impl Counters {
    pub(crate) fn committed(&self, events: u64) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.events.fetch_add(events, Ordering::Relaxed);
    }

    /// Counts what passes through this backend.
    pub(crate) fn measure(&self, backend: Box<dyn StorageBackend>) -> MeasuredStorage {
        MeasuredStorage::new(backend, self.storage.clone())
    }

    /// The size of the file in bytes when it was last asked for or changed.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.storage.bytes()
    }

    pub(crate) fn stats(&self) -> WriteStats {
        WriteStats {
            commits: self.commits.load(Ordering::Relaxed),
            events: self.events.load(Ordering::Relaxed),
            syncs: (self.storage.syncs()).saturating_sub(self.syncs_before.load(Ordering::Relaxed)),
        }
    }

    /// Opening a file syncs it several times; what counts is what appends cost afterwards.
    pub(crate) fn reset(&self) {
        self.commits.store(0, Ordering::Relaxed);
        self.events.store(0, Ordering::Relaxed);
        self.syncs_before
            .store(self.storage.syncs(), Ordering::Relaxed);
    }
}

/// Gives out the storage of one log, anew for each time the database is opened on it.
pub(crate) trait Medium: fmt::Debug + Send + Sync {
    fn backend(&self) -> io::Result<Box<dyn StorageBackend>>;

    /// The same storage as it is now, for reading: nothing is written to it.
    fn view(&self) -> io::Result<Box<dyn StorageBackend>>;

    /// Memory for pages, in bytes. An assistant reads its past in order and writes at its end, so a larger cache
    /// buys little.
    fn cache_bytes(&self) -> usize {
        16 * 1024 * 1024
    }
}

/// A file on disk.
#[derive(Debug)]
pub(crate) struct FileMedium {
    pub(crate) path: PathBuf,
}

impl Medium for FileMedium {
    fn backend(&self) -> io::Result<Box<dyn StorageBackend>> {
        let file = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(&self.path)?;
        Ok(Box::new(FileStorage::new(&self.path, file)?))
    }

    fn view(&self) -> io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(FrozenFile::open(&self.path)?))
    }
}

/// A file on disk that is only read: each time as it is at that moment.
#[derive(Debug)]
pub(crate) struct FrozenMedium {
    path: PathBuf,
    /// What was opened to look at the header, for the first who asks.
    first: Mutex<Option<FrozenFile>>,
}

impl FrozenMedium {
    pub(crate) fn new(path: &Path, first: Option<FrozenFile>) -> Self {
        Self {
            path: path.to_owned(),
            first: Mutex::new(first),
        }
    }
}

impl Medium for FrozenMedium {
    fn backend(&self) -> io::Result<Box<dyn StorageBackend>> {
        let first = self
            .first
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take();
        let file = match first {
            Some(first) => first,
            None => FrozenFile::open(&self.path)?,
        };
        Ok(Box::new(file))
    }

    fn view(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.backend()
    }
}

/// The whole of the storage, as a lock.
pub(crate) const WHOLE: (Bound<u64>, Bound<u64>) = (Bound::Unbounded, Bound::Unbounded);
