//! Retry with backoff, deadlines, and circuit breakers, around any future.
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
//! Stability: [`retry`], [`deadline`] and [`CircuitBreaker`] keep their shape; more guards (rate limit, budget) come
//! beside them.

mod attempts;
mod breaker;
mod deadline;
mod policy;
mod retry;

pub use attempts::{Attempts, Decision, StopReason, Verdict};
pub use breaker::{
    BreakerPolicy, BreakerPolicyError, Circuit, CircuitBreaker, CircuitHealth, CircuitOpen,
    CircuitState, Guarded, Health, OpenReason, Permit, Ticket,
};
pub use deadline::{DeadlineExceeded, deadline};
pub use policy::{RetryPolicy, RetryPolicyError};
pub use retry::{Exhausted, retry};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
