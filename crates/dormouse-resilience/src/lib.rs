//! Retries within a budget, deadlines, circuit breakers, rate limits and bulkheads, around any future.
//!
//! Layer 1. It has no code for models, worlds or HTTP. The caller classifies failures as a [`RetryVerdict`], randomness
//! is a function argument, and waiting uses tokio's clock, so that a paused clock controls all of it.
//!
//! Logic and waiting are separate. [`RetryPolicy`] contains the numbers, [`RetryState`] is the logic as a state machine
//! without a clock, and [`retry`] runs the calls and waits. [`deadline`] limits any future, even a whole retry:
//! `deadline(limit, retry(…))` limits the call, `retry(…, || deadline(limit, call()))` each attempt.
//!
//! Likewise, [`BreakerPolicy`] contains the numbers, [`Circuit`] is the logic as a state machine without a clock, and
//! [`CircuitBreaker`] adds the clock. The caller says what an error means for the service as [`Health`]. All three
//! together: `retry(…, || breaker.guard(judge, deadline(limit, call())))`.
//!
//! Three more parts can each be used alone: a [`RetryBudget`] that limits the retries of all callers together
//! ([`retry_within`], logic: [`Budget`]), a [`RateLimiter`] that also learns from what the service reports (logic:
//! [`Meter`]), and a [`Bulkhead`] that limits concurrent calls.
//!
//! [`Guard`] combines these protections around the calls to one service, in a fixed order, and [`HealthBoard`] reports
//! the health of every guarded service.
//!
//! Every function that waits needs a tokio runtime with a timer and panics without one, like tokio's own `sleep`.
//!
//! Stability: existing items do not change incompatibly; new ones may be added.

mod attempts;
mod board;
mod breaker;
mod budget;
mod bulkhead;
mod counted;
mod deadline;
mod guard;
mod limit;
mod policy;
mod retry;

pub use attempts::{RetryDecision, RetryState, RetryStopReason, RetryVerdict};
pub use board::{HealthBoard, ServiceHealth};
pub use breaker::{
    BreakerError, BreakerPolicy, BreakerPolicyError, Circuit, CircuitBreaker, CircuitHealth,
    CircuitOpen, CircuitState, Health, OpenReason, Permit, Ticket,
};
pub use budget::{Budget, BudgetPolicy, BudgetPolicyError, BudgetSpent, RetryBudget};
pub use bulkhead::{Bulkhead, BulkheadFull, BulkheadPermit, BulkheadPolicy, BulkheadPolicyError};
pub use deadline::{DeadlineExceeded, deadline};
pub use guard::{CallAdmission, Guard, GuardBuilder, NotAttempted};
pub use limit::{
    Level, LimitHealth, LimitReason, Meter, Quota, RateLimit, RateLimitError, RateLimited,
    RateLimiter, ReportedLimits,
};
pub use policy::{RetryPolicy, RetryPolicyError};
pub use retry::{Exhausted, retry, retry_within};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
