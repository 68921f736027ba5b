//! Writes the records of the write-ahead file.

use std::{io, sync::Arc};

use redb::StorageBackend;

use super::{
    FIRST_BYTES, Generation, MOST_BYTES, MOST_RECORD_BYTES, PAGE_BYTES, WalStore, encode_record,
};
use crate::stats::Counters;

/// What the writer thread knows about the write-ahead file.
#[derive(Debug)]
pub(crate) struct WalWriter {
    /// Where the file is; `None` if the log is only read.
    store: Option<Box<dyn WalStore>>,
    counters: Arc<Counters>,
    open: Option<OpenWal>,
    /// Whether a write has failed. The log's file still names the generation, so the file must stay until a durable commit.
    is_given_up: bool,
    /// The bytes that redb has committed in memory only.
    pending_bytes: usize,
}

#[derive(Debug)]
struct OpenWal {
    storage: Box<dyn StorageBackend>,
    generation: Generation,
    /// The number of the newest record.
    newest: u64,
    /// Where the next record begins.
    at: usize,
    length: usize,
}

/// Whether a batch needs a durable commit of redb.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Taken {
    /// What must not be lost is on disk. redb may commit in memory.
    Yes,
    No,
}

impl WalWriter {
    pub(crate) fn new(store: Option<Box<dyn WalStore>>, counters: Arc<Counters>) -> Self {
        Self {
            store,
            counters,
            open: None,
            is_given_up: false,
            pending_bytes: 0,
        }
    }

    /// Whether the log's file says that there is a write-ahead file.
    pub(crate) fn is_open(&self) -> bool {
        self.open.is_some() || self.is_given_up
    }

    /// Writes and syncs these event frames, if there is room for them. `bytes` is the size of the whole batch: it also counts
    /// snapshots, which can be made again and need no record.
    ///
    /// After a failure no record is added, until a durable commit begins a new generation.
    pub(crate) fn take(&mut self, events: &[u8], bytes: usize) -> Taken {
        let Some(open) = &mut self.open else {
            return Taken::No;
        };
        let pending_bytes = self.pending_bytes.saturating_add(bytes);
        if bytes > MOST_RECORD_BYTES || pending_bytes > MOST_BYTES {
            return Taken::No;
        }
        if !events.is_empty() {
            match open.write(events, &self.counters) {
                Ok(Taken::Yes) => {}
                Ok(Taken::No) => return Taken::No,
                Err(error) => {
                    tracing::warn!(%error, "the write-ahead file of the log could not be written; the commit is written to the log itself");
                    (self.open, self.is_given_up) = (None, true);
                    return Taken::No;
                }
            }
        }
        self.pending_bytes = pending_bytes;
        Taken::Yes
    }

    /// The generation that begins with the durable commit that is about to be made. `None` if there is no write-ahead file: if it
    /// was given up just now, or cannot be created. Then the next commit is durable, too, and tries to create one.
    pub(crate) fn next_generation(&mut self) -> Option<Generation> {
        let generation = Generation::new();
        if self.open.is_none() {
            // Creating a file would remove the one that was given up, and until the commit its records are needed.
            let store = self.store.as_ref().filter(|_| !self.is_given_up)?;
            match OpenWal::create(&**store, generation, &self.counters) {
                Ok(open) => self.open = Some(open),
                Err(error) => {
                    tracing::warn!(%error, "the log has no write-ahead file, so each append takes longer");
                    return None;
                }
            }
        }
        Some(generation)
    }

    /// A durable commit has begun this generation, so no earlier record is needed any more.
    pub(crate) fn begin(&mut self, generation: Option<Generation>) {
        (self.is_given_up, self.pending_bytes) = (false, 0);
        match (generation, &mut self.open) {
            (Some(generation), Some(open)) => {
                (open.generation, open.newest, open.at) = (generation, 0, 0);
            }
            _ => {
                self.open = None;
                let removed = self.store.as_ref().map(|store| store.remove());
                if let Some(Err(error)) = removed {
                    tracing::warn!(%error, "the write-ahead file of the log could not be removed");
                }
            }
        }
    }

    /// The database is about to be opened again, which applies the file and removes it.
    pub(crate) fn forget(&mut self) {
        self.open = None;
        (self.is_given_up, self.pending_bytes) = (false, 0);
    }
}

impl OpenWal {
    fn create(
        store: &dyn WalStore,
        generation: Generation,
        counters: &Counters,
    ) -> io::Result<Self> {
        let mut open = Self {
            storage: store.create()?,
            generation,
            newest: 0,
            at: 0,
            length: 0,
        };
        open.extend(FIRST_BYTES)?;
        // The name of the file was synced, too.
        counters.synced(2);
        open.storage.sync_data()?;
        Ok(open)
    }

    fn write(&mut self, events: &[u8], counters: &Counters) -> io::Result<Taken> {
        let mut record = encode_record(self.generation, self.newest + 1, events);
        // Whole pages: the system need not read what is around a record.
        record.resize(record.len().next_multiple_of(PAGE_BYTES), 0);
        let copies = record.repeat(2);
        let end = self.at + copies.len();
        if end > MOST_BYTES {
            return Ok(Taken::No);
        }
        if end > self.length {
            self.extend(end.next_power_of_two())?;
        }
        self.storage.write(self.at as u64, &copies)?;
        counters.synced(1);
        self.storage.sync_data()?;
        (self.newest, self.at) = (self.newest + 1, end);
        Ok(Taken::Yes)
    }

    /// Appends zeros, so that later writes neither change the length of the file nor allocate blocks.
    fn extend(&mut self, length: usize) -> io::Result<()> {
        self.storage.set_len(length as u64)?;
        let zeros = vec![0; length.saturating_sub(self.length)];
        self.storage.write(self.length as u64, &zeros)?;
        self.length = length;
        Ok(())
    }
}
