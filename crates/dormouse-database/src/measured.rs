//! Storage that records its length and how often it is synced.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use redb::StorageBackend;

use crate::forward::forward_locks;

/// Measurements of a storage. All clones show the same storage.
#[derive(Clone, Debug, Default)]
pub struct StorageMeter(Arc<Observed>);

#[derive(Debug, Default)]
struct Observed {
    bytes: AtomicU64,
    syncs: AtomicU64,
}

impl StorageMeter {
    /// The length in bytes, as it was last read or changed.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.0.bytes.load(Ordering::Relaxed)
    }

    /// How often the storage was synced to the disk.
    #[must_use]
    pub fn syncs(&self) -> u64 {
        self.0.syncs.load(Ordering::Relaxed)
    }

    fn set_bytes(&self, bytes: u64) {
        self.0.bytes.store(bytes, Ordering::Relaxed);
    }
}

/// A backend that reports to a [`StorageMeter`].
#[derive(Debug)]
pub(crate) struct MeasuredStorage {
    backend: Box<dyn StorageBackend>,
    meter: StorageMeter,
}

impl MeasuredStorage {
    /// Measures this backend.
    pub(crate) fn new(backend: Box<dyn StorageBackend>, meter: StorageMeter) -> Self {
        Self { backend, meter }
    }
}

impl StorageBackend for MeasuredStorage {
    fn len(&self) -> io::Result<u64> {
        let length = self.backend.len()?;
        self.meter.set_bytes(length);
        Ok(length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.backend.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.backend.set_len(len)?;
        self.meter.set_bytes(len);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.meter.0.syncs.fetch_add(1, Ordering::Relaxed);
        self.backend.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.backend.write(offset, data)
    }

    forward_locks!(backend);
}
