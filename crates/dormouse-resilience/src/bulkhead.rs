//! A bulkhead: so many calls at a time, so that one slow service does not take everything with it.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::counted::Counted;

/// How many calls may be under way, and how many may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BulkheadPolicy {
    at_once: u32,
    waiting: u32,
}

/// Why numbers make no bulkhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BulkheadPolicyError {
    /// At least one call may be under way, and at most [`BulkheadPolicy::MOST`].
    #[error(
        "{at_once} calls at once are not possible: between 1 and {} are",
        BulkheadPolicy::MOST
    )]
    AtOnce {
        /// What was asked for.
        at_once: u32,
    },
    /// At most [`BulkheadPolicy::MOST`] calls may wait.
    #[error(
        "{waiting} waiting calls are not possible: at most {} are",
        BulkheadPolicy::MOST
    )]
    Waiting {
        /// What was asked for.
        waiting: u32,
    },
}

impl BulkheadPolicy {
    /// The most calls a policy may let in, and the most it may let wait.
    pub const MOST: u32 = 1_000_000;

    /// At most `at_once` calls under way and `waiting` more that wait for them; none for a bulkhead that never lets
    /// anybody wait.
    ///
    /// # Errors
    ///
    /// [`BulkheadPolicyError`], which names the number that is out of its range.
    pub fn try_new(at_once: u32, waiting: u32) -> Result<Self, BulkheadPolicyError> {
        if at_once == 0 || at_once > Self::MOST {
            return Err(BulkheadPolicyError::AtOnce { at_once });
        }
        if waiting > Self::MOST {
            return Err(BulkheadPolicyError::Waiting { waiting });
        }
        Ok(Self { at_once, waiting })
    }

    /// How many calls may be under way.
    #[must_use]
    pub fn at_once(&self) -> u32 {
        self.at_once
    }

    /// How many more may wait.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }
}

/// A call was not made, because as many are under way and waiting as may be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{under_way} calls are under way and {waiting} are waiting, which is all there may be")]
pub struct BulkheadFull {
    /// How many may be under way.
    pub under_way: u32,
    /// How many may wait.
    pub waiting: u32,
}

/// Lets so many calls in at a time, and so many wait.
///
/// Who waits is let in in the order of asking, and nobody overtakes. A clone is another handle to the same bulkhead.
///
/// ```
/// # use dormouse_resilience::{Bulkhead, BulkheadPolicy};
/// let bulkhead = Bulkhead::new(BulkheadPolicy::try_new(1, 0)?);
/// let place = bulkhead.try_enter()?;
/// assert!(bulkhead.try_enter().is_err());
/// drop(place);
/// assert!(bulkhead.try_enter().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Bulkhead {
    shared: Arc<Shared>,
}

struct Shared {
    policy: BulkheadPolicy,
    places: Arc<Semaphore>,
    waiting: AtomicU32,
}

/// A place within a bulkhead. Dropping it lets the next one in.
#[derive(Debug)]
#[must_use = "the place is given up when this is dropped"]
pub struct Place {
    _permit: OwnedSemaphorePermit,
}

impl Bulkhead {
    /// An empty bulkhead.
    #[must_use]
    pub fn new(policy: BulkheadPolicy) -> Self {
        // A million at most, which fits everywhere.
        let places = usize::try_from(policy.at_once).unwrap_or(1);
        Self {
            shared: Arc::new(Shared {
                policy,
                places: Arc::new(Semaphore::new(places)),
                waiting: AtomicU32::new(0),
            }),
        }
    }

    /// Enters, as soon as there is a place. Dropping the returned future gives the place in the queue back, or the one
    /// just got.
    ///
    /// # Errors
    ///
    /// [`BulkheadFull`], at once, if as many are waiting as may.
    pub async fn enter(&self) -> Result<Place, BulkheadFull> {
        if let Ok(place) = self.try_enter() {
            return Ok(place);
        }
        let Some(_waiting) = Counted::within(&self.shared.waiting, self.shared.policy.waiting)
        else {
            return Err(self.full());
        };
        let permit = self.shared.places.clone().acquire_owned().await;
        // It fails only if the semaphore is closed, which nobody does.
        permit.map(Place::new).map_err(|_closed| self.full())
    }

    /// Enters if there is a place now and nobody waits for it.
    ///
    /// # Errors
    ///
    /// [`BulkheadFull`] if not.
    pub fn try_enter(&self) -> Result<Place, BulkheadFull> {
        let permit = self.shared.places.clone().try_acquire_owned();
        permit.map(Place::new).map_err(|_none| self.full())
    }

    /// How many calls are under way.
    #[must_use]
    pub fn under_way(&self) -> u32 {
        let free = u32::try_from(self.shared.places.available_permits()).unwrap_or(u32::MAX);
        self.shared.policy.at_once.saturating_sub(free)
    }

    /// How many are waiting.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.shared.waiting.load(Ordering::Relaxed)
    }

    /// How many there may be of each.
    #[must_use]
    pub fn policy(&self) -> BulkheadPolicy {
        self.shared.policy
    }

    fn full(&self) -> BulkheadFull {
        BulkheadFull {
            under_way: self.shared.policy.at_once,
            waiting: self.shared.policy.waiting,
        }
    }
}

impl Place {
    fn new(permit: OwnedSemaphorePermit) -> Self {
        Self { _permit: permit }
    }
}

impl fmt::Debug for Bulkhead {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bulkhead")
            .field("policy", &self.shared.policy)
            .field("under_way", &self.under_way())
            .field("waiting", &self.waiting())
            .finish()
    }
}

#[cfg(test)]
mod tests;
