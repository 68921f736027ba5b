//! What the log has written.

use std::sync::atomic::{AtomicU64, Ordering};

use dormouse_database::StorageMeter;

/// What the log has written since it was opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct WriteStats {
    /// Transactions committed. Several appends share one.
    pub commits: u64,
    /// Events written.
    pub events: u64,
    /// How often the operating system was asked to sync a file of the log to the disk.
    pub syncs: u64,
}

/// Counters behind [`WriteStats`], shared by the writer thread and the handles.
#[derive(Debug)]
pub(crate) struct Counters {
    commits: AtomicU64,
    events: AtomicU64,
    storage: StorageMeter,
    /// Syncs of the write-ahead file.
    written_ahead: AtomicU64,
    /// The syncs while the file was opened. They are subtracted, because appends did not cause them.
    syncs_before: u64,
}

impl Counters {
    /// Starts all counters at zero. Syncs of `storage` are counted from now on.
    pub(crate) fn new(storage: &StorageMeter) -> Self {
        Self {
            commits: AtomicU64::new(0),
            events: AtomicU64::new(0),
            storage: storage.clone(),
            written_ahead: AtomicU64::new(0),
            syncs_before: storage.syncs(),
        }
    }

    pub(crate) fn committed(&self, events: u64) {
        self.commits.fetch_add(1, Ordering::Relaxed);
        self.events.fetch_add(events, Ordering::Relaxed);
    }

    /// The write-ahead file, or its name in the folder, is synced this many times.
    pub(crate) fn synced(&self, times: u64) {
        self.written_ahead.fetch_add(times, Ordering::Relaxed);
    }

    pub(crate) fn stats(&self) -> WriteStats {
        WriteStats {
            commits: self.commits.load(Ordering::Relaxed),
            events: self.events.load(Ordering::Relaxed),
            syncs: (self.storage.syncs().saturating_sub(self.syncs_before))
                .saturating_add(self.written_ahead.load(Ordering::Relaxed)),
        }
    }
}
