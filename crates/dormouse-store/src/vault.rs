//! The database while it is open, and opening it again after a failure.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use redb::{
    Builder, Database, ReadTransaction, ReadableDatabase, StorageBackend, WriteTransaction,
};

use crate::{
    fault::{Fault, contained},
    header,
    medium::{Counters, Medium},
};

/// From this size on, every commit also records which pages are in use, so that opening after a crash need
/// not read the whole file; and opening no longer checks the whole file. Below, both take at most some tens
/// of milliseconds. `docs/format.md` has the reasons.
pub(crate) const LARGE_FILE_BYTES: u64 = 64 * 1024 * 1024;

/// The one database of a log. Readers take transactions from it; the writer thread may replace it.
pub(crate) struct Vault {
    medium: Arc<dyn Medium>,
    counters: Arc<Counters>,
    slot: RwLock<Slot>,
}

enum Slot {
    Open(Database),
    /// A failure closed it, and it could not be opened again; the writer thread tries when there is something to write.
    Failed {
        cause: Arc<Fault>,
        /// What the file holds, so that readers need not wait for room on the disk.
        view: Option<Database>,
    },
    Closed,
}

impl Slot {
    fn writable(&self) -> Result<&Database, Fault> {
        match self {
            Self::Open(database) => Ok(database),
            Self::Failed { cause, .. } => Err(Fault::Unavailable(Arc::clone(cause))),
            Self::Closed => Err(Fault::Closed),
        }
    }

    fn readable(&self) -> Result<&Database, Fault> {
        match self {
            Self::Failed {
                view: Some(view), ..
            } => Ok(view),
            Self::Open(_) | Self::Failed { .. } | Self::Closed => self.writable(),
        }
    }

    fn take(&mut self) -> Option<Database> {
        match std::mem::replace(self, Self::Closed) {
            Self::Open(database) => Some(database),
            Self::Failed { view, .. } => view,
            Self::Closed => None,
        }
    }
}

impl fmt::Debug for Vault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Vault")
            .field("medium", &self.medium)
            .finish_non_exhaustive()
    }
}

impl Vault {
    pub(crate) fn new(
        medium: Arc<dyn Medium>,
        counters: Arc<Counters>,
        database: Database,
    ) -> Self {
        Self {
            medium,
            counters,
            slot: RwLock::new(Slot::Open(database)),
        }
    }

    pub(crate) fn counters(&self) -> &Counters {
        &self.counters
    }

    fn slot(&self) -> RwLockReadGuard<'_, Slot> {
        self.slot.read().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn begin_read(&self) -> Result<ReadTransaction, Fault> {
        Ok(self.slot().readable()?.begin_read()?)
    }

    /// A transaction whose commit reaches the disk, in two phases: a damaged newest commit is then an
    /// error at the next opening, and never taken for one that a crash left unfinished.
    pub(crate) fn begin_write(&self) -> Result<WriteTransaction, Fault> {
        let mut transaction = self.slot().writable()?.begin_write()?;
        transaction.set_durability(redb::Durability::Immediate)?;
        transaction.set_two_phase_commit(true);
        transaction.set_quick_repair(self.counters.file_bytes() >= LARGE_FILE_BYTES);
        Ok(transaction)
    }

    /// Closes the database, if it is open, and opens it again: after a failed read or write redb refuses all
    /// further work until then. Only the writer thread calls this, and only between transactions.
    pub(crate) fn reopen(&self) -> Result<(), Fault> {
        let mut slot = self.slot.write().unwrap_or_else(PoisonError::into_inner);
        close(slot.take());
        match open_database(&*self.medium, &self.counters) {
            Ok(database) => {
                *slot = Slot::Open(database);
                Ok(())
            }
            Err(fault) => {
                let cause = Arc::new(fault);
                *slot = Slot::Failed {
                    cause: Arc::clone(&cause),
                    view: self.view(),
                };
                Err(Fault::Unavailable(cause))
            }
        }
    }

    /// What the file holds, where it cannot be opened for writing.
    fn view(&self) -> Option<Database> {
        let opened =
            contained(|| open_backend(&*self.medium, self.medium.view()?, &Arc::default()));
        match opened {
            Ok(view) => Some(view),
            Err(fault) => {
                tracing::warn!(%fault, "the log cannot even be read at the moment");
                None
            }
        }
    }

    /// Closes the database for good.
    pub(crate) fn close(&self) {
        let mut slot = self.slot.write().unwrap_or_else(PoisonError::into_inner);
        close(slot.take());
    }
}

/// Drops the database; closing writes, so it may fail, but a file that was not closed well is only repaired
/// when it is opened next.
pub(crate) fn close(database: Option<Database>) {
    if let Err(fault) = contained(|| {
        drop(database);
        Ok(())
    }) {
        tracing::warn!(%fault, "the log was not closed well; it will be repaired when it is opened next");
    }
}

/// Opens the database on its storage. Empty storage becomes an empty database.
pub(crate) fn open_database(
    medium: &dyn Medium,
    counters: &Arc<Counters>,
) -> Result<Database, Fault> {
    contained(|| open_backend(medium, medium.backend()?, counters))
}

fn open_backend(
    medium: &dyn Medium,
    backend: Box<dyn StorageBackend>,
    counters: &Arc<Counters>,
) -> Result<Database, Fault> {
    header::settle(&*backend)?;
    Ok(Builder::new()
        .set_cache_size(medium.cache_bytes())
        .create_with_backend(counters.measure(backend))?)
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::AssistantId;

    use crate::{
        fault::Fault,
        open::{self, Absence},
        reading,
    };

    #[test]
    fn a_file_can_be_opened_again_while_somebody_still_reads_and_is_free_once_closed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log.redb");
        let vault = open::open(&path, Absence::Create).unwrap().vault;
        let alice = AssistantId::try_new("alice").unwrap();
        let old = vault.begin_read().unwrap();
        vault.reopen().unwrap();
        drop(old);
        vault.begin_write().unwrap().commit().unwrap();
        assert!(reading::end(&vault.begin_read().unwrap(), &alice, Default::default()).is_ok());

        let still_reading = vault.begin_read().unwrap();
        vault.close();
        assert!(matches!(vault.begin_read(), Err(Fault::Closed)));
        open::open(&path, Absence::Refuse).unwrap();
        drop(still_reading);
    }
}
