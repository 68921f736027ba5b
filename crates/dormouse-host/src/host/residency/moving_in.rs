//! Moving in: what the log of an assistant says of how it begins as a resident.

use std::{
    panic::resume_unwind,
    sync::{Arc, Mutex, PoisonError},
};

use dormouse_contracts::AssistantId;
use dormouse_engine::{State, restore};
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use super::{
    Order,
    at_rest::{AllAtRest, AtRest, RestPlace, WORTH_A_FILE},
    living::Rested,
};
use crate::host::{Host, Shared, error::HostError};

/// How many logs are read at the same time. The log has two reading threads; the others decode what was read.
const READING: usize = 4;

/// How a resident begins.
pub(super) enum Begins {
    /// Put away, as its log says.
    PutAway(Rested),
    /// Put away, as the file of residents at rest says.
    AsBefore(Rested),
    /// Awake, because it has something to do at once.
    Awake,
}

impl<W: ?Sized> Host<W> {
    /// Makes an assistant a resident: it wakes when its world has something for it or when something is due, and is put
    /// away when it has been at rest for a while. If nothing waits for it, it is not woken now.
    ///
    /// Reads its state from the log.
    ///
    /// # Errors
    ///
    /// [`HostError`] if its life cannot be read.
    pub async fn take_in(&self, key: &AssistantId) -> Result<(), HostError> {
        let orders = self.residency.orders(&self.shared);
        let orders = orders.ok_or(HostError::Closed)?;
        self.shared.take_in(&orders, key, None).await
    }

    /// Makes these assistants residents, as [`Host::take_in`] does. Several logs are read at the same time, and none of those that
    /// the file of residents at rest has, so thousands move in faster than one after the other. Returns the result for each, in any
    /// order.
    ///
    /// If the future is dropped, some have moved in.
    pub async fn take_in_all(
        &self,
        keys: Vec<AssistantId>,
    ) -> Vec<(AssistantId, Result<(), HostError>)> {
        let Some(orders) = self.residency.orders(&self.shared) else {
            let closed = |key| (key, Err(HostError::Closed));
            return keys.into_iter().map(closed).collect();
        };
        let at_rest = match keys.len() >= WORTH_A_FILE {
            true => RestPlace::of(&self.shared).read(),
            false => AllAtRest::new(),
        };
        let at_rest = Arc::new(at_rest);
        let left = Arc::new(Mutex::new(keys.into_iter()));
        let mut reading = JoinSet::new();
        for _ in 0..READING {
            let (shared, orders) = (Arc::clone(&self.shared), orders.clone());
            let (left, at_rest) = (Arc::clone(&left), Arc::clone(&at_rest));
            let next = move || left.lock().unwrap_or_else(PoisonError::into_inner).next();
            reading.spawn(async move {
                let mut taken_in = Vec::new();
                while let Some(key) = next() {
                    let result = shared.take_in(&orders, &key, at_rest.get(&key)).await;
                    taken_in.push((key, result));
                }
                taken_in
            });
        }
        let mut taken_in = Vec::new();
        while let Some(some) = reading.join_next().await {
            match some {
                Ok(some) => taken_in.extend(some),
                Err(error) if error.is_panic() => resume_unwind(error.into_panic()),
                // Nobody cancels these tasks.
                Err(_) => {}
            }
        }
        taken_in
    }
}

impl Shared {
    async fn take_in(
        &self,
        orders: &mpsc::UnboundedSender<Order>,
        key: &AssistantId,
        at_rest: Option<&AtRest>,
    ) -> Result<(), HostError> {
        let begins = match at_rest {
            Some(at_rest) if self.log.end_of(key)? == at_rest.seq => {
                Begins::AsBefore(at_rest.rested(self))
            }
            _ => self.begins(key).await?,
        };
        let (reply, taken_in) = oneshot::channel();
        let order = Order::TakeIn(key.clone(), begins, reply);
        orders.send(order).map_err(|_unsent| HostError::Closed)?;
        taken_in.await.map_err(|_unanswered| HostError::Closed)
    }

    /// How an assistant begins that has lived up to the end of its log.
    async fn begins(&self, key: &AssistantId) -> Result<Begins, HostError> {
        let restored = restore(&self.log, key).await;
        let state: State = restored.map_err(|source| HostError::Life {
            assistant: key.clone(),
            source,
        })?;
        if let Some(archived) = state.roster.archived {
            return Err(HostError::Archived {
                assistant: key.clone(),
                archived,
            });
        }
        // Its character enters the world when it wakes; before that nothing can call it.
        let is_new = state.roster.beginning.is_some() && state.configuration.persona.is_empty();
        // The program may have ended when only the delegate's log had the result of a task.
        if is_new || state.delegations.open().next().is_some() {
            return Ok(Begins::Awake);
        }
        Ok(Begins::PutAway(Rested::of(self, key, state)))
    }
}
