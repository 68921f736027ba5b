use std::{cell::Cell, future::pending, time::Duration};

use tokio::time::Instant;

use super::*;
use crate::BudgetPolicy;

const SECOND: Duration = Duration::from_secs(1);

#[derive(Debug, PartialEq, thiserror::Error)]
enum Failure {
    #[error("busy")]
    Busy,
    #[error("slow down")]
    SlowDown(Duration),
    #[error("no such thing")]
    Wrong,
}

fn verdict(failure: &Failure) -> RetryVerdict {
    match failure {
        Failure::Busy => RetryVerdict::Retry,
        Failure::SlowDown(pause) => RetryVerdict::RetryAfter(*pause),
        Failure::Wrong => RetryVerdict::GiveUp,
    }
}

/// Runs an operation that fails with each of these in turn, then succeeds; returns when each attempt began.
async fn run(failures: Vec<Failure>) -> (Result<(), Exhausted<Failure>>, Vec<Duration>) {
    let begun = Instant::now();
    let mut failures = failures.into_iter();
    let mut at = Vec::new();
    let policy = RetryPolicy::model_call();
    let result = retry(
        &policy,
        || 0.5,
        verdict,
        || {
            at.push(begun.elapsed());
            std::future::ready(failures.next().map_or(Ok(()), Err))
        },
    )
    .await;
    (result, at)
}

#[tokio::test(start_paused = true)]
async fn the_first_attempt_begins_at_once_and_pauses_are_jittered_steps() {
    assert_eq!(run(vec![]).await, (Ok(()), vec![Duration::ZERO]));
    let (result, at) = run(vec![Failure::Busy, Failure::Busy]).await;
    assert_eq!(result, Ok(()));
    assert_eq!(at, [Duration::ZERO, SECOND / 2, SECOND / 2 + SECOND]);
}

#[tokio::test(start_paused = true)]
async fn the_last_error_and_the_number_of_attempts_are_kept() {
    let (result, at) = run(vec![
        Failure::Busy,
        Failure::Busy,
        Failure::SlowDown(SECOND),
    ])
    .await;
    let error = result.unwrap_err();
    assert_eq!(error.to_string(), "slow down (after 3 attempts)");
    assert_eq!(
        error,
        Exhausted {
            error: Failure::SlowDown(SECOND),
            attempts: 3,
            reason: RetryStopReason::NoAttemptsLeft
        }
    );
    assert_eq!(at.len(), 3);
}

#[tokio::test(start_paused = true)]
async fn a_permanent_failure_is_not_retried() {
    let (result, at) = run(vec![Failure::Wrong]).await;
    let error = result.unwrap_err();
    assert_eq!(error.to_string(), "no such thing (after 1 attempt)");
    assert_eq!((error.reason, at.len()), (RetryStopReason::GivenUp, 1));
}

#[tokio::test(start_paused = true)]
async fn a_requested_pause_is_kept_exactly() {
    let (result, at) = run(vec![Failure::SlowDown(7 * SECOND)]).await;
    assert_eq!((result, at), (Ok(()), vec![Duration::ZERO, 7 * SECOND]));
    let (result, at) = run(vec![Failure::SlowDown(3600 * SECOND)]).await;
    assert_eq!(
        result.unwrap_err().to_string(),
        "slow down (after 1 attempt; the other side asks for a pause of 3600s)"
    );
    assert_eq!(at.len(), 1);
}

#[tokio::test(start_paused = true)]
async fn no_attempt_starts_after_the_retry_was_dropped() {
    let calls = Cell::new(0);
    let policy = RetryPolicy::model_call();
    let run = retry(
        &policy,
        || 0.9,
        verdict,
        || {
            calls.set(calls.get() + 1);
            std::future::ready(Err::<(), _>(Failure::Busy))
        },
    );
    let cut_off = crate::deadline(SECOND / 2, run).await;
    assert!(cut_off.is_err());
    tokio::time::advance(60 * SECOND).await;
    assert_eq!(calls.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_deadline_around_each_attempt_makes_a_hanging_one_a_failure_like_any_other() {
    let calls = Cell::new(0);
    let policy = RetryPolicy::tool_call();
    let result = retry(
        &policy,
        || 0.0,
        |_: &crate::DeadlineExceeded| RetryVerdict::Retry,
        || {
            calls.set(calls.get() + 1);
            crate::deadline(SECOND, pending::<()>())
        },
    )
    .await;
    assert_eq!(result.unwrap_err().attempts, 4);
    assert_eq!(calls.get(), 4);
}

#[tokio::test(start_paused = true)]
async fn callers_with_clones_of_a_budget_share_its_retries() {
    let budget = RetryBudget::new(BudgetPolicy::try_new(0.0, 0.0, 3).unwrap());
    let policy = RetryPolicy::model_call();
    let mut ends = Vec::new();
    for _ in 0..3 {
        let budget = budget.clone();
        let operation = || std::future::ready(Err::<(), _>(Failure::Busy));
        let run = retry_within(&policy, &budget, || 0.0, verdict, operation);
        let failed = run.await.unwrap_err();
        ends.push((failed.attempts, failed.to_string()));
    }
    assert_eq!(
        ends,
        [
            (3, "busy (after 3 attempts)".to_owned()),
            (
                2,
                "busy (after 2 attempts; the retry budget is spent)".to_owned()
            ),
            (
                1,
                "busy (after 1 attempt; the retry budget is spent)".to_owned()
            ),
        ]
    );
}

#[tokio::test(start_paused = true)]
async fn a_requested_pause_is_kept_with_a_budget_and_success_is_free() {
    let budget = RetryBudget::new(BudgetPolicy::try_new(0.0, 0.0, 1).unwrap());
    let policy = RetryPolicy::model_call();
    let begun = Instant::now();
    let mut failures = vec![Failure::SlowDown(7 * SECOND)];
    let operation = || std::future::ready(failures.pop().map_or(Ok(()), Err));
    let run = retry_within(&policy, &budget, || 0.0, verdict, operation);
    assert_eq!(run.await, Ok(()));
    assert_eq!((begun.elapsed(), budget.left()), (7 * SECOND, 0));
    let ready = || std::future::ready(Ok::<_, Failure>(()));
    let run = retry_within(&policy, &budget, || 0.0, verdict, ready);
    assert_eq!(run.await, Ok(()));
    assert_eq!(budget.left(), 0);
}

#[tokio::test]
async fn a_retry_of_sendable_parts_can_be_sent() {
    fn sendable<T: Send>(t: T) -> T {
        t
    }
    let policy = RetryPolicy::model_call();
    let run = sendable(retry(&policy, || 0.0, verdict, || async { Ok(1) }));
    assert_eq!(run.await, Ok(1));
}
