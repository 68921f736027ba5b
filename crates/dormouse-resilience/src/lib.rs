//! Retry with backoff, and deadlines, around any future.
//!
//! Layer 1. It knows nothing of models, worlds or HTTP: what may be tried again is told by the caller as a
//! [`Verdict`], chance comes in as a function, and waiting is tokio's, so that a paused clock steers all of it.
//!
//! The rule and its execution are apart. [`RetryPolicy`] says how often and how long, [`Attempts`] is the rule as
//! a state machine without time in it, and [`retry`] carries it out. [`deadline`] bounds any future, a whole retry
//! included: `deadline(limit, retry(…))` bounds the call, `retry(…, || deadline(limit, call()))` each attempt.
//!
//! Stability: [`retry`] and [`deadline`] keep their shape; more guards (breaker, rate limit, budget) come beside them.

mod attempts;
mod deadline;
mod policy;
mod retry;

pub use attempts::{Attempts, Decision, StopReason, Verdict};
pub use deadline::{DeadlineExceeded, deadline};
pub use policy::{RetryPolicy, RetryPolicyError};
pub use retry::{Exhausted, retry};

#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
