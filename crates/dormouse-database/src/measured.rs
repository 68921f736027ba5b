//! Storage that knows its length without being asked again.

use std::{
    io,
    ops::Bound,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
};

use redb::{BackendError, StorageBackend};

/// The length in bytes of what a database lies on, as last heard of.
#[derive(Clone, Debug, Default)]
pub(crate) struct Length(Arc<AtomicU64>);

impl Length {
    pub(crate) fn bytes(&self) -> u64 {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, bytes: u64) {
        self.0.store(bytes, Ordering::Relaxed);
    }
}

/// A backend whose length is written down whenever it is told or changed.
#[derive(Debug)]
pub(crate) struct Measured<B> {
    backend: B,
    length: Length,
}

impl<B: StorageBackend> Measured<B> {
    pub(crate) fn new(backend: B, length: Length) -> Self {
        Self { backend, length }
    }
}

impl<B: StorageBackend> StorageBackend for Measured<B> {
    fn len(&self) -> io::Result<u64> {
        let length = self.backend.len()?;
        self.length.set(length);
        Ok(length)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.backend.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.backend.set_len(len)?;
        self.length.set(len);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.backend.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.backend.write(offset, data)
    }

    fn close(&self) -> io::Result<()> {
        self.backend.close()
    }

    // Without these the file would not be locked, and two processes could write it.

    fn try_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.backend.try_lock_range(start, end)
    }

    fn try_lock_shared_range(
        &self,
        start: Bound<u64>,
        end: Bound<u64>,
    ) -> Result<bool, BackendError> {
        self.backend.try_lock_shared_range(start, end)
    }

    fn lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.backend.lock_range(start, end)
    }

    fn lock_shared_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.backend.lock_shared_range(start, end)
    }

    fn unlock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<(), BackendError> {
        self.backend.unlock_range(start, end)
    }

    fn query_lock_range(&self, start: Bound<u64>, end: Bound<u64>) -> Result<bool, BackendError> {
        self.backend.query_lock_range(start, end)
    }
}
