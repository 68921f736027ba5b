//! Where the bytes of a log live: a file, or in tests something that fails on purpose.

use std::{
    fmt, fs, io,
    ops::Bound,
    path::PathBuf,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use redb::{BackendError, StorageBackend, backends::FileBackend};

#[cfg(test)]
pub(crate) mod flaky;
pub(crate) mod overlay;

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
    syncs: AtomicU64,
    length: AtomicU64,
}

impl Counters {
    pub(crate) fn committed(&self, events: u64) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.events.fetch_add(events, Ordering::Relaxed);
    }

    /// The size of the file in bytes when it was last asked for or changed.
    pub(crate) fn file_bytes(&self) -> u64 {
        self.length.load(Ordering::Relaxed)
    }

    pub(crate) fn stats(&self) -> WriteStats {
        WriteStats {
            commits: self.commits.load(Ordering::Relaxed),
            events: self.events.load(Ordering::Relaxed),
            syncs: self.syncs.load(Ordering::Relaxed),
        }
    }

    /// Opening a file syncs it several times; what counts is what appends cost afterwards.
    pub(crate) fn reset(&self) {
        self.commits.store(0, Ordering::Relaxed);
        self.events.store(0, Ordering::Relaxed);
        self.syncs.store(0, Ordering::Relaxed);
    }
}

/// Gives out the storage of one log, anew for each time the database is opened on it.
pub(crate) trait Medium: fmt::Debug + Send + Sync {
    fn backend(&self) -> io::Result<Box<dyn StorageBackend>>;

    /// Memory for pages, in bytes. An assistant reads its past in order and writes at its end, so a larger cache
    /// buys little.
    fn cache_bytes(&self) -> usize {
        64 * 1024 * 1024
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
        match FileBackend::new(file) {
            Ok(backend) => Ok(Box::new(backend)),
            Err(error) => Err(io::Error::other(error)),
        }
    }
}

/// Storage that counts what passes through it.
#[derive(Debug)]
pub(crate) struct Counted {
    inner: Box<dyn StorageBackend>,
    counters: Arc<Counters>,
}

impl Counted {
    pub(crate) fn new(inner: Box<dyn StorageBackend>, counters: Arc<Counters>) -> Self {
        Self { inner, counters }
    }
}

type Range = (Bound<u64>, Bound<u64>);

impl StorageBackend for Counted {
    fn len(&self) -> io::Result<u64> {
        let length = self.inner.len()?;
        self.counters.length.store(length, Ordering::Relaxed);
        Ok(length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.inner.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.inner.set_len(len)?;
        self.counters.length.store(len, Ordering::Relaxed);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.counters.syncs.fetch_add(1, Ordering::Relaxed);
        self.inner.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.inner.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.inner.close()
    }

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.inner.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.inner.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.inner.query_lock_range(start, end)
    }
}

/// The whole of the storage, as a lock.
pub(crate) const WHOLE: Range = (Bound::Unbounded, Bound::Unbounded);
