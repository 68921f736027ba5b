//! Hedging: asking a second time while the first answer is awaited.

use std::{
    future::{Future, poll_fn},
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use tokio::time::{Sleep, sleep};

use crate::RetryBudget;

/// After how long an operation is begun once more while it is still under way, and how often.
///
/// It cuts off the slowest answers, for the price of some that are thrown away ("The tail at scale", Dean and Barroso,
/// 2013). Off unless asked for: most services charge for both answers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct HedgePolicy {
    after: Duration,
    copies: u32,
}

/// Why numbers make no hedging.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum HedgePolicyError {
    /// At least one copy is made, and at most [`HedgePolicy::MOST_COPIES`].
    #[error(
        "{copies} copies of a call are not possible: between 1 and {} are",
        HedgePolicy::MOST_COPIES
    )]
    Copies {
        /// What was asked for.
        copies: u32,
    },
    /// A copy is not made at once.
    #[error("a copy cannot be made at once: it would be a second call, not a hedge")]
    AtOnce,
}

impl HedgePolicy {
    /// The most copies besides the first call.
    pub const MOST_COPIES: u32 = 5;

    /// No copies.
    #[must_use]
    pub const fn off() -> Self {
        Self {
            after: Duration::ZERO,
            copies: 0,
        }
    }

    /// At most `copies` besides the first, each begun when no answer came for `after` since the one before. Take what 95
    /// of 100 answers need: then one call in twenty is made twice.
    ///
    /// # Errors
    ///
    /// [`HedgePolicyError`], which names what is out of its range.
    pub fn try_new(after: Duration, copies: u32) -> Result<Self, HedgePolicyError> {
        if copies == 0 || copies > Self::MOST_COPIES {
            return Err(HedgePolicyError::Copies { copies });
        }
        if after.is_zero() {
            return Err(HedgePolicyError::AtOnce);
        }
        Ok(Self { after, copies })
    }

    /// How many copies are made at most besides the first call.
    #[must_use]
    pub fn copies(&self) -> u32 {
        self.copies
    }

    /// How long after the call before a copy is begun.
    #[must_use]
    pub fn after(&self) -> Duration {
        self.after
    }
}

/// Runs `operation`, and once more when it takes long; the first that succeeds is the answer.
///
/// **Only for what may happen twice.** The others are dropped then, which cancels them where they are; what they had begun
/// at the other end may still happen. The first call counts as a call for `budget`, a copy as a retry: no copy is made when
/// it is spent, so that a slow service is not made slower. A call that fails waits for those still under way; if none is,
/// its failure is the answer and no copy is made, since trying again is for [`retry`](crate::retry) to decide.
///
/// All run within the task of the caller. With [`HedgePolicy::off`] it is the operation and nothing else. It goes within a
/// retry and around a [`Guard`](crate::Guard), so that each copy is admitted and counted by itself; the budget is
/// another one than the guard's then, or every call would be counted twice.
///
/// # Errors
///
/// That of the call that failed last, if all did.
///
/// # Examples
///
/// ```
/// # use std::{future::pending, time::Duration};
/// # use dormouse_resilience::{HedgePolicy, RetryBudget, hedge};
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let policy = HedgePolicy::try_new(Duration::from_millis(5), 1)?;
/// let budget = RetryBudget::default();
/// let mut calls = 0;
/// let answer = hedge(&policy, &budget, || {
///     calls += 1;
///     let hangs = calls == 1;
///     async move {
///         if hangs { pending::<()>().await }
///         Ok::<_, std::fmt::Error>("the second was quicker")
///     }
/// });
/// assert_eq!(answer.await, Ok("the second was quicker"));
/// # Ok(()) }
/// ```
pub async fn hedge<T, E, Operation, Run>(
    policy: &HedgePolicy,
    budget: &RetryBudget,
    mut operation: Operation,
) -> Result<T, E>
where
    Operation: FnMut() -> Run,
    Run: Future<Output = Result<T, E>>,
{
    if policy.copies == 0 {
        return operation().await;
    }
    budget.deposit();
    let mut race = Race {
        runners: vec![Box::pin(operation())],
        next: Box::pin(sleep(policy.after)),
        to_come: policy.copies,
    };
    poll_fn(|context| {
        loop {
            if let Poll::Ready(answer) = race.poll_runners(context) {
                return Poll::Ready(answer);
            }
            if race.to_come == 0 || race.next.as_mut().poll(context).is_pending() {
                return Poll::Pending;
            }
            if budget.withdraw().is_err() {
                race.to_come = 0;
                return Poll::Pending;
            }
            race.add(operation(), policy.after);
        }
    })
    .await
}

/// Calls that run at the same time.
struct Race<Run> {
    runners: Vec<Pin<Box<Run>>>,
    /// When the next one is begun.
    next: Pin<Box<Sleep>>,
    to_come: u32,
}

impl<Run> Race<Run> {
    fn add(&mut self, runner: Run, after: Duration) {
        self.runners.push(Box::pin(runner));
        self.to_come -= 1;
        self.next.set(sleep(after));
    }
}

impl<T, E, Run: Future<Output = Result<T, E>>> Race<Run> {
    /// Ready with the first success, or with the failure of the last one under way.
    fn poll_runners(&mut self, context: &mut Context<'_>) -> Poll<Result<T, E>> {
        let mut failed = None;
        let mut won = None;
        self.runners.retain_mut(|runner| {
            if won.is_some() {
                return true;
            }
            match runner.as_mut().poll(context) {
                Poll::Pending => return true,
                Poll::Ready(Ok(done)) => won = Some(done),
                Poll::Ready(Err(error)) => failed = Some(error),
            }
            false
        });
        match (won, failed) {
            (Some(done), _) => Poll::Ready(Ok(done)),
            (None, Some(error)) if self.runners.is_empty() => Poll::Ready(Err(error)),
            (None, _) => Poll::Pending,
        }
    }
}

#[cfg(test)]
mod tests;
