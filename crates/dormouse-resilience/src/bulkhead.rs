//! A bulkhead limits concurrent calls, so that one slow service cannot use up everything.

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::counted::Counted;

/// How many calls may run and how many may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BulkheadPolicy {
    at_once: u32,
    waiting: u32,
}

/// Why numbers are not a valid bulkhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BulkheadPolicyError {
    /// The number of concurrent calls is zero or more than [`BulkheadPolicy::MOST`].
    #[error(
        "the bulkhead allows {at_once} concurrent calls; expected 1..={}",
        BulkheadPolicy::MOST
    )]
    AtOnce {
        /// The given number.
        at_once: u32,
    },
    /// The number of waiting calls is more than [`BulkheadPolicy::MOST`].
    #[error(
        "the bulkhead allows {waiting} waiting calls; expected at most {}",
        BulkheadPolicy::MOST
    )]
    Waiting {
        /// The given number.
        waiting: u32,
    },
}

impl BulkheadPolicy {
    /// The largest number of concurrent calls, and of waiting calls.
    pub const MOST: u32 = 1_000_000;

    /// At most `at_once` concurrent calls and `waiting` waiting ones; zero for a bulkhead in which calls never wait.
    ///
    /// # Errors
    ///
    /// [`BulkheadPolicyError`] with the number that is out of range.
    pub fn try_new(at_once: u32, waiting: u32) -> Result<Self, BulkheadPolicyError> {
        if at_once == 0 || at_once > Self::MOST {
            return Err(BulkheadPolicyError::AtOnce { at_once });
        }
        if waiting > Self::MOST {
            return Err(BulkheadPolicyError::Waiting { waiting });
        }
        Ok(Self { at_once, waiting })
    }

    /// How many calls may run at the same time.
    #[must_use]
    pub fn at_once(&self) -> u32 {
        self.at_once
    }

    /// How many calls may wait.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.waiting
    }
}

/// A call was not attempted because the bulkhead and its queue are full.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "call not attempted: the limit of {under_way} calls in progress and {waiting} waiting is reached"
)]
pub struct BulkheadFull {
    /// How many calls may run.
    pub under_way: u32,
    /// How many calls may wait.
    pub waiting: u32,
}

/// Limits the number of concurrent calls and of waiting ones.
///
/// Waiting calls enter in the order in which they asked. A clone is another handle to the same bulkhead.
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
    shared: Arc<BulkheadShared>,
}

struct BulkheadShared {
    policy: BulkheadPolicy,
    places: Arc<Semaphore>,
    waiting: AtomicU32,
}

/// A place within a bulkhead. Dropping it admits the next call.
#[derive(Debug)]
#[must_use = "the place is given up when this is dropped"]
pub struct BulkheadPermit {
    _permit: OwnedSemaphorePermit,
}

impl Bulkhead {
    /// An empty bulkhead.
    #[must_use]
    pub fn new(policy: BulkheadPolicy) -> Self {
        // At most a million, which fits into every `usize`.
        let places = usize::try_from(policy.at_once).unwrap_or(1);
        Self {
            shared: Arc::new(BulkheadShared {
                policy,
                places: Arc::new(Semaphore::new(places)),
                waiting: AtomicU32::new(0),
            }),
        }
    }

    /// Waits for a place. Dropping the returned future gives up the place in the queue, or the place just acquired.
    ///
    /// # Errors
    ///
    /// [`BulkheadFull`] at once if the queue is full.
    pub async fn enter(&self) -> Result<BulkheadPermit, BulkheadFull> {
        if let Ok(place) = self.try_enter() {
            return Ok(place);
        }
        let Some(_waiting) = Counted::within(&self.shared.waiting, self.shared.policy.waiting)
        else {
            return Err(self.full());
        };
        let permit = self.shared.places.clone().acquire_owned().await;
        // `acquire` fails only on a closed semaphore, and this one is never closed.
        permit
            .map(BulkheadPermit::new)
            .map_err(|_closed| self.full())
    }

    /// Enters if a place is free and no call waits for it.
    ///
    /// # Errors
    ///
    /// [`BulkheadFull`] otherwise.
    pub fn try_enter(&self) -> Result<BulkheadPermit, BulkheadFull> {
        let permit = self.shared.places.clone().try_acquire_owned();
        permit.map(BulkheadPermit::new).map_err(|_none| self.full())
    }

    /// The number of calls in progress.
    #[must_use]
    pub fn under_way(&self) -> u32 {
        let free = u32::try_from(self.shared.places.available_permits()).unwrap_or(u32::MAX);
        self.shared.policy.at_once.saturating_sub(free)
    }

    /// The number of waiting calls.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.shared.waiting.load(Ordering::Relaxed)
    }

    /// The limits.
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

impl BulkheadPermit {
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
