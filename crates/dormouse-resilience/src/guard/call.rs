//! A whole guarded call.

use std::{
    fmt,
    future::Future,
    pin::pin,
    sync::atomic::{AtomicU32, Ordering},
    time::Duration,
};

use tokio::time::Instant;

use super::{Admission, CallError, Guard, Judgement, Scope, TimedOut};
use crate::{
    Attempts, Decision, Exhausted, Health, Refusal, StopReason, Verdict, deadline, retry::tell,
};

/// How one attempt went wrong.
enum Trouble<E> {
    Failed(E, Judgement),
    Late(Duration),
}

impl Guard {
    /// Makes a call through the whole stack. `units` is what it is estimated to cost of the rate limit; [`Guard::settle`]
    /// corrects it afterwards. `jitter` answers a random number from `0.0..1.0` for each pause. `judge` says what an error
    /// means; no answer in time is [`Health::Ill`] and worth another attempt.
    ///
    /// Only for what may happen more than once, unless the guard's retry policy has one attempt. Dropping the returned
    /// future drops the attempt in flight, or the wait, and counts for nothing. The same goes for the overall deadline;
    /// an attempt that its own deadline cuts off counts.
    ///
    /// # Errors
    ///
    /// [`CallError`]: the last error with the number of attempts and why there was no other, or what kept it from being
    /// made at all, or what took too long. After a failure a refusal is the reason why there was no further attempt, so
    /// that the failure is not lost.
    pub async fn call<T, E, Operation, Run>(
        &self,
        units: u32,
        jitter: impl FnMut() -> f64,
        judge: impl Fn(&E) -> Judgement,
        operation: Operation,
    ) -> Result<T, CallError<E>>
    where
        E: fmt::Display,
        Operation: FnMut() -> Run,
        Run: Future<Output = Result<T, E>>,
    {
        let begun = AtomicU32::new(0);
        let limit = self.shared.overall_deadline;
        // Pinned here: the deadline would move it about, and it is the largest part.
        let attempts = pin!(self.attempts(units, jitter, judge, operation, &begun));
        deadline(limit, attempts).await.unwrap_or_else(|late| {
            Err(CallError::TimedOut(TimedOut {
                limit: late.limit,
                scope: Scope::Overall,
                attempts: begun.load(Ordering::Relaxed),
                reason: StopReason::NoTimeLeft,
            }))
        })
    }

    async fn attempts<T, E, Operation, Run>(
        &self,
        units: u32,
        mut jitter: impl FnMut() -> f64,
        judge: impl Fn(&E) -> Judgement,
        mut operation: Operation,
        begun: &AtomicU32,
    ) -> Result<T, CallError<E>>
    where
        E: fmt::Display,
        Operation: FnMut() -> Run,
        Run: Future<Output = Result<T, E>>,
    {
        let started = Instant::now();
        let mut attempts = Attempts::new(self.shared.retry.clone());
        let mut before: Option<Trouble<E>> = None;
        loop {
            let admission = match (self.admit(units).await, before.take()) {
                (Ok(admission), _) => admission,
                (Err(refusal), None) => return Err(refusal.into()),
                (Err(refusal), Some(trouble)) => {
                    return Err(trouble.end(&attempts, StopReason::NotAdmitted(refusal)));
                }
            };
            if begun.fetch_add(1, Ordering::Relaxed) == 0 {
                // What is not made earns no retries, or an outage would fill the budget for its end.
                self.shared.budget.deposit();
            }
            let trouble = match self.attempt(admission, operation(), &judge).await {
                Ok(done) => return Ok(done),
                Err(trouble) => trouble,
            };
            let verdict = trouble.judgement().verdict;
            let decision = attempts.failed(verdict, jitter());
            match self.next(decision, started.elapsed()) {
                Ok(wait) => {
                    trouble.tell(&attempts, wait);
                    before = Some(trouble);
                    tokio::time::sleep(wait).await;
                }
                Err(reason) => return Err(trouble.end(&attempts, reason)),
            }
        }
    }

    /// Makes one attempt that was let through, and records how it ended.
    async fn attempt<T, E: fmt::Display>(
        &self,
        admission: Admission,
        call: impl Future<Output = Result<T, E>>,
        judge: impl Fn(&E) -> Judgement,
    ) -> Result<T, Trouble<E>> {
        let trouble = match deadline(self.shared.attempt_deadline, call).await {
            Ok(Ok(done)) => {
                admission.record(Health::Well);
                return Ok(done);
            }
            Ok(Err(error)) => {
                let judgement = judge(&error);
                Trouble::Failed(error, judgement)
            }
            Err(late) => Trouble::Late(late.limit),
        };
        let Judgement { verdict, health } = trouble.judgement();
        // The pause comes before the place is given up, or the next one in would be sooner than was asked for.
        if let Verdict::RetryAfter(pause) = verdict {
            self.pause(pause);
        }
        admission.record(health);
        Err(trouble)
    }

    /// Whether there is another attempt, and after how long.
    fn next(&self, decision: Decision, passed: Duration) -> Result<Duration, StopReason> {
        let left = self.shared.overall_deadline.saturating_sub(passed);
        let wait = match decision {
            Decision::Wait(wait) if wait < left => wait,
            Decision::Wait(_) => return Err(StopReason::NoTimeLeft),
            Decision::Stop(reason) => return Err(reason),
        };
        match self.shared.breaker.peek() {
            // It may be called again by then.
            Err(open) if open.retry_in.is_none_or(|time| time > wait) => {
                return Err(StopReason::NotAdmitted(Refusal::Open(open)));
            }
            Err(_) | Ok(()) => {}
        }
        match self.shared.budget.withdraw() {
            Ok(()) => Ok(wait),
            Err(crate::BudgetSpent) => Err(StopReason::BudgetSpent),
        }
    }
}

impl<E: fmt::Display> Trouble<E> {
    fn judgement(&self) -> Judgement {
        match self {
            Self::Failed(_, judgement) => *judgement,
            Self::Late(_) => Judgement {
                verdict: Verdict::Retry,
                health: Health::Ill,
            },
        }
    }

    fn tell(&self, attempts: &Attempts, wait: Duration) {
        match self {
            Self::Failed(error, _) => tell(attempts, wait, error),
            Self::Late(limit) => tell(attempts, wait, &crate::DeadlineExceeded { limit: *limit }),
        }
    }

    fn end(self, attempts: &Attempts, reason: StopReason) -> CallError<E> {
        let attempts = attempts.made();
        match self {
            Self::Failed(error, _) => CallError::Failed(Exhausted {
                error,
                attempts,
                reason,
            }),
            Self::Late(limit) => CallError::TimedOut(TimedOut {
                limit,
                scope: Scope::Attempt,
                attempts,
                reason,
            }),
        }
    }
}
