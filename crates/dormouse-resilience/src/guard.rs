//! The whole stack around the calls to one service.

mod admission;
mod builder;
mod call;
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

pub use self::{
    admission::Admission,
    builder::GuardBuilder,
    error::{CallError, Refusal, Scope, TimedOut},
};
use crate::{
    Bulkhead, CircuitBreaker, CircuitOpen, Health, Observed, RateLimiter, RetryBudget, RetryPolicy,
    ServiceHealth, Verdict, counted::Counted,
};

/// What a caller makes of a failure: two questions that have different answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Judgement {
    /// May this request succeed later?
    pub verdict: Verdict,
    /// Is the service ill?
    pub health: Health,
}

/// Everything that stands between a caller and one service, in one order:
///
/// ```text
/// overall deadline                    nothing takes longer than this, waiting included
///   retry, within the budget          each attempt goes through all that follows
///     a look at the breaker           nobody queues for a service that is left alone
///       bulkhead                      so many at a time
///         rate limit                  so many a minute
///           breaker                   is the service well?
///             attempt deadline        a service that hangs counts as ill
///               the call
/// ```
///
/// The breaker proper comes last, since it has to learn how each admitted call ended, and a trial must not stand in a
/// queue. A call it does not let through after all is given back to the rate limit. [`Verdict::RetryAfter`] also pauses
/// the rate limit, so that no other caller goes sooner either.
///
/// [`Guard::call`] does all of it. A streamed reply, whose end is far from its beginning, takes the same inner part in
/// two halves: [`Guard::admit`] before it is opened, [`Admission::record`] when it has ended.
///
/// A clone is another handle to the same guard: one for each service, shared by all who call it. Where nothing fails and
/// nothing waits it allocates nothing.
///
/// ```
/// # use dormouse_resilience::{CallError, Guard, Health, Judgement, RateLimit, Verdict};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let limit = RateLimit::as_told().try_with_requests(60, 10)?;
/// let guard = Guard::builder("kettle").rate_limit(limit).build();
/// let judge = |_: &std::fmt::Error| Judgement { verdict: Verdict::Retry, health: Health::Ill };
/// let tea = guard.call(0, || 0.5, judge, || async { Ok("tea") }).await?;
/// assert_eq!(tea, "tea");
/// println!("{}", guard.health());
/// # Ok(()) }
/// ```
#[derive(Clone)]
pub struct Guard {
    pub(crate) shared: Arc<Shared>,
}

pub(crate) struct Shared {
    breaker: CircuitBreaker,
    limiter: Option<RateLimiter>,
    bulkhead: Option<Bulkhead>,
    budget: RetryBudget,
    retry: RetryPolicy,
    attempt_deadline: Duration,
    overall_deadline: Duration,
    under_way: AtomicU32,
    waiting: AtomicU32,
}

impl Guard {
    /// A guard for the service of this name, made of defaults until something else is said: see [`GuardBuilder`].
    pub fn builder(name: impl Into<Arc<str>>) -> GuardBuilder {
        GuardBuilder::new(name.into())
    }

    /// Waits for a place and for the rate limit, and asks the breaker: the inner part of [`Guard::call`] without its
    /// deadlines and attempts. Dropping the returned future gives everything back.
    ///
    /// # Errors
    ///
    /// [`Refusal`], with what did not let it through. Nothing is taken of the rate limit then.
    pub async fn admit(&self, units: u32) -> Result<Admission, Refusal> {
        let shared = &*self.shared;
        // The clock is read once for all who do not wait, and again after each wait.
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
            Ok(permit) => Ok(Admission::new(self.clone(), permit, place, units)),
            Err(open) => {
                if let Some(limiter) = &shared.limiter {
                    limiter.give_back(units);
                }
                Err(open.into())
            }
        }
    }

    /// Would a call be let through by the breaker now? Never waits and changes nothing.
    ///
    /// # Errors
    ///
    /// [`CircuitOpen`] if not.
    pub fn peek(&self) -> Result<(), CircuitOpen> {
        self.shared.breaker.peek()
    }

    /// Takes in what the service told of its limits. Nothing happens without a rate limit;
    /// [`RateLimit::as_told`](crate::RateLimit::as_told) is one that only learns.
    pub fn observe(&self, observed: Observed) {
        if let Some(limiter) = &self.shared.limiter {
            limiter.observe(observed);
        }
    }

    /// Corrects an estimate, as [`RateLimiter::settle`] does. For [`Guard::call`]; an [`Admission`] has its own.
    pub fn settle(&self, estimated: u32, actual: u32) {
        if let Some(limiter) = &self.shared.limiter {
            limiter.settle(estimated, actual);
        }
    }

    /// Lets nobody through for so long, because the service asked for it. Nothing happens without a rate limit.
    pub fn pause(&self, pause: Duration) {
        if let Some(limiter) = &self.shared.limiter {
            limiter.pause(pause);
        }
    }

    /// The service is another one now, or is asked with other credentials: closes the breaker and forgets what the service
    /// told of its limits.
    pub fn configuration_changed(&self) {
        self.shared.breaker.configuration_changed();
        if let Some(limiter) = &self.shared.limiter {
            limiter.configuration_changed();
        }
    }

    /// What is known of the service.
    #[must_use]
    pub fn health(&self) -> ServiceHealth {
        self.shared.health()
    }
}

impl Shared {
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
