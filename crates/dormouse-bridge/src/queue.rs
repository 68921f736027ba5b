//! What a game reports, numbered for each observer and kept until it is acknowledged.

use std::{collections::BTreeMap, ops::Bound};

use dormouse_contracts::{
    BoxError, BoxFuture, Delivery, EntityId, PERCEPTIONS_PAGE, Perception, PortError, Presence,
    SenseError, SenseErrorKind, Senses, WorldId,
};
use redb::{ReadOnlyTable, ReadTransaction, ReadableTable, TableError, WriteTransaction};
use sha2::{Digest, Sha256};
use tokio::sync::watch;

use crate::{
    file::{BridgeFile, Changed, DELIVERIES, OBSERVERS, PEER_IDS, PEER_ORDER, POSITIONS},
    report::Report,
    store_error::{StoreError, WriteError},
};

/// For how many deliveries to one observer the ids of a game are remembered.
pub const PEER_IDS_REMEMBERED: u64 = 10_000;

/// Why a report was not stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum QueueErrorKind {
    /// The observer has never [entered](DeliveryQueue::enter).
    #[error("the observer is not in this world: let it enter first")]
    NotPresent,
    /// The file could not be written, and nothing was stored. Trying again may succeed.
    #[error("the report could not be stored")]
    Unavailable,
    /// The file failed, and it is unknown whether the report was stored. Pushing it again
    /// [once](DeliveryQueue::push_once), under the game's own id, is safe.
    #[error("it is unknown whether the report was stored")]
    Unknown,
}

/// A call to a [`DeliveryQueue`] failed.
pub type QueueError = PortError<QueueErrorKind>;

/// The feeds of a game that numbers nothing: each report gets its observer's next number, on disk, and is kept until it is
/// acknowledged. A feed that is never acknowledged is kept completely, at any length.
#[derive(Clone, Debug)]
pub struct DeliveryQueue {
    file: BridgeFile,
}

/// The readers of feeds, in memory.
#[derive(Debug, Default)]
pub(crate) struct Feeds {
    /// The feeds that somebody waits for.
    followed: BTreeMap<EntityId, watch::Sender<()>>,
    /// The acknowledged number of each observer. Its entries are removed from the file with the next write.
    acknowledged: BTreeMap<EntityId, u64>,
}

impl Feeds {
    pub(crate) fn acknowledged(&self) -> BTreeMap<EntityId, u64> {
        self.acknowledged.clone()
    }

    /// Records that these entries were removed from the file.
    pub(crate) fn pruned(&mut self, removed: &BTreeMap<EntityId, u64>) {
        self.acknowledged
            .retain(|observer, number| removed.get(observer) != Some(number));
    }

    fn done_by(&self, observer: &EntityId) -> u64 {
        self.acknowledged.get(observer).copied().unwrap_or_default()
    }

    pub(crate) fn follow(&mut self, observer: &EntityId) -> watch::Receiver<()> {
        let followed = self.followed.entry(observer.clone());
        followed.or_default().subscribe()
    }

    /// Wakes those who wait for deliveries to these observers.
    pub(crate) fn wake(&mut self, observers: &[EntityId]) {
        for observer in observers {
            let is_left = |followed: &watch::Sender<()>| followed.send(()).is_err();
            if self.followed.get(observer).is_some_and(is_left) {
                self.followed.remove(observer);
            }
        }
    }
}

impl DeliveryQueue {
    pub(crate) fn of(file: BridgeFile) -> Self {
        Self { file }
    }

    /// Lets an observer perceive from now on. Changes nothing for one that perceives already. Durable when this
    /// returns.
    ///
    /// # Errors
    ///
    /// [`QueueErrorKind::Unavailable`] and [`QueueErrorKind::Unknown`].
    pub async fn enter(&self, observer: &EntityId) -> Result<(), QueueError> {
        self.let_in(observer).await.map_err(queue_error)
    }

    pub(crate) async fn let_in(&self, observer: &EntityId) -> Result<(), WriteError> {
        let observer = observer.clone();
        let entered = self.file.write(move |writing| {
            let mut observers = writing.open_table(OBSERVERS)?;
            if observers.get(observer.as_str())?.is_some() {
                return Ok(Changed::No(()));
            }
            observers.insert(observer.as_str(), (0, 0))?;
            Ok(Changed::Yes((), Vec::new()))
        });
        entered.await
    }

    /// Stores a report as the observer's next delivery, and returns that. On disk when this returns. If the future is dropped,
    /// the report may be stored or not. Whenever it may have been stored, those who [wait](Senses::await_perceptions)
    /// for it are woken.
    ///
    /// # Errors
    ///
    /// [`QueueError`], whose kind says whether it may have been stored.
    pub async fn push(&self, observer: &EntityId, report: Report) -> Result<Delivery, QueueError> {
        self.store(observer, None, report).await
    }

    /// Stores a report under the id that the game gave it, as [`push`](Self::push) does. Use it for a game that repeats
    /// reports, for example after a lost connection: a repeated id for the same observer is not stored again, and the
    /// first delivery is returned. The ids of the last [`PEER_IDS_REMEMBERED`] deliveries are remembered.
    ///
    /// # Errors
    ///
    /// [`QueueError`], whose kind says whether it may have been stored.
    pub async fn push_once(
        &self,
        observer: &EntityId,
        id: &str,
        report: Report,
    ) -> Result<Delivery, QueueError> {
        self.store(observer, Some(digest(id)), report).await
    }

    async fn store(
        &self,
        observer: &EntityId,
        digest: Option<Vec<u8>>,
        report: Report,
    ) -> Result<Delivery, QueueError> {
        let (world, to) = (self.file.world().clone(), observer.clone());
        let pushed = self.file.write(move |writing| {
            if let Some(digest) = &digest
                && let Some(number) = known(writing, &to, digest)?
            {
                return Ok(Changed::No(Some(Delivery { world, number })));
            }
            let Some(delivery) = deliver(writing, &world, &to, report)? else {
                return Ok(Changed::No(None));
            };
            if let Some(digest) = &digest {
                remember(writing, &to, delivery.number, digest)?;
            }
            Ok(Changed::Yes(Some(delivery), vec![to]))
        });
        let pushed = pushed.await.map_err(queue_error)?;
        pushed.ok_or_else(|| QueueError::new(QueueErrorKind::NotPresent, None))
    }

    /// Stores a report of a game that numbers its own feed, and the position of the report in that feed, in one write. A game
    /// that is asked to continue behind the stored position therefore repeats nothing and leaves nothing out. `report` is
    /// absent if nothing at this position can be perceived. A position is also an id as in [`push_once`](Self::push_once).
    ///
    /// # Errors
    ///
    /// [`QueueError`], whose kind says whether both may have been stored.
    pub async fn push_at(
        &self,
        observer: &EntityId,
        position: &str,
        report: Option<Report>,
    ) -> Result<(), QueueError> {
        let (world, to) = (self.file.world().clone(), observer.clone());
        let (position, digest) = (position.to_owned(), digest(position));
        let pushed = self.file.write(move |writing| {
            let mut delivered_to = Vec::new();
            if let Some(report) = report
                && known(writing, &to, &digest)?.is_none()
            {
                let Some(delivery) = deliver(writing, &world, &to, report)? else {
                    return Ok(Changed::No(false));
                };
                remember(writing, &to, delivery.number, &digest)?;
                delivered_to.push(to.clone());
            }
            let mut positions = writing.open_table(POSITIONS)?;
            positions.insert(to.as_str(), position.as_str())?;
            Ok(Changed::Yes(true, delivered_to))
        });
        match pushed.await.map_err(queue_error)? {
            true => Ok(()),
            false => Err(QueueError::new(QueueErrorKind::NotPresent, None)),
        }
    }

    /// The position that was stored last with [`push_at`](Self::push_at).
    ///
    /// # Errors
    ///
    /// [`QueueErrorKind::Unavailable`].
    pub async fn position(&self, observer: &EntityId) -> Result<Option<String>, QueueError> {
        let asked = observer.clone();
        let position = self.file.read(move |reading| {
            let Some(positions) = positions(reading)? else {
                return Ok(None);
            };
            let position = positions.get(asked.as_str())?;
            Ok(position.map(|position| position.value().to_owned()))
        });
        let unavailable =
            |error: StoreError| QueueError::new(QueueErrorKind::Unavailable, Some(error.into()));
        position.await.map_err(unavailable)
    }

    /// The number of the last delivery to an observer that has entered.
    async fn head(&self, observer: &EntityId) -> Result<u64, SenseError> {
        let asked = observer.clone();
        let head = self.file.read(move |reading| head(reading, &asked));
        head.await.map_err(unavailable)?.ok_or_else(not_present)
    }
}

/// The number of the last delivery; `None` if the observer has never entered.
fn head(reading: &ReadTransaction, observer: &EntityId) -> Result<Option<u64>, StoreError> {
    let row = reading.open_table(OBSERVERS)?.get(observer.as_str())?;
    Ok(row.map(|row| row.value().0))
}

/// Writes a report as the observer's next delivery; `None` if the observer has never entered.
pub(crate) fn deliver(
    writing: &WriteTransaction,
    world: &WorldId,
    to: &EntityId,
    report: Report,
) -> Result<Option<Delivery>, StoreError> {
    let mut observers = writing.open_table(OBSERVERS)?;
    let Some((made, removed)) = observers.get(to.as_str())?.map(|row| row.value()) else {
        return Ok(None);
    };
    let delivery = Delivery {
        world: world.clone(),
        number: made + 1,
    };
    let row = serde_json::to_string(&report.delivered_as(delivery.clone()))?;
    let mut deliveries = writing.open_table(DELIVERIES)?;
    deliveries.insert((to.as_str(), delivery.number), row.as_str())?;
    observers.insert(to.as_str(), (delivery.number, removed))?;
    Ok(Some(delivery))
}

/// The stored positions, if the file has any.
pub(crate) fn positions(
    reading: &ReadTransaction,
) -> Result<Option<ReadOnlyTable<&'static str, &'static str>>, StoreError> {
    match reading.open_table(POSITIONS) {
        Ok(table) => Ok(Some(table)),
        Err(TableError::TableDoesNotExist(_)) => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// The stored form of an id that the game gave a report.
fn digest(id: &str) -> Vec<u8> {
    Sha256::digest(id.as_bytes()).to_vec()
}

/// The delivery that the game reported under this id.
fn known(
    writing: &WriteTransaction,
    to: &EntityId,
    digest: &[u8],
) -> Result<Option<u64>, StoreError> {
    let peer_ids = writing.open_table(PEER_IDS)?;
    let number = peer_ids.get((to.as_str(), digest))?;
    Ok(number.map(|number| number.value()))
}

/// Remembers the game's id of a delivery, and forgets the oldest ones.
fn remember(
    writing: &WriteTransaction,
    to: &EntityId,
    number: u64,
    digest: &[u8],
) -> Result<(), StoreError> {
    let to = to.as_str();
    let mut peer_ids = writing.open_table(PEER_IDS)?;
    let mut order = writing.open_table(PEER_ORDER)?;
    peer_ids.insert((to, digest), number)?;
    order.insert((to, number), digest)?;
    let mut old: Vec<Vec<u8>> = Vec::new();
    let oldest = number.saturating_sub(PEER_IDS_REMEMBERED);
    order.retain_in((to, 0)..=(to, oldest), |_, digest| {
        old.push(digest.to_vec());
        false
    })?;
    for digest in &old {
        peer_ids.remove((to, digest.as_slice()))?;
    }
    Ok(())
}

/// Removes the acknowledged entries.
pub(crate) fn prune(
    writing: &WriteTransaction,
    acknowledged: &BTreeMap<EntityId, u64>,
) -> Result<(), StoreError> {
    let mut observers = writing.open_table(OBSERVERS)?;
    let mut deliveries = writing.open_table(DELIVERIES)?;
    for (observer, up_to) in acknowledged {
        let key = observer.as_str();
        let row = observers.get(key)?.map(|row| row.value());
        if let Some((made, removed)) = row
            && *up_to > removed
        {
            deliveries.retain_in((key, 0)..=(key, *up_to), |_, _| false)?;
            observers.insert(key, (made, *up_to))?;
        }
    }
    Ok(())
}

fn queue_error(error: WriteError) -> QueueError {
    let kind = match error {
        WriteError::NotWritten(_) => QueueErrorKind::Unavailable,
        WriteError::Unknown(_) => QueueErrorKind::Unknown,
    };
    QueueError::new(kind, Some(error.into()))
}

fn not_present() -> SenseError {
    SenseError::new(SenseErrorKind::NotPresent, None)
}

fn unavailable(error: impl Into<BoxError>) -> SenseError {
    SenseError::new(SenseErrorKind::Unavailable, Some(error.into()))
}

impl Senses for DeliveryQueue {
    fn id(&self) -> &WorldId {
        self.file.world()
    }

    fn perceptions<'a>(
        &'a self,
        observer: &'a EntityId,
        after: u64,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Perception>, SenseError>> {
        Box::pin(async move {
            let after = after.max(self.file.feeds().done_by(observer));
            let asked = observer.clone();
            let page = self.file.read(move |reading| {
                if head(reading, &asked)?.is_none() {
                    return Ok(None);
                }
                let (first, last) = ((asked.as_str(), after), (asked.as_str(), u64::MAX));
                let range = (Bound::Excluded(first), Bound::Included(last));
                (reading.open_table(DELIVERIES)?)
                    .range::<(&str, u64)>(range)?
                    .take(limit.min(PERCEPTIONS_PAGE))
                    .map(|row| Ok(serde_json::from_str(row?.1.value())?))
                    .collect::<Result<_, StoreError>>()
                    .map(Some)
            });
            page.await.map_err(unavailable)?.ok_or_else(not_present)
        })
    }

    fn await_perceptions<'a>(
        &'a self,
        observer: &'a EntityId,
        after: u64,
    ) -> BoxFuture<'a, Result<Vec<Perception>, SenseError>> {
        Box::pin(async move {
            // Boxed: what is only needed to begin is not kept for as long as somebody waits.
            Box::pin(self.head(observer)).await?;
            // The feed is followed before it is read, so that no delivery in between is missed.
            let mut followed = self.file.feeds().follow(observer);
            loop {
                let perceived = self.perceptions(observer, after, PERCEPTIONS_PAGE).await?;
                if !perceived.is_empty() {
                    return Ok(perceived);
                }
                // The sender is kept as long as somebody follows.
                followed.changed().await.map_err(unavailable)?;
            }
        })
    }

    /// The entries are removed from the file with the next write, or when the last handle to the file is dropped.
    fn acknowledge<'a>(
        &'a self,
        observer: &'a EntityId,
        up_to: u64,
    ) -> BoxFuture<'a, Result<(), SenseError>> {
        Box::pin(async move {
            let head = self.head(observer).await?;
            let mut feeds = self.file.feeds();
            let known = feeds.acknowledged.entry(observer.clone()).or_default();
            *known = up_to.min(head).max(*known);
            Ok(())
        })
    }

    fn last_delivery<'a>(
        &'a self,
        observer: &'a EntityId,
    ) -> BoxFuture<'a, Result<u64, SenseError>> {
        Box::pin(self.head(observer))
    }

    /// A queue does not know where an observer is.
    fn presence<'a>(
        &'a self,
        observer: &'a EntityId,
    ) -> BoxFuture<'a, Result<Presence, SenseError>> {
        Box::pin(async move {
            self.head(observer).await?;
            Ok(Presence::default())
        })
    }
}
