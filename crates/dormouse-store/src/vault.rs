//! The database while it is open, and opening it again after a failure.

use std::{
    fmt,
    sync::{Arc, PoisonError, RwLock, RwLockReadGuard},
};

use redb::{Builder, Database, ReadTransaction, ReadableDatabase, WriteTransaction};

use crate::{
    fault::{Fault, contained},
    header,
    medium::{Counted, Counters, Medium},
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
    /// A failure closed it; the writer thread tries to open it again when there is something to write.
    Failed,
    Closed,
}

impl Slot {
    fn database(&self) -> Result<&Database, Fault> {
        match self {
            Self::Open(database) => Ok(database),
            Self::Failed => Err(Fault::Unavailable),
            Self::Closed => Err(Fault::Closed),
        }
    }

    fn take(&mut self, left: Self) -> Option<Database> {
        match std::mem::replace(self, left) {
            Self::Open(database) => Some(database),
            Self::Failed | Self::Closed => None,
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
        Ok(self.slot().database()?.begin_read()?)
    }

    /// A transaction whose commit reaches the disk, in two phases: a damaged newest commit is then an
    /// error at the next opening, and never taken for one that a crash left unfinished.
    pub(crate) fn begin_write(&self) -> Result<WriteTransaction, Fault> {
        let mut transaction = self.slot().database()?.begin_write()?;
        transaction.set_durability(redb::Durability::Immediate)?;
        transaction.set_two_phase_commit(true);
        transaction.set_quick_repair(self.counters.file_bytes() >= LARGE_FILE_BYTES);
        Ok(transaction)
    }

    /// Closes the database, if it is open, and opens it again: after a failed read or write redb refuses all
    /// further work until then. Only the writer thread calls this, and only between transactions.
    pub(crate) fn reopen(&self) -> Result<(), Fault> {
        let mut slot = self.slot.write().unwrap_or_else(PoisonError::into_inner);
        close(slot.take(Slot::Failed));
        *slot = Slot::Open(open_database(&*self.medium, &self.counters)?);
        Ok(())
    }

    /// Closes the database for good.
    pub(crate) fn close(&self) {
        let mut slot = self.slot.write().unwrap_or_else(PoisonError::into_inner);
        close(slot.take(Slot::Closed));
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
    contained(|| {
        header::settle(medium).map_err(Fault::Io)?;
        let backend = medium.backend().map_err(Fault::Io)?;
        let counted = Counted::new(backend, Arc::clone(counters));
        Ok(Builder::new()
            .set_cache_size(medium.cache_bytes())
            .create_with_backend(counted)?)
    })
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
