//! What a guard is made of.

use std::{
    sync::{Arc, atomic::AtomicU32},
    time::Duration,
};

use super::{Guard, Shared};
use crate::{
    BreakerPolicy, Bulkhead, BulkheadPolicy, CircuitBreaker, RateLimit, RateLimiter, RetryBudget,
    RetryPolicy,
};

/// The parts of a [`Guard`]. Without a word about it: [`BreakerPolicy::service`], [`RetryPolicy::model_call`], a
/// [`RetryBudget`] of its own with [`BudgetPolicy::service`](crate::BudgetPolicy::service), 120 s for an attempt, 600 s
/// overall, no bulkhead and no rate limit.
#[derive(Clone, Debug)]
#[must_use = "it is built with `build`"]
pub struct GuardBuilder {
    name: Arc<str>,
    breaker: BreakerPolicy,
    limiter: Option<RateLimiter>,
    bulkhead: Option<BulkheadPolicy>,
    budget: Option<RetryBudget>,
    retry: RetryPolicy,
    attempt_deadline: Duration,
    overall_deadline: Duration,
}

impl GuardBuilder {
    /// How long an attempt may take where nothing else is said.
    pub const DEFAULT_ATTEMPT_DEADLINE: Duration = Duration::from_secs(120);

    /// How long everything may take where nothing else is said: three attempts, and the longest pauses between them.
    pub const DEFAULT_OVERALL_DEADLINE: Duration = Duration::from_secs(600);

    pub(super) fn new(name: Arc<str>) -> Self {
        Self {
            name,
            breaker: BreakerPolicy::service(),
            limiter: None,
            bulkhead: None,
            budget: None,
            retry: RetryPolicy::model_call(),
            attempt_deadline: Self::DEFAULT_ATTEMPT_DEADLINE,
            overall_deadline: Self::DEFAULT_OVERALL_DEADLINE,
        }
    }

    /// When the service is left alone.
    pub fn breaker(self, breaker: BreakerPolicy) -> Self {
        Self { breaker, ..self }
    }

    /// How often a call is tried. A policy of one attempt is for what must not happen twice.
    pub fn retry(self, retry: RetryPolicy) -> Self {
        Self { retry, ..self }
    }

    /// The budget of the retries, which may be shared with other guards.
    pub fn budget(self, budget: RetryBudget) -> Self {
        Self {
            budget: Some(budget),
            ..self
        }
    }

    /// How many calls may be under way.
    pub fn bulkhead(self, bulkhead: BulkheadPolicy) -> Self {
        Self {
            bulkhead: Some(bulkhead),
            ..self
        }
    }

    /// How many calls may be made.
    pub fn rate_limit(self, limit: RateLimit) -> Self {
        self.rate_limiter(RateLimiter::new(limit))
    }

    /// How many calls may be made, together with everybody else who has this limiter: several models behind one key, for
    /// instance.
    pub fn rate_limiter(self, limiter: RateLimiter) -> Self {
        Self {
            limiter: Some(limiter),
            ..self
        }
    }

    /// How long an attempt may take. [`Duration::MAX`] for no limit.
    pub fn attempt_deadline(self, attempt_deadline: Duration) -> Self {
        Self {
            attempt_deadline,
            ..self
        }
    }

    /// How long everything may take, waiting and pauses included. [`Duration::MAX`] for no limit. Longer than an attempt
    /// may take, or a service that hangs is never found out: what this cuts off says nothing about the service.
    pub fn overall_deadline(self, overall_deadline: Duration) -> Self {
        Self {
            overall_deadline,
            ..self
        }
    }

    /// The guard.
    #[must_use]
    pub fn build(self) -> Guard {
        Guard {
            shared: Arc::new(Shared {
                breaker: CircuitBreaker::new(self.name, self.breaker),
                limiter: self.limiter,
                bulkhead: self.bulkhead.map(Bulkhead::new),
                budget: self.budget.unwrap_or_default(),
                retry: self.retry,
                attempt_deadline: self.attempt_deadline,
                overall_deadline: self.overall_deadline,
                under_way: AtomicU32::new(0),
                waiting: AtomicU32::new(0),
            }),
        }
    }
}
