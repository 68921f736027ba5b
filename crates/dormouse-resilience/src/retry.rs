//! Retries an operation.

use std::{fmt, future::Future, time::Duration};

use crate::{
    BudgetSpent, RetryBudget, RetryDecision, RetryPolicy, RetryState, RetryStopReason, RetryVerdict,
};

/// The operation failed, and there will be no further attempt.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{error} ({})", Ending { attempts: *attempts, reason: *reason })]
pub struct Exhausted<E> {
    /// The error of the last attempt.
    #[source]
    pub error: E,
    /// The number of attempts.
    pub attempts: u32,
    /// Why there was no further attempt.
    pub reason: RetryStopReason,
}

/// After how many attempts it ended and why, for people.
struct Ending {
    attempts: u32,
    reason: RetryStopReason,
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "after {} attempt", self.attempts)?;
        if self.attempts != 1 {
            f.write_str("s")?;
        }
        match self.reason {
            RetryStopReason::PauseTooLong(pause) => {
                write!(f, "; the other side asks for a pause of {pause:?}")
            }
            RetryStopReason::BudgetSpent => f.write_str("; the retry budget is spent"),
            RetryStopReason::NoAttemptsLeft | RetryStopReason::GivenUp => Ok(()),
        }
    }
}

/// Runs `operation` until it succeeds, until a failure excludes another attempt, or until `policy` allows no more.
///
/// `verdict` classifies a failure, and `jitter` returns a random number in `0.0..1.0` for each pause. The first attempt
/// starts at once. Waiting uses tokio's clock. During a wait only the error of the failed attempt is kept. Every retry
/// is a `tracing` event at level `WARN` with the attempt's number, the wait and the error.
///
/// Use it only for an operation that may happen more than once. Dropping the returned future drops the attempt in
/// progress, or the wait; no further attempt is made.
///
/// # Errors
///
/// [`Exhausted`] with the last attempt's error, the number of attempts, and why there was no further one.
///
/// # Examples
///
/// ```
/// # use dormouse_resilience::{Exhausted, RetryPolicy, RetryVerdict, retry};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let policy = RetryPolicy::model_call();
/// let mut calls = 0;
/// let answer = retry(
///     &policy,
///     || 0.0,
///     |_: &std::fmt::Error| RetryVerdict::Retry,
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
    verdict: impl Fn(&E) -> RetryVerdict,
    operation: Operation,
) -> Result<T, Exhausted<E>>
where
    E: fmt::Display,
    Operation: FnMut() -> Run,
    Run: Future<Output = Result<T, E>>,
{
    run(policy, || Ok(()), jitter, verdict, operation).await
}

/// [`retry`] with a budget that all callers of a service share, which bounds their extra load.
///
/// Each call is one deposit, and each further attempt is one withdrawal, made before the pause. A withdrawal is not
/// returned if the pause is dropped.
///
/// # Errors
///
/// [`Exhausted`] as from [`retry`], and with [`RetryStopReason::BudgetSpent`] if the policy allows another attempt and
/// the budget does not.
///
/// # Examples
///
/// ```
/// # use std::{fmt::Error, future::ready};
/// # use dormouse_resilience::{BudgetPolicy, RetryBudget, RetryPolicy, RetryStopReason, RetryVerdict, retry_within};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let budget = RetryBudget::new(BudgetPolicy::try_new(0.1, 0.0, 1)?);
/// let policy = RetryPolicy::model_call();
/// let call = retry_within(&policy, &budget, || 0.0, |_| RetryVerdict::Retry, || ready(Err::<(), _>(Error)));
/// let failed = call.await.unwrap_err();
/// assert_eq!((failed.attempts, failed.reason), (2, RetryStopReason::BudgetSpent));
/// # Ok(()) }
/// ```
pub async fn retry_within<T, E, Operation, Run>(
    policy: &RetryPolicy,
    budget: &RetryBudget,
    jitter: impl FnMut() -> f64,
    verdict: impl Fn(&E) -> RetryVerdict,
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
    verdict: impl Fn(&E) -> RetryVerdict,
    mut operation: Operation,
) -> Result<T, Exhausted<E>>
where
    E: fmt::Display,
    Operation: FnMut() -> Run,
    Run: Future<Output = Result<T, E>>,
{
    let mut attempts = RetryState::new(policy.clone());
    loop {
        let error = match operation().await {
            Ok(done) => return Ok(done),
            Err(error) => error,
        };
        let stop = match attempts.failed(verdict(&error), jitter()) {
            RetryDecision::Wait(wait) if withdraw().is_ok() => {
                tell(&attempts, wait, &error);
                drop(error);
                tokio::time::sleep(wait).await;
                continue;
            }
            RetryDecision::Wait(_) => RetryStopReason::BudgetSpent,
            RetryDecision::Stop(reason) => reason,
        };
        return Err(Exhausted {
            error,
            attempts: attempts.made(),
            reason: stop,
        });
    }
}

/// Logs that there will be another attempt.
fn tell(attempts: &RetryState, wait: Duration, error: &impl fmt::Display) {
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
