//! The whole stack around the calls to one service.

mod admission;
mod builder;
mod error;

use std::{
    fmt,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
    time::Duration,
};

use tokio::time::Instant;

pub use self::{admission::CallAdmission, builder::GuardBuilder, error::NotAttempted};
use crate::{
    Bulkhead, CircuitBreaker, CircuitOpen, RateLimiter, ReportedLimits, RetryBudget, ServiceHealth,
    counted::Counted,
};

/// All protections around the calls to one service, in a fixed order:
///
/// ```text
/// breaker (check only)      no call waits for a service whose circuit is open
///   bulkhead                limits running and waiting calls
///     rate limit            limits calls per minute
///       breaker             refuses calls to a failing service
///         the call
/// ```
///
/// The breaker itself comes last, because it has to learn how each admitted call ended, and a trial must not wait in a
/// queue. If it rejects a call, the rate limit gets the call's units back.
///
/// [`Guard::admit`] comes before the call and [`CallAdmission::record`] after it, however far apart they are: a
/// streamed reply ends long after it began. The caller adds deadlines and retries: each attempt is admitted separately.
///
/// A clone is another handle to the same guard: use one per service, shared by all callers. Admission allocates nothing
/// if no call waits.
///
/// ```
/// # use dormouse_resilience::{Guard, Health, RateLimit};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limit = RateLimit::reported_only().try_with_requests(60, 10)?;
/// let guard = Guard::builder("kettle").rate_limit(limit).build();
/// let admission = guard.admit(0).await?;
/// let tea = "tea"; // from the service
/// admission.record(Health::Healthy);
/// println!("{tea}; {}", guard.health());
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Guard {
    pub(crate) shared: Arc<GuardShared>,
}

pub(crate) struct GuardShared {
    breaker: CircuitBreaker,
    limiter: Option<RateLimiter>,
    bulkhead: Option<Bulkhead>,
    budget: RetryBudget,
    under_way: AtomicU32,
    waiting: AtomicU32,
}

impl Guard {
    /// A guard for the service of this name, with defaults that [`GuardBuilder`] can change.
    pub fn builder(name: impl Into<Arc<str>>) -> GuardBuilder {
        GuardBuilder::new(name.into())
    }

    /// Waits for a place in the bulkhead and for the rate limit, and asks the breaker. `units` is the estimated cost of
    /// the call for the rate limit; [`CallAdmission::settle`] corrects it. Dropping the returned future gives
    /// everything back.
    ///
    /// # Errors
    ///
    /// [`NotAttempted`] with the part that rejected the call. Nothing is taken from the rate limit then.
    pub async fn admit(&self, units: u32) -> Result<CallAdmission, NotAttempted> {
        let shared = &*self.shared;
        // The clock is read once for calls that do not wait, and again after each wait.
        let mut now = Instant::now();
        shared.breaker.peek_at(now)?;
        if let Some(limiter) = &shared.limiter {
            limiter.fits_ever(units)?;
        }
        let waiting = Counted::one_more(&shared.waiting);
        let mut place = None;
        if let Some(bulkhead) = &shared.bulkhead {
            place = bulkhead.try_enter().ok();
            if place.is_none() {
                place = Some(bulkhead.enter().await?);
                now = Instant::now();
            }
        }
        if let Some(limiter) = &shared.limiter
            && limiter.try_acquire_at(units, now).is_err()
        {
            limiter.acquire(units).await?;
            now = Instant::now();
        }
        drop(waiting);
        match shared.breaker.admit_at(now) {
            Ok(permit) => Ok(CallAdmission::new(self.clone(), permit, place, units)),
            Err(open) => {
                if let Some(limiter) = &shared.limiter {
                    limiter.give_back(units);
                }
                Err(open.into())
            }
        }
    }

    /// Whether the breaker would admit a call now. Never waits and changes nothing.
    ///
    /// # Errors
    ///
    /// [`CircuitOpen`] if not.
    pub fn peek(&self) -> Result<(), CircuitOpen> {
        self.shared.breaker.peek()
    }

    /// Applies the limits that the service reported. Nothing happens without a rate limit;
    /// [`RateLimit::reported_only`](crate::RateLimit::reported_only) is one that only learns.
    pub fn observe(&self, observed: ReportedLimits) {
        if let Some(limiter) = &self.shared.limiter {
            limiter.observe(observed);
        }
    }

    /// Corrects an estimate, as [`RateLimiter::settle`] does.
    fn settle(&self, estimated: u32, actual: u32) {
        if let Some(limiter) = &self.shared.limiter {
            limiter.settle(estimated, actual);
        }
    }

    /// Admits no calls for this time, because the service asked for a pause. Nothing happens without a rate limit.
    pub fn pause(&self, pause: Duration) {
        if let Some(limiter) = &self.shared.limiter {
            limiter.pause(pause);
        }
    }

    /// Closes the breaker and forgets the reported limits, because the service or its credentials changed.
    pub fn configuration_changed(&self) {
        self.shared.breaker.configuration_changed();
        if let Some(limiter) = &self.shared.limiter {
            limiter.configuration_changed();
        }
    }

    /// The name of the service.
    #[must_use]
    pub fn name(&self) -> &str {
        self.shared.breaker.name()
    }

    /// The health of the service.
    #[must_use]
    pub fn health(&self) -> ServiceHealth {
        self.shared.health()
    }
}

impl GuardShared {
    pub(crate) fn health(&self) -> ServiceHealth {
        ServiceHealth {
            circuit: self.breaker.health(),
            under_way: self.under_way.load(Ordering::Relaxed),
            waiting: self.waiting.load(Ordering::Relaxed),
            limit: self.limiter.as_ref().map(RateLimiter::health),
            retries_left: Some(self.budget.left()),
        }
    }
}

impl fmt::Debug for Guard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Guard")
            .field("health", &self.health())
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
