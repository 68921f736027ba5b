//! The residents of a host: which are awake, which are put away, and what wakes them.
//!
//! One task manages all of them. For an assistant that is put away it keeps only the key, the last delivery that it
//! heard, the time at which something is due, and a future that waits for its world. There is one timer for all of
//! them, set for the earliest due time.

mod at_rest;
mod keeper;
mod living;
mod moving_in;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use dormouse_contracts::{
    AssistantId, EntityId, Habitat, Perception, Presence, SenseError, Timestamp,
};
use dormouse_engine::{Accepted, Handle, PerceiveError};
use dormouse_memory::Memory;
use tokio::{
    sync::{broadcast, mpsc, oneshot, watch},
    task::JoinSet,
};

use super::{Host, Shared, error::HostError};
use crate::pump::Pumped;
use keeper::Keeper;
pub(super) use living::due;
use moving_in::Begins;

/// Access to the task that manages the residents. Dropping it ends the task.
#[derive(Debug, Default)]
pub(super) struct Residency(Mutex<Doors>);

#[derive(Debug, Default)]
enum Doors {
    /// The task was not needed yet.
    #[default]
    NotYetOpen,
    Open {
        orders: mpsc::UnboundedSender<Order>,
        keeper: JoinSet<()>,
    },
    Closed,
}

/// A request to the task that manages the residents.
enum Order {
    TakeIn(AssistantId, Begins, oneshot::Sender<()>),
    Wake(AssistantId, Reply),
    /// Answered only if it is awake.
    LookAt(AssistantId, oneshot::Sender<Handle>),
    PutAway(AssistantId, oneshot::Sender<()>),
    List(oneshot::Sender<Vec<Summary>>),
    Close,
}

/// The answer to a request to wake an assistant.
type Reply = oneshot::Sender<Result<Resident, HostError>>;

/// An overview of an assistant of a host.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Its key.
    pub key: AssistantId,
    /// Whether it is awake.
    pub is_awake: bool,
    /// When it wakes by itself; absent if it is awake or nothing is due.
    pub due: Option<Timestamp>,
    /// How often it was woken since the host was opened.
    pub wakes: u64,
    /// Why it could not be woken, if it could not the last time. It is tried again after a pause.
    pub failure: Option<String>,
}

/// An assistant that is awake. It is not put away while a clone of this value exists.
#[derive(Clone)]
pub struct Resident {
    key: AssistantId,
    handle: Handle,
    memory: Memory,
    character: EntityId,
    name: String,
    world: Arc<dyn Habitat>,
    slow_after: Duration,
    pumped: watch::Receiver<Pumped>,
    accepted: broadcast::Sender<(Perception, Accepted)>,
    /// Dropped with the last clone. Then the assistant may be put away.
    _stay: mpsc::Sender<()>,
}

impl fmt::Debug for Resident {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Resident")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

impl Resident {
    /// Its key.
    #[must_use]
    pub fn key(&self) -> &AssistantId {
        &self.key
    }

    /// Its handle.
    #[must_use]
    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Its memory.
    #[must_use]
    pub fn memory(&self) -> &Memory {
        &self.memory
    }

    /// Its character in the world.
    #[must_use]
    pub fn character(&self) -> &EntityId {
        &self.character
    }

    /// The name of its character.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where it is, and who would perceive what it says aloud there.
    ///
    /// # Errors
    ///
    /// [`SenseError`] if the world does not know.
    pub async fn presence(&self) -> Result<Presence, SenseError> {
        self.world.presence(&self.character).await
    }

    /// After how long a sender is notified that the answer takes longer.
    #[must_use]
    pub fn slow_after(&self) -> Duration {
        self.slow_after
    }

    /// How many of its perceptions were handed over.
    #[must_use]
    pub fn pumped(&self) -> watch::Receiver<Pumped> {
        self.pumped.clone()
    }

    /// The messages that it accepts from now on. A reader that falls behind by more than 256 messages misses the
    /// oldest.
    #[must_use]
    pub fn accepted(&self) -> broadcast::Receiver<(Perception, Accepted)> {
        self.accepted.subscribe()
    }

    /// Waits until the assistant has received those of these deliveries that are for its character, such as the deliveries of
    /// one act. When this returns, all accepted messages are on disk. The assistant answers in the background;
    /// [`Handle::at_rest`] waits for that.
    ///
    /// # Errors
    ///
    /// [`PerceiveError::Gone`] if the assistant has ended before.
    pub async fn heard(&self, deliveries: &[(EntityId, u64)]) -> Result<(), PerceiveError> {
        let to_it = deliveries.iter();
        let to_it = to_it.filter(|(to, _)| *to == self.character);
        match to_it.map(|(_, number)| *number).max() {
            Some(last) => self.heard_up_to(last).await,
            None => Ok(()),
        }
    }

    /// Waits until the assistant has received what its world delivered to it up to this number, as [`Resident::heard`]
    /// does.
    ///
    /// # Errors
    ///
    /// [`PerceiveError::Gone`] if the assistant has ended before.
    pub async fn heard_up_to(&self, last: u64) -> Result<(), PerceiveError> {
        let mut pumped = self.pumped.clone();
        let reached = pumped.wait_for(|pumped| pumped.done >= last).await;
        reached.map_or(Err(PerceiveError::Gone), |_| Ok(()))
    }
}

impl<W: ?Sized> Host<W> {
    /// Wakes an assistant, or keeps it awake. An unknown one is created, with the configuration's `[assistant]` if that
    /// has its key. It is a resident from then on.
    ///
    /// # Errors
    ///
    /// [`HostError`] if it cannot be woken.
    pub async fn wake(&self, key: &AssistantId) -> Result<Resident, HostError> {
        self.ask(|reply| Order::Wake(key.clone(), reply))
            .await
            .unwrap_or(Err(HostError::Closed))
    }

    /// How to talk to an assistant if it is awake. Nobody is woken, and nobody is kept awake.
    pub async fn if_awake(&self, key: &AssistantId) -> Option<Handle> {
        self.ask(|reply| Order::LookAt(key.clone(), reply)).await
    }

    /// Puts an assistant away now, even if callers keep it awake. Returns before it has ended.
    pub(super) async fn put_away(&self, key: &AssistantId) -> Result<(), HostError> {
        self.ask(|reply| Order::PutAway(key.clone(), reply))
            .await
            .ok_or(HostError::Closed)
    }

    /// All residents, by key.
    pub async fn residents(&self) -> Vec<Summary> {
        self.ask(Order::List).await.unwrap_or_default()
    }

    /// Puts all assistants away at once, at rest or not. Unfinished work continues at the next start. The files are
    /// closed when every handle and every resident is dropped.
    pub async fn close(&self) {
        let doors = std::mem::replace(&mut *self.residency.lock(), Doors::Closed);
        let Doors::Open { orders, mut keeper } = doors else {
            return;
        };
        // If the task has already ended, it has put all assistants away.
        drop(orders.send(Order::Close));
        while let Some(ended) = keeper.join_next().await {
            if let Err(error) = ended {
                tracing::error!(%error, "the residents were not put away properly");
            }
        }
        #[cfg(feature = "mcp")]
        if let Some(mcp) = &self.shared.mcp {
            mcp.close().await;
        }
    }

    async fn ask<T>(&self, order: impl FnOnce(oneshot::Sender<T>) -> Order) -> Option<T> {
        let (reply, answer) = oneshot::channel();
        let orders = self.residency.orders(&self.shared)?;
        orders.send(order(reply)).ok()?;
        answer.await.ok()
    }
}

impl Shared {
    /// Wakes an assistant for a part of the host, as [`Host::wake`] does.
    pub(super) async fn wake(self: &Arc<Self>, key: &AssistantId) -> Result<Resident, HostError> {
        let (reply, answer) = oneshot::channel();
        let orders = self.residency.upgrade();
        let orders = orders.and_then(|residency| residency.orders(self));
        let sent = orders.map(|orders| orders.send(Order::Wake(key.clone(), reply)));
        match sent {
            Some(Ok(())) => answer.await.unwrap_or(Err(HostError::Closed)),
            _ => Err(HostError::Closed),
        }
    }

    /// How to talk to an assistant if it is awake, for a part of the host. Nobody is woken.
    #[cfg(feature = "mcp")]
    pub(super) async fn if_awake(self: &Arc<Self>, key: &AssistantId) -> Option<Handle> {
        if let Some(handle) = self.alone(key)
            && handle.inspect().await.is_some()
        {
            return Some(handle);
        }
        let (reply, answer) = oneshot::channel();
        let orders = self.residency.upgrade()?.orders(self)?;
        orders.send(Order::LookAt(key.clone(), reply)).ok()?;
        answer.await.ok()
    }
}

impl Residency {
    fn lock(&self) -> MutexGuard<'_, Doors> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The sender to the task, which is started at the first call; `None` once the host is closed.
    fn orders(&self, shared: &Arc<Shared>) -> Option<mpsc::UnboundedSender<Order>> {
        let mut doors = self.lock();
        if let Doors::NotYetOpen = *doors {
            let (orders, inbox) = mpsc::unbounded_channel();
            let mut keeper = JoinSet::new();
            keeper.spawn(Keeper::new(shared).run(inbox));
            *doors = Doors::Open { orders, keeper };
        }
        match &*doors {
            Doors::Open { orders, .. } => Some(orders.clone()),
            Doors::NotYetOpen | Doors::Closed => None,
        }
    }
}

/// The pause before an assistant that could not be woken is tried again, at first and at most.
const FIRST_RETRY: Duration = Duration::from_secs(1);
const LONGEST_RETRY: Duration = Duration::from_secs(600);
