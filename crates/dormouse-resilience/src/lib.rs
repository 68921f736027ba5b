//! Retries within a budget, deadlines, circuit breakers, rate limits, bulkheads and hedging, around any future.
//!
//! Layer 1. It knows nothing of models, worlds or HTTP: what may be tried again is told by the caller as a
//! [`Verdict`], chance comes in as a function, and waiting is tokio's, so that a paused clock steers all of it.
//!
//! The rule and its execution are apart. [`RetryPolicy`] says how often and how long, [`Attempts`] is the rule as
//! a state machine without time in it, and [`retry`] carries it out. [`deadline`] bounds any future, a whole retry
//! included: `deadline(limit, retry(…))` bounds the call, `retry(…, || deadline(limit, call()))` each attempt.
//!
//! Likewise [`BreakerPolicy`] says when a service is taken to be ill, [`Circuit`] is the rule as a state machine that is
//! told the time, and [`CircuitBreaker`] carries it out. What an error says about the service is told by the caller as
//! [`Health`]. All three together: `retry(…, || breaker.guard(judge, deadline(limit, call())))`.
//!
//! Beside these stand, each usable alone: a [`RetryBudget`] that bounds the retries of all callers together
//! ([`retry_within`], rule: [`Budget`]), a [`RateLimiter`] that also learns from what the service tells (rule:
//! [`Meter`]), a [`Bulkhead`] that bounds the calls at a time, and [`hedge`], which is off unless asked for.
//!
//! [`Guard`] is all of them around one service, in one order, and [`HealthBoard`] tells how every guarded service is.
//!
//! Whatever waits needs a tokio runtime with its timer and panics without one, as tokio's own `sleep` does.
//!
//! Stability: what is here keeps its shape; more may come beside it.

mod attempts;
mod board;
mod breaker;
mod budget;
mod bulkhead;
mod counted;
mod deadline;
mod guard;
mod hedge;
mod limit;
mod policy;
mod retry;

pub use attempts::{Attempts, Decision, StopReason, Verdict};
pub use board::{HealthBoard, ServiceHealth};
pub use breaker::{
    BreakerPolicy, BreakerPolicyError, Circuit, CircuitBreaker, CircuitHealth, CircuitOpen,
    CircuitState, Guarded, Health, OpenReason, Permit, Ticket,
};
pub use budget::{Budget, BudgetPolicy, BudgetPolicyError, BudgetSpent, RetryBudget};
pub use bulkhead::{Bulkhead, BulkheadFull, BulkheadPolicy, BulkheadPolicyError, Place};
pub use deadline::{DeadlineExceeded, deadline};
pub use guard::{Admission, CallError, Guard, GuardBuilder, Judgement, Refusal, Scope, TimedOut};
pub use hedge::{HedgePolicy, HedgePolicyError, hedge};
pub use limit::{
    Level, LimitHealth, LimitReason, Limited, Meter, Observed, Quota, RateLimit, RateLimitError,
    RateLimiter,
};
pub use policy::{RetryPolicy, RetryPolicyError};
pub use retry::{Exhausted, retry, retry_within};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
