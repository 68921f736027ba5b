//! The parts of a guard.

use std::sync::{Arc, atomic::AtomicU32};

use super::{Guard, GuardShared};
use crate::{
    BreakerPolicy, Bulkhead, BulkheadPolicy, CircuitBreaker, RateLimit, RateLimiter, RetryBudget,
};

/// Builds a [`Guard`]. The defaults are [`BreakerPolicy::service`], a [`RetryBudget`] of its own with
/// [`BudgetPolicy::service`](crate::BudgetPolicy::service), no bulkhead and no rate limit.
#[derive(Clone, Debug)]
#[must_use = "it is built with `build`"]
pub struct GuardBuilder {
    name: Arc<str>,
    breaker: BreakerPolicy,
    limiter: Option<RateLimiter>,
    bulkhead: Option<BulkheadPolicy>,
    budget: Option<RetryBudget>,
}

impl GuardBuilder {
    pub(super) fn new(name: Arc<str>) -> Self {
        Self {
            name,
            breaker: BreakerPolicy::service(),
            limiter: None,
            bulkhead: None,
            budget: None,
        }
    }

    /// Sets the breaker policy.
    pub fn breaker(self, breaker: BreakerPolicy) -> Self {
        Self { breaker, ..self }
    }

    /// Sets the retry budget of the callers, which may be shared with other guards. The guard does not use it, and only
    /// reports it.
    pub fn budget(self, budget: RetryBudget) -> Self {
        Self {
            budget: Some(budget),
            ..self
        }
    }

    /// Limits concurrent calls.
    pub fn bulkhead(self, bulkhead: BulkheadPolicy) -> Self {
        Self {
            bulkhead: Some(bulkhead),
            ..self
        }
    }

    /// Limits the rate of calls.
    pub fn rate_limit(self, limit: RateLimit) -> Self {
        self.rate_limiter(RateLimiter::new(limit))
    }

    /// Limits the rate of calls together with all other users of this limiter, for example of several models behind one
    /// key.
    pub fn rate_limiter(self, limiter: RateLimiter) -> Self {
        Self {
            limiter: Some(limiter),
            ..self
        }
    }

    /// Builds the guard.
    #[must_use]
    pub fn build(self) -> Guard {
        Guard {
            shared: Arc::new(GuardShared {
                breaker: CircuitBreaker::new(self.name, self.breaker),
                limiter: self.limiter,
                bulkhead: self.bulkhead.map(Bulkhead::new),
                budget: self.budget.unwrap_or_default(),
                under_way: AtomicU32::new(0),
                waiting: AtomicU32::new(0),
            }),
        }
    }
}
