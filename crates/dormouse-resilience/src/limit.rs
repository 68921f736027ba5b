//! A rate limit keeps requests within what a service allows, and respects its Retry-After.

mod bucket;
mod gauge;
mod health;
mod meter;
mod policy;
mod reported;

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
    health::{Level, LimitHealth, LimitReason, RateLimited},
    meter::Meter,
    policy::{RateLimit, RateLimitError},
    reported::{Quota, ReportedLimits},
};
use crate::counted::Counted;

/// Admits requests to a service at an allowed rate.
///
/// [`Meter`] contains the logic; this type adds tokio's clock. Waiting requests are admitted in the order in which they
/// asked, so small requests cannot starve a large one. A clone is another handle to the same limiter: use one per
/// service and key, shared by all callers. It needs no task of its own.
///
/// The units of a call are estimated on admission and corrected with [`RateLimiter::settle`] afterwards. Pass what the
/// service reports about its limits to [`RateLimiter::observe`] and [`RateLimiter::pause`]; it only makes the limit
/// stricter.
///
/// ```
/// # use std::time::Duration;
/// # use dormouse_resilience::{LimitReason, RateLimited, RateLimit, RateLimiter};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limit = RateLimit::reported_only().try_with_requests(60, 10)?.try_with_units(30_000, 30_000)?;
/// let limiter = RateLimiter::new(limit);
/// limiter.acquire(4_000).await?;
/// limiter.settle(4_000, 1_200);
/// let too_large = limiter.acquire(31_000).await;
/// assert_eq!(too_large, Err(RateLimited::TooLarge { units: 31_000, most: 30_000 }));
/// limiter.pause(Duration::from_secs(600));
/// let later = limiter.acquire(10).await;
/// assert!(matches!(later, Err(RateLimited::Later { reason: LimitReason::Paused, .. })));
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct RateLimiter {
    shared: Arc<LimiterShared>,
}

struct LimiterShared {
    policy: RateLimit,
    start: Instant,
    meter: std::sync::Mutex<Meter>,
    /// Held by the next request in the queue; the others wait for it.
    turn: Mutex<()>,
    /// The number of waiting requests, including the next one.
    waiting: AtomicU32,
    /// Notified when units were given back or limits were loosened.
    loosened: Notify,
}

impl RateLimiter {
    /// A limiter with its full burst.
    #[must_use]
    pub fn new(policy: RateLimit) -> Self {
        Self {
            shared: Arc::new(LimiterShared {
                policy,
                start: Instant::now(),
                meter: std::sync::Mutex::new(Meter::new(policy)),
                turn: Mutex::new(()),
                waiting: AtomicU32::new(0),
                loosened: Notify::new(),
            }),
        }
    }

    /// Waits until a request of `units` units may be made, and counts it as made.
    ///
    /// Dropping the returned future gives up the place in the queue and takes nothing from the limit. If an admitted
    /// request is not made, give it back with [`RateLimiter::give_back`].
    ///
    /// # Errors
    ///
    /// [`RateLimited::TooLarge`] at once; [`RateLimited::Later`] as soon as it is clear that the request would wait
    /// longer than [`RateLimit::longest_wait`], including time in the queue.
    pub async fn acquire(&self, units: u32) -> Result<(), RateLimited> {
        match self.try_acquire(units) {
            // If a request may not wait, the rejection is final, so the request must not enter the queue.
            Err(RateLimited::Later { .. }) if !self.shared.policy.longest_wait().is_zero() => {
                self.wait(units).await
            }
            done => done,
        }
    }

    /// Admits a request of `units` units if it need not wait, and counts it as made. It never overtakes waiting
    /// requests.
    ///
    /// # Errors
    ///
    /// [`RateLimited`] otherwise.
    pub fn try_acquire(&self, units: u32) -> Result<(), RateLimited> {
        self.try_acquire_at(units, Instant::now())
    }

    /// [`RateLimiter::try_acquire`] for a caller that has just read the clock.
    pub(crate) fn try_acquire_at(&self, units: u32, now: Instant) -> Result<(), RateLimited> {
        // A free unit belongs to the first request in the queue, even if that request has not woken up yet.
        if self.waiting() > 0 {
            return Err(self.queued(units));
        }
        self.meter().take(units, now - self.shared.start)
    }

    async fn wait(&self, units: u32) -> Result<(), RateLimited> {
        let longest = self.shared.policy.longest_wait();
        let asked = Instant::now();
        // The count starts before the lock, so that `try_acquire` sees this request while it still queues for `turn`.
        let _waiting = Counted::one_more(&self.shared.waiting);
        // tokio's mutex is fair: it is the queue, in the order of asking.
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
                RateLimited::Later { retry_in, .. }
                    // Fails early: a request that would wait too long is rejected now, not after the wait.
                    if asked.elapsed().saturating_add(retry_in) <= longest =>
                {
                    // Both the end of the wait and a loosened limit are reasons to try again. `notify_one` stores a
                    // permit, so a limit that is loosened between `take` and `notified` wakes this request too.
                    let _ended = timeout(retry_in, self.shared.loosened.notified()).await;
                }
                RateLimited::Later { .. } | RateLimited::TooLarge { .. } => return Err(limited),
            }
        }
    }

    /// The error for a request that would have to overtake others.
    fn queued(&self, units: u32) -> RateLimited {
        let queued = |retry_in| RateLimited::Later {
            retry_in,
            reason: LimitReason::Queued,
        };
        match self.with(|meter, now| meter.peek(units, now)) {
            Ok(()) => queued(Duration::ZERO),
            Err(RateLimited::Later { retry_in, .. }) => queued(retry_in),
            Err(never @ RateLimited::TooLarge { .. }) => never,
        }
    }

    /// Gives back an admitted request that was not made.
    pub fn give_back(&self, units: u32) {
        self.loosen(|meter, _now| meter.give_back(units));
    }

    /// Corrects an estimate: an admitted request with `estimated` units took `actual` units. If `actual` is more than
    /// `estimated`, the next requests wait for the difference.
    pub fn settle(&self, estimated: u32, actual: u32) {
        self.loosen(|meter, now| meter.settle(estimated, actual, now));
    }

    /// Applies the limits that the service reported.
    pub fn observe(&self, observed: ReportedLimits) {
        self.loosen(|meter, now| meter.observe(observed, now));
    }

    /// Admits no requests for the given time, because the service asked for a pause ("Retry-After"). This includes
    /// waiting requests. A shorter pause never ends a longer one; a pause longer than [`Meter::LONGEST_PAUSE`] is cut
    /// to that.
    pub fn pause(&self, pause: Duration) {
        self.with(|meter, now| meter.pause(pause, now));
    }

    /// Forgets pauses and reported limits, because the service or its credentials changed.
    pub fn configuration_changed(&self) {
        self.loosen(|meter, _now| meter.configuration_changed());
    }

    /// The number of waiting requests.
    #[must_use]
    pub fn waiting(&self) -> u32 {
        self.shared.waiting.load(Ordering::Relaxed)
    }

    /// Whether a request of `units` units can ever be admitted.
    pub(crate) fn fits_ever(&self, units: u32) -> Result<(), RateLimited> {
        self.shared.policy.fits_ever(units)
    }

    /// What is left of the limits.
    #[must_use]
    pub fn health(&self) -> LimitHealth {
        self.with(|meter, now| meter.read(now))
    }

    fn loosen(&self, change: impl FnOnce(&mut Meter, Duration)) {
        self.with(change);
        // Waking one request is enough: only the holder of `turn` ever waits for this.
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
