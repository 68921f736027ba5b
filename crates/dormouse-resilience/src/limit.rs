//! A rate limit: no more requests than a service allows, and none before it wants any.

mod bucket;
mod gauge;
mod health;
mod meter;
mod policy;
mod told;

use std::{
    fmt,
    sync::{
        Arc, MutexGuard, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Mutex, Notify},
    time::{Instant, timeout},
};

pub use self::{
    health::{Level, LimitHealth, LimitReason, Limited},
    meter::Meter,
    policy::{RateLimit, RateLimitError},
    told::{Observed, Quota},
};
use crate::counted::Counted;

/// Lets requests through to a service at the rate it allows.
///
/// The rule is that of [`Meter`], the clock is tokio's. Who waits is let through in the order of asking, and nobody
/// overtakes, so a large request is not starved by small ones. A clone is another handle to the same limiter: one for
/// each service and key, shared by all who call it. It needs no task of its own.
///
/// What a call will cost is estimated when it is let through and corrected with [`RateLimiter::settle`] afterwards. What
/// the service says about its limits is told with [`RateLimiter::observe`] and [`RateLimiter::pause`], and only ever
/// makes it stricter.
///
/// ```
/// # use std::time::Duration;
/// # use dormouse_resilience::{LimitReason, Limited, RateLimit, RateLimiter};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limit = RateLimit::as_told().try_with_requests(60, 10)?.try_with_units(30_000, 30_000)?;
/// let limiter = RateLimiter::new(limit);
/// limiter.acquire(4_000).await?;
/// limiter.settle(4_000, 1_200);
/// let too_large = limiter.acquire(31_000).await;
/// assert_eq!(too_large, Err(Limited::TooLarge { units: 31_000, most: 30_000 }));
/// limiter.pause(Duration::from_secs(600));
/// let later = limiter.acquire(10).await;
/// assert!(matches!(later, Err(Limited::Later { reason: LimitReason::Paused, .. })));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct RateLimiter {
    shared: Arc<Shared>,
}

struct Shared {
    policy: RateLimit,
    start: Instant,
    meter: std::sync::Mutex<Meter>,
    /// Held by whoever is next; the others queue for it.
    turn: Mutex<()>,
    /// How many wait, whoever is next included.
    waiting: AtomicU32,
    /// Something was put back, or a pause ended early.
    loosened: Notify,
}

impl RateLimiter {
    /// A limiter through which nothing has gone yet.
    #[must_use]
    pub fn new(policy: RateLimit) -> Self {
        Self {
            shared: Arc::new(Shared {
                policy,
                start: Instant::now(),
                meter: std::sync::Mutex::new(Meter::new(policy)),
                turn: Mutex::new(()),
                waiting: AtomicU32::new(0),
                loosened: Notify::new(),
            }),
        }
    }

    /// Waits until one request of so many units may be made, and counts it as made.
    ///
    /// Dropping the returned future gives the place in the queue back; nothing is taken of the limit then. A request
    /// that was let through and is not made after all is given back with [`RateLimiter::give_back`].
    ///
    /// # Errors
    ///
    /// [`Limited::TooLarge`] at once; [`Limited::Later`] as soon as it is known that it would wait longer than
    /// [`RateLimit::longest_wait`], queueing included.
    pub async fn acquire(&self, units: u32) -> Result<(), Limited> {
        match self.try_acquire(units) {
            Err(Limited::Later { .. }) if !self.shared.policy.longest_wait().is_zero() => {
                self.wait(units).await
            }
            done => done,
        }
    }

    /// Lets one request of so many units through if it need not wait, and counts it as made. Who waits already is not
    /// overtaken.
    ///
    /// # Errors
    ///
    /// [`Limited`] if not.
    pub fn try_acquire(&self, units: u32) -> Result<(), Limited> {
        self.try_acquire_at(units, Instant::now())
    }

    /// [`RateLimiter::try_acquire`] for who has just read the clock.
    pub(crate) fn try_acquire_at(&self, units: u32, now: Instant) -> Result<(), Limited> {
        if self.waiting() > 0 {
            return Err(self.queued(units));
        }
        self.meter().take(units, now - self.shared.start)
    }

    async fn wait(&self, units: u32) -> Result<(), Limited> {
        let longest = self.shared.policy.longest_wait();
        let asked = Instant::now();
        let _waiting = Counted::one_more(&self.shared.waiting);
        let turn = timeout(longest, self.shared.turn.lock()).await;
        let Ok(_turn) = turn else {
            return Err(self.queued(units));
        };
        loop {
            let limited = match self.with(|meter, now| meter.take(units, now)) {
                Ok(()) => return Ok(()),
                Err(limited) => limited,
            };
            match limited {
                Limited::Later { retry_in, .. }
                    if asked.elapsed().saturating_add(retry_in) <= longest =>
                {
                    // Either is a reason to look again.
                    let _ended = timeout(retry_in, self.shared.loosened.notified()).await;
                }
                Limited::Later { .. } | Limited::TooLarge { .. } => return Err(limited),
            }
        }
    }

    /// Why a request does not get through that would have to overtake.
    fn queued(&self, units: u32) -> Limited {
        let queued = |retry_in| Limited::Later {
            retry_in,
            reason: LimitReason::Queued,
        };
        match self.with(|meter, now| meter.peek(units, now)) {
            Ok(()) => queued(Duration::ZERO),
            Err(Limited::Later { retry_in, .. }) => queued(retry_in),
            Err(never @ Limited::TooLarge { .. }) => never,
        }
    }

    /// Puts a request back that was let through and not made.
    pub fn give_back(&self, units: u32) {
        self.loosen(|meter, _now| meter.give_back(units));
    }

    /// Corrects an estimate: a request that was let through with `estimated` units had `actual` ones. Where these are
    /// more, whoever comes next waits for the difference too.
    pub fn settle(&self, estimated: u32, actual: u32) {
        self.loosen(|meter, now| meter.settle(estimated, actual, now));
    }

    /// Takes in what the service told of its limits.
    pub fn observe(&self, observed: Observed) {
        self.loosen(|meter, now| meter.observe(observed, now));
    }

    /// Lets nothing through for so long, because the service asked for it ("Retry-After"), those included who wait
    /// already. A shorter pause never ends a longer one; one of more than [`Meter::LONGEST_PAUSE`] counts as that.
    pub fn pause(&self, pause: Duration) {
        self.with(|meter, now| meter.pause(pause, now));
    }

    /// The service is another one now, or is asked with other credentials: forgets pauses and what it told.
    pub fn configuration_changed(&self) {
        self.loosen(|meter, _now| meter.configuration_changed());
    }

    /// How many requests are waiting.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.shared.waiting.load(Ordering::Relaxed)
    }

    /// Could a request of so many units ever get through?
    pub(crate) fn fits_ever(&self, units: u32) -> Result<(), Limited> {
        self.shared.policy.fits_ever(units)
    }

    /// What is left of the limits.
    #[must_use]
    pub fn health(&self) -> LimitHealth {
        self.with(|meter, now| meter.read(now))
    }

    fn loosen(&self, change: impl FnOnce(&mut Meter, Duration)) {
        self.with(change);
        self.shared.loosened.notify_one();
    }

    fn with<T>(&self, act: impl FnOnce(&mut Meter, Duration) -> T) -> T {
        let now = self.shared.start.elapsed();
        act(&mut self.meter(), now)
    }

    fn meter(&self) -> MutexGuard<'_, Meter> {
        let meter = self.shared.meter.lock();
        meter.unwrap_or_else(PoisonError::into_inner)
    }
}

impl fmt::Debug for RateLimiter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RateLimiter")
            .field("policy", &self.shared.policy)
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
