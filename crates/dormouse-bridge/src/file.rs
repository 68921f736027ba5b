//! The file of a bridge: its tables, and writing to it so that the result is known.

use std::{
    path::Path,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering::SeqCst},
    },
};

use dormouse_contracts::{EntityId, IdError, WorldError, WorldId};
use dormouse_database::{
    DatabaseFault, DatabaseHandle, DatabaseOpenError, FileKind, catch_panic, contained, unique_id,
};
use redb::{ReadTransaction, ReadableTable, TableDefinition, WriteTransaction};
use tokio::task::spawn_blocking;

use crate::{
    copy::BridgeMoment,
    queue::{DeliveryQueue, Feeds, prune},
    receipts::Receipts,
    store_error::{StoreError, WriteError},
};

const NAME: &str = "dormouse_bridge";

pub(crate) const KIND: FileKind = FileKind {
    what: "a bridge to a world",
    name: NAME,
    format: 1,
    cache_bytes: 4 << 20,
    check_up_to_bytes: 64 << 20,
};

/// Holds the format, and the number of writes that took effect. After a failed commit, this number shows whether the
/// commit took effect.
pub(crate) const META: TableDefinition<'_, &str, u64> = KIND.table();
const REVISION: &str = "revision";

/// Holds the id of the world.
pub(crate) const IDENTITY: TableDefinition<'_, &str, &str> = TableDefinition::new("identity");
const WORLD: &str = "world";

/// Observer → number of its last delivery, and of the last one that was removed.
pub(crate) const OBSERVERS: TableDefinition<'_, &str, (u64, u64)> =
    TableDefinition::new("observers");

/// Observer and number → `Perception`.
pub(crate) const DELIVERIES: TableDefinition<'_, (&str, u64), &str> =
    TableDefinition::new("deliveries");

/// Observer and digest of the game's own id → number.
pub(crate) const PEER_IDS: TableDefinition<'_, (&str, &[u8]), u64> =
    TableDefinition::new("peer_ids");

/// Observer and number → digest of the game's own id, to forget the oldest ones.
pub(crate) const PEER_ORDER: TableDefinition<'_, (&str, u64), &[u8]> =
    TableDefinition::new("peer_order");

/// Observer → its position in the feed that the game itself numbers. Missing in files of earlier versions until the first
/// position is stored.
pub(crate) const POSITIONS: TableDefinition<'_, &str, &str> = TableDefinition::new("positions");

/// Effect key → `Row` of a receipt.
pub(crate) const RECEIPTS: TableDefinition<'_, &str, &str> = TableDefinition::new("receipts");

/// The assistants that asked for an effect.
pub(crate) const ACTORS: TableDefinition<'_, &str, ()> = TableDefinition::new("actors");

/// Why a bridge cannot be opened. An existing file is never replaced.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BridgeOpenError {
    /// The file cannot be opened.
    #[error(transparent)]
    File(#[from] DatabaseOpenError),
    /// The name cannot be a part of a world's id.
    #[error("the world cannot have this name")]
    Name(#[from] IdError),
    /// The file could not be read.
    #[error("the bridge could not be read")]
    Read(#[from] DatabaseFault),
}

/// Whether a transaction has changed anything.
pub(crate) enum Changed<T> {
    /// Yes: commit it, and then wake those who wait for deliveries to these observers.
    Yes(T, Vec<EntityId>),
    No(T),
}

/// The file in which a bridge keeps deliveries and receipts. A clone is another handle to it. No other process can open the
/// file while a handle, a [`DeliveryQueue`], [`Receipts`] or one of their calls is in use.
#[derive(Clone, Debug)]
pub struct BridgeFile(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    database: DatabaseHandle,
    world: WorldId,
    /// One writer at a time, until its result is known.
    writer: Mutex<()>,
    /// Whether the last read or write failed, after which the database has to be opened again.
    has_failed: AtomicBool,
    feeds: Mutex<Feeds>,
}

impl BridgeFile {
    /// Opens the file at `path`, or creates it for a world of this name. The id of a new world is the name and 32 random
    /// digits; an existing file keeps its id. Blocks while the file is checked, at most a tenth of a second.
    ///
    /// # Errors
    ///
    /// [`BridgeOpenError`].
    pub fn open(path: &Path, name: &str) -> Result<Self, BridgeOpenError> {
        let new = WorldId::try_new(format!("{name}-{}", unique_id()))?;
        let database = DatabaseHandle::open(path, &KIND, |writing| create(writing, &new))?;
        Self::on(database)
    }

    fn on(database: DatabaseHandle) -> Result<Self, BridgeOpenError> {
        let world = read_world(&database)?;
        Ok(Self(Arc::new(Inner {
            database,
            world: WorldId::try_new(world)?,
            writer: Mutex::default(),
            has_failed: AtomicBool::new(false),
            feeds: Mutex::default(),
        })))
    }

    /// The id of the world, which every delivery names.
    #[must_use]
    pub fn world(&self) -> &WorldId {
        &self.0.world
    }

    /// Takes the present moment of the file, and calls `meanwhile`; nothing is written in between.
    ///
    /// # Errors
    ///
    /// [`WorldError`] if the file could not be read.
    pub async fn moment<T: Send + 'static>(
        &self,
        meanwhile: impl FnOnce() -> T + Send + 'static,
    ) -> Result<(BridgeMoment, T), WorldError> {
        let inner = Arc::clone(&self.0);
        let taken = spawn_blocking(move || {
            let _nobody_writes = lock(&inner.writer);
            let moment = BridgeMoment(inner.database.begin_read()?);
            Ok::<_, StoreError>((moment, meanwhile()))
        });
        Ok(taken.await.map_err(StoreError::from)??)
    }

    /// The queue of what the game reports.
    #[must_use]
    pub fn queue(&self) -> DeliveryQueue {
        DeliveryQueue::of(self.clone())
    }

    /// The receipts, which record what became of each act.
    #[must_use]
    pub fn receipts(&self) -> Receipts {
        Receipts::of(self.clone())
    }

    pub(crate) fn feeds(&self) -> MutexGuard<'_, Feeds> {
        lock(&self.0.feeds)
    }

    /// Reads, on a thread for blocking work.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&ReadTransaction) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, StoreError> {
        let inner = Arc::clone(&self.0);
        spawn_blocking(move || inner.read(work)).await?
    }

    /// Writes, on a thread for blocking work, and returns when it is on disk. If the future is dropped, the work is done all
    /// the same, and those who wait are woken.
    pub(crate) async fn write<T: Send + 'static>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<Changed<T>, StoreError> + Send + 'static,
    ) -> Result<T, WriteError> {
        let inner = Arc::clone(&self.0);
        let written = spawn_blocking(move || inner.write(work)).await;
        written.unwrap_or_else(|ended| Err(WriteError::Unknown(ended.into())))
    }
}

/// Locks, even after a panic of another holder: the guarded value is always consistent.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Inner {
    fn read<T>(
        &self,
        work: impl FnOnce(&ReadTransaction) -> Result<T, StoreError>,
    ) -> Result<T, StoreError> {
        // Readers get a snapshot if the file cannot be opened for writing.
        if self.has_failed.load(SeqCst)
            && let Err(error) = self.recover(&lock(&self.writer))
        {
            tracing::debug!(%error, "the bridge's file cannot be written");
        }
        let read = catch_panic(|| work(&self.database.begin_read()?));
        let read = read.unwrap_or_else(|panicked| Err(panicked.into()));
        // Only an error of the file is worth reopening it for: an invalid row would be read as invalid again.
        if let Err(StoreError::File(error)) = &read {
            tracing::warn!(
                error = error as &dyn std::error::Error,
                "the bridge's file could not be read"
            );
            self.has_failed.store(true, SeqCst);
        }
        read
    }

    fn write<T>(
        &self,
        work: impl FnOnce(&WriteTransaction) -> Result<Changed<T>, StoreError>,
    ) -> Result<T, WriteError> {
        let writer = lock(&self.writer);
        self.recover(&writer).map_err(WriteError::NotWritten)?;
        let acknowledged = lock(&self.feeds).acknowledged();
        let mut begun = None;
        let written = self.database.write(|writing| {
            let (made, delivered_to) = match work(&writing)? {
                Changed::No(made) => return Ok(made),
                Changed::Yes(made, delivered_to) => (made, delivered_to),
            };
            prune(&writing, &acknowledged)?;
            begun = Some((bump(&writing)?, delivered_to));
            writing.commit()?;
            Ok::<_, StoreError>(made)
        });
        match (written, begun) {
            (Ok(made), None) => Ok(made),
            (Ok(made), Some((_, delivered_to))) => {
                let mut feeds = lock(&self.feeds);
                feeds.pruned(&acknowledged);
                feeds.wake(&delivered_to);
                Ok(made)
            }
            (Err(error), begun) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "a write to the bridge's file failed"
                );
                self.has_failed.store(true, SeqCst);
                let Some((begun, delivered_to)) = begun else {
                    return Err(WriteError::NotWritten(error));
                };
                // Only the file shows whether the commit took effect. Reading it needs no disk space.
                let reopened = self.reopen();
                match self.revision() {
                    Ok(found) if found < begun => Err(WriteError::NotWritten(error)),
                    _ => {
                        // The deliveries may have been stored, so those who wait for them look again.
                        lock(&self.feeds).wake(&delivered_to);
                        Err(WriteError::Unknown(reopened.err().unwrap_or(error)))
                    }
                }
            }
        }
    }

    /// Opens the database again after a failure. The caller holds the writer's lock, so that nobody else writes or reopens
    /// it meanwhile.
    fn recover(&self, _writer: &MutexGuard<'_, ()>) -> Result<(), StoreError> {
        match self.has_failed.load(SeqCst) {
            true => self.reopen(),
            false => Ok(()),
        }
    }

    fn reopen(&self) -> Result<(), StoreError> {
        self.database.reopen()?;
        self.has_failed.store(false, SeqCst);
        Ok(())
    }

    fn revision(&self) -> Result<u64, StoreError> {
        let reading = self.database.begin_read()?;
        let revision = reading.open_table(META)?.get(REVISION)?;
        Ok(revision.map_or(0, |revision| revision.value()))
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        // Without this write the last acknowledgements would be lost, and their deliveries would come again.
        let has_acknowledged = !lock(&self.feeds).acknowledged().is_empty();
        if has_acknowledged && let Err(error) = self.write(|_| Ok(Changed::Yes((), Vec::new()))) {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "the last acknowledgements were not stored; these deliveries will come again"
            );
        }
    }
}

fn bump(writing: &WriteTransaction) -> Result<u64, StoreError> {
    let mut meta = writing.open_table(META)?;
    let revision = meta.get(REVISION)?.map_or(0, |revision| revision.value());
    let revision = revision.saturating_add(1);
    meta.insert(REVISION, revision)?;
    Ok(revision)
}

fn create(writing: &WriteTransaction, world: &WorldId) -> Result<(), redb::Error> {
    writing.open_table(META)?.insert(REVISION, 0)?;
    writing
        .open_table(IDENTITY)?
        .insert(WORLD, world.as_str())?;
    writing.open_table(OBSERVERS)?;
    writing.open_table(DELIVERIES)?;
    writing.open_table(PEER_IDS)?;
    writing.open_table(PEER_ORDER)?;
    writing.open_table(POSITIONS)?;
    writing.open_table(RECEIPTS)?;
    writing.open_table(ACTORS)?;
    Ok(())
}

fn read_world(database: &DatabaseHandle) -> Result<String, DatabaseFault> {
    let reading = database.begin_read()?;
    contained(|| {
        let identity = reading.open_table(IDENTITY)?;
        let world = identity.get(WORLD)?;
        Ok(world
            .map(|world| world.value().to_owned())
            .unwrap_or_default())
    })
}

#[cfg(test)]
mod tests;
