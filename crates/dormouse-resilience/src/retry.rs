//! Trying again.

use std::{fmt, future::Future, time::Duration};

use crate::{Attempts, BudgetSpent, Decision, RetryBudget, RetryPolicy, StopReason, Verdict};

/// Every attempt failed, or the last failure was one that trying again does not help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error} ({})", Ending { attempts: *attempts, reason: *reason })]
pub struct Exhausted<E> {
    /// How the last attempt failed.
    #[source]
    pub error: E,
    /// How many attempts were made.
    pub attempts: u32,
    /// Why there was no further one.
    pub reason: StopReason,
}

/// After how many attempts it ended and why, for people.
pub(crate) struct Ending {
    pub(crate) attempts: u32,
    pub(crate) reason: StopReason,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after {} attempt", self.attempts)?;
        if self.attempts != 1 {
            f.write_str("s")?;
        }
        match self.reason {
            StopReason::PauseTooLong(pause) => {
                write!(f, "; the other side asks for a pause of {pause:?}")
            }
            StopReason::BudgetSpent => f.write_str("; the retry budget is spent"),
            StopReason::NoTimeLeft => f.write_str("; there is no time for another"),
            StopReason::NotAdmitted(refusal) => write!(f, "; then {refusal}"),
            StopReason::NoAttemptsLeft | StopReason::GivenUp => Ok(()),
        }
    }
}

/// Runs `operation` until it succeeds, its failure is not worth another attempt, or `policy` allows no more.
///
/// `verdict` says what a failure means, and `jitter` answers a random number from `0.0..1.0` for each pause. The
/// first attempt begins at once; waiting uses tokio's clock and holds nothing of the failed attempt but its error.
/// Every retry is a `tracing` event at level `WARN` with the attempt's number, the wait and the error.
///
/// Only an operation that may happen more than once should be given to this. Dropping the returned future drops the
/// attempt in flight, or the wait; nothing is tried after that.
///
/// # Errors
///
/// [`Exhausted`], with the last attempt's error, the number of attempts, and why there was no further one.
///
/// # Examples
///
/// ```
/// # use dormouse_resilience::{Exhausted, RetryPolicy, Verdict, retry};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let policy = RetryPolicy::model_call();
/// let mut calls = 0;
/// let answer = retry(
///     &policy,
///     || 0.0,
///     |_: &std::fmt::Error| Verdict::Retry,
///     || {
///         calls += 1;
///         std::future::ready(if calls < 3 { Err(std::fmt::Error) } else { Ok(calls) })
///     },
/// );
/// assert_eq!(answer.await, Ok(3));
/// # }
/// ```
pub async fn retry<T, E, Operation, Run>(
    policy: &RetryPolicy,
    jitter: impl FnMut() -> f64,
    verdict: impl Fn(&E) -> Verdict,
    operation: Operation,
) -> Result<T, Exhausted<E>>
where
    E: fmt::Display,
    Operation: FnMut() -> Run,
    Run: Future<Output = Result<T, E>>,
{
    run(policy, || Ok(()), jitter, verdict, operation).await
}

/// [`retry`] within a budget that all callers of a service share, so that together they add only so much to its load.
///
/// Each call is one deposit, each attempt after the first one withdrawal, made before the pause; it is not put back if
/// the pause is dropped.
///
/// # Errors
///
/// [`Exhausted`] as from [`retry`], and with [`StopReason::BudgetSpent`] where the policy would allow another attempt
/// and the budget does not.
///
/// # Examples
///
/// ```
/// # use std::{fmt::Error, future::ready};
/// # use dormouse_resilience::{BudgetPolicy, RetryBudget, RetryPolicy, StopReason, Verdict, retry_within};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let budget = RetryBudget::new(BudgetPolicy::try_new(0.1, 0.0, 1)?);
/// let policy = RetryPolicy::model_call();
/// let call = retry_within(&policy, &budget, || 0.0, |_| Verdict::Retry, || ready(Err::<(), _>(Error)));
/// let failed = call.await.unwrap_err();
/// assert_eq!((failed.attempts, failed.reason), (2, StopReason::BudgetSpent));
/// # Ok(()) }
/// ```
pub async fn retry_within<T, E, Operation, Run>(
    policy: &RetryPolicy,
    budget: &RetryBudget,
    jitter: impl FnMut() -> f64,
    verdict: impl Fn(&E) -> Verdict,
    operation: Operation,
) -> Result<T, Exhausted<E>>
where
    E: fmt::Display,
    Operation: FnMut() -> Run,
    Run: Future<Output = Result<T, E>>,
{
    budget.deposit();
    run(policy, || budget.withdraw(), jitter, verdict, operation).await
}

async fn run<T, E, Operation, Run>(
    policy: &RetryPolicy,
    withdraw: impl Fn() -> Result<(), BudgetSpent>,
    mut jitter: impl FnMut() -> f64,
    verdict: impl Fn(&E) -> Verdict,
    mut operation: Operation,
) -> Result<T, Exhausted<E>>
where
    E: fmt::Display,
    Operation: FnMut() -> Run,
    Run: Future<Output = Result<T, E>>,
{
    let mut attempts = Attempts::new(policy.clone());
    loop {
        let error = match operation().await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let stop = match attempts.failed(verdict(&error), jitter()) {
            Decision::Wait(wait) if withdraw().is_ok() => {
                tell(&attempts, wait, &error);
                drop(error);
                tokio::time::sleep(wait).await;
                continue;
            }
            Decision::Wait(_) => StopReason::BudgetSpent,
            Decision::Stop(reason) => reason,
        };
        return Err(Exhausted {
            error,
            attempts: attempts.made(),
            reason: stop,
        });
    }
}

/// Tells the log that there will be another attempt.
pub(crate) fn tell(attempts: &Attempts, wait: Duration, error: &impl fmt::Display) {
    tracing::warn!(
        attempt = attempts.made(),
        of = attempts.policy().attempts(),
        wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX),
        %error,
        "trying again after a failure"
    );
}

#[cfg(test)]
mod tests;
