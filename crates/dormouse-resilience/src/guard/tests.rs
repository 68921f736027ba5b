use std::{
    cell::Cell,
    future::{pending, ready},
};

use proptest::prelude::*;
use tokio::time::{Instant, advance, sleep};

use super::*;
use crate::{
    BreakerPolicy, BudgetPolicy, BulkheadFull, BulkheadPolicy, CircuitOpen, CircuitState,
    Exhausted, LimitReason, Limited, OpenReason, Quota, RateLimit, StopReason,
};

const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Failure {
    #[error("busy")]
    Busy,
    #[error("slow down")]
    SlowDown(Duration),
    #[error("no such thing")]
    Wrong,
}

fn judge(failure: &Failure) -> Judgement {
    match failure {
        Failure::Busy => Judgement {
            verdict: Verdict::Retry,
            health: Health::Ill,
        },
        Failure::SlowDown(pause) => Judgement {
            verdict: Verdict::RetryAfter(*pause),
            health: Health::Irrelevant,
        },
        Failure::Wrong => Judgement {
            verdict: Verdict::GiveUp,
            health: Health::Irrelevant,
        },
    }
}

type Answer = Result<u8, CallError<Failure>>;

/// Calls once, with failures in turn and then a success; tells how often the service was called.
async fn call(guard: &Guard, units: u32, failures: &[Failure]) -> (Answer, usize) {
    let calls = Cell::new(0);
    let operation = || {
        let failure = failures.get(calls.get()).copied();
        calls.set(calls.get() + 1);
        ready(failure.map_or(Ok(1), Err))
    };
    let answer = guard.call(units, || 0.5, judge, operation).await;
    (answer, calls.get())
}

async fn hang(guard: &Guard) -> Answer {
    guard.call(1, || 0.5, judge, pending).await
}

fn failed(error: Failure, attempts: u32, reason: StopReason) -> Answer {
    Err(CallError::Failed(Exhausted {
        error,
        attempts,
        reason,
    }))
}

fn open(seconds: u32) -> CircuitOpen {
    CircuitOpen {
        retry_in: Some(seconds * SECOND),
        reason: OpenReason::Failing,
    }
}

fn opens_at(failures: u32) -> BreakerPolicy {
    BreakerPolicy::service()
        .try_with_trip(failures, 60 * SECOND)
        .unwrap()
}

fn bulkhead(at_once: u32, waiting: u32) -> BulkheadPolicy {
    BulkheadPolicy::try_new(at_once, waiting).unwrap()
}

fn once() -> RetryPolicy {
    RetryPolicy::try_new(1, SECOND, 1.0, SECOND).unwrap()
}

/// One unit a second, ten at once.
fn ten_units() -> RateLimit {
    RateLimit::as_told().try_with_units(60, 10).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_failure_that_may_pass_is_tried_again_and_one_that_does_not_is_not() {
    let guard = Guard::builder("kettle").build();
    let started = Instant::now();
    let (answer, calls) = call(&guard, 0, &[Failure::Busy, Failure::Busy]).await;
    assert_eq!((answer, calls), (Ok(1), 3));
    assert_eq!(started.elapsed(), SECOND / 2 + SECOND);
    let (answer, calls) = call(&guard, 0, &[Failure::Wrong]).await;
    let expected = failed(Failure::Wrong, 1, StopReason::GivenUp);
    assert_eq!((answer, calls), (expected, 1));
    let health = guard.health();
    assert_eq!(
        (health.circuit.failures, health.under_way, health.waiting),
        (2, 0, 0)
    );
}

#[tokio::test(start_paused = true)]
async fn a_breaker_that_opens_between_attempts_ends_them_without_a_pause_and_keeps_the_error() {
    let guard = Guard::builder("kettle").breaker(opens_at(2)).build();
    let started = Instant::now();
    let (answer, calls) = call(&guard, 0, &[Failure::Busy; 9]).await;
    let reason = StopReason::NotAdmitted(Refusal::Open(open(30)));
    assert_eq!((&answer, calls), (&failed(Failure::Busy, 2, reason), 2));
    assert_eq!(started.elapsed(), SECOND / 2, "no pause after the last one");
    assert_eq!(
        answer.unwrap_err().to_string(),
        "busy (after 2 attempts; then the service is not called, because it failed too often; \
         it is tried again in 30s)"
    );
    let (answer, calls) = call(&guard, 0, &[]).await;
    assert_eq!((answer, calls), (Err(CallError::Open(open(30))), 0));
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_outlasts_the_cooldown_is_followed_by_a_trial() {
    let policy = opens_at(1).try_with_cooldown(SECOND / 10, SECOND).unwrap();
    let guard = Guard::builder("kettle").breaker(policy).build();
    let (answer, calls) = call(&guard, 0, &[Failure::Busy]).await;
    assert_eq!((answer, calls), (Ok(1), 2));
    assert_eq!(guard.health().circuit.state, CircuitState::HalfOpen);
}

#[tokio::test(start_paused = true)]
async fn a_retry_after_holds_back_every_caller() {
    let guard = Guard::builder("kettle")
        .rate_limit(RateLimit::as_told())
        .build();
    let started = Instant::now();
    let slow = [Failure::SlowDown(7 * SECOND)];
    let other = async {
        sleep(SECOND).await;
        let answer = call(&guard, 0, &[]).await;
        (answer, started.elapsed())
    };
    let (first, (second, at)) = tokio::join!(call(&guard, 0, &slow), other);
    assert_eq!((first, second), ((Ok(1), 2), (Ok(1), 1)));
    assert_eq!((at, started.elapsed()), (7 * SECOND, 7 * SECOND));
}

#[tokio::test(start_paused = true)]
async fn retries_stay_within_the_budget_that_guards_share() {
    let budget = RetryBudget::new(BudgetPolicy::try_new(0.0, 0.0, 3).unwrap());
    let guards = ["kettle", "toaster"].map(|name| {
        let builder = Guard::builder(name).breaker(opens_at(100));
        builder.budget(budget.clone()).build()
    });
    let (answer, _) = call(&guards[0], 0, &[Failure::Busy; 9]).await;
    assert_eq!(answer, failed(Failure::Busy, 3, StopReason::NoAttemptsLeft));
    let (answer, _) = call(&guards[1], 0, &[Failure::Busy; 9]).await;
    assert_eq!(answer, failed(Failure::Busy, 2, StopReason::BudgetSpent));
    let (answer, _) = call(&guards[0], 0, &[Failure::Busy; 9]).await;
    assert_eq!(answer, failed(Failure::Busy, 1, StopReason::BudgetSpent));
}

#[tokio::test(start_paused = true)]
async fn calls_that_are_not_made_earn_no_retries() {
    let budget = RetryBudget::new(BudgetPolicy::try_new(1.0, 0.0, 5).unwrap());
    let guard = Guard::builder("kettle").breaker(opens_at(1));
    let guard = guard.budget(budget.clone()).build();
    guard.admit(0).await.unwrap().record(Health::Ill);
    for _ in 0..5 {
        budget.withdraw().unwrap();
    }
    for _ in 0..100 {
        let (refused, _) = call(&guard, 0, &[]).await;
        assert_eq!(refused, Err(CallError::Open(open(30))));
    }
    assert_eq!(budget.left(), 0);
    advance(30 * SECOND).await;
    assert_eq!(call(&guard, 0, &[]).await, (Ok(1), 1));
    assert_eq!(budget.left(), 1);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_hangs_counts_as_ill_and_the_whole_is_bounded_too() {
    let builder = Guard::builder("kettle").attempt_deadline(2 * SECOND);
    let guard = builder.clone().build();
    let timed_out = |limit, scope, reason| {
        Err(CallError::TimedOut(TimedOut {
            limit,
            scope,
            attempts: 3,
            reason,
        }))
    };
    let answer = hang(&guard).await;
    assert_eq!(
        answer,
        timed_out(2 * SECOND, Scope::Attempt, StopReason::NoAttemptsLeft)
    );
    assert_eq!(
        answer.unwrap_err().to_string(),
        "the attempt was not done within 2s (after 3 attempts)"
    );
    assert_eq!(guard.health().circuit.failures, 3);

    let guard = builder.overall_deadline(6 * SECOND).build();
    let started = Instant::now();
    let answer = hang(&guard).await;
    assert_eq!(
        answer,
        timed_out(6 * SECOND, Scope::Overall, StopReason::NoTimeLeft)
    );
    assert_eq!(started.elapsed(), 6 * SECOND);
    let health = guard.health();
    assert_eq!(health.circuit.failures, 2, "the one cut off says nothing");
    assert_eq!(health.under_way, 0);
}

#[tokio::test(start_paused = true)]
async fn a_pause_that_outlasts_the_deadline_is_not_begun() {
    let guard = Guard::builder("kettle")
        .overall_deadline(6 * SECOND)
        .build();
    let started = Instant::now();
    let (answer, _) = call(&guard, 0, &[Failure::SlowDown(7 * SECOND)]).await;
    let expected = failed(Failure::SlowDown(7 * SECOND), 1, StopReason::NoTimeLeft);
    assert_eq!(answer, expected);
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn only_so_many_are_under_way_and_the_rest_is_told() {
    let guard = Guard::builder("kettle").bulkhead(bulkhead(1, 0)).build();
    let admission = guard.admit(0).await.unwrap();
    let full = BulkheadFull {
        under_way: 1,
        waiting: 0,
    };
    assert_eq!(guard.admit(0).await.unwrap_err(), Refusal::Full(full));
    assert_eq!(call(&guard, 0, &[]).await, (Err(CallError::Full(full)), 0));
    assert_eq!(guard.health().under_way, 1);
    admission.record(Health::Well);
    assert_eq!(call(&guard, 0, &[]).await, (Ok(1), 1));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_can_never_fit_waits_for_nothing() {
    let guard = Guard::builder("kettle")
        .bulkhead(bulkhead(1, 5))
        .rate_limit(ten_units())
        .build();
    let _under_way = guard.admit(10).await.unwrap();
    let refused = guard.admit(11).await.unwrap_err();
    let most = 10;
    assert_eq!(
        refused,
        Refusal::Limited(Limited::TooLarge { units: 11, most })
    );
}

#[tokio::test(start_paused = true)]
async fn nobody_queues_for_a_service_that_is_left_alone() {
    let guard = Guard::builder("kettle")
        .breaker(opens_at(1))
        .bulkhead(bulkhead(1, 5))
        .rate_limit(ten_units())
        .build();
    let first = guard.admit(10).await.unwrap();
    let started = Instant::now();
    let waits_for_a_place = guard.admit(1);
    let comes_later = async {
        first.record(Health::Ill);
        guard.admit(1).await
    };
    let (waited, later) = tokio::join!(waits_for_a_place, comes_later);
    assert_eq!(later.unwrap_err(), Refusal::Open(open(30)));
    assert_eq!(waited.unwrap_err(), Refusal::Open(open(29)));
    assert_eq!(started.elapsed(), SECOND, "for its unit");
    let units = guard.health().limit.unwrap().units.unwrap();
    assert_eq!(units.left, 1, "what was not used is given back");
}

#[tokio::test(start_paused = true)]
async fn an_estimate_is_settled_and_the_last_word_counts() {
    let guard = Guard::builder("kettle").rate_limit(ten_units()).build();
    let left = || guard.health().limit.unwrap().units.unwrap().left;
    let mut admission = guard.admit(8).await.unwrap();
    assert_eq!(left(), 2);
    admission.settle(3);
    assert_eq!(left(), 7);
    admission.settle(5);
    assert_eq!(left(), 5);
    admission.record(Health::Well);
    guard.settle(5, 1);
    assert_eq!(left(), 9);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_admission_counts_for_nothing_and_frees_its_place_and_the_trial() {
    let guard = Guard::builder("kettle")
        .breaker(opens_at(1))
        .bulkhead(bulkhead(1, 0))
        .build();
    guard.admit(0).await.unwrap().record(Health::Ill);
    advance(30 * SECOND).await;
    for _ in 0..3 {
        let trial = guard.admit(0).await.unwrap();
        assert!(trial.is_trial());
        assert!(guard.peek().is_err(), "one trial at a time");
        drop(trial);
    }
    assert_eq!(guard.health().circuit.state, CircuitState::HalfOpen);
    assert_eq!(guard.health().under_way, 0);
}

#[tokio::test(start_paused = true)]
async fn a_call_that_is_dropped_while_it_waits_leaves_nothing_behind() {
    let guard = Guard::builder("kettle")
        .bulkhead(bulkhead(1, 5))
        .rate_limit(ten_units())
        .build();
    guard.admit(10).await.unwrap().record(Health::Well);
    let waits = crate::deadline(2 * SECOND, call(&guard, 9, &[])).await;
    assert!(waits.is_err());
    let health = guard.health();
    assert_eq!((health.under_way, health.waiting), (0, 0));
    assert_eq!(health.limit.unwrap().units.unwrap().left, 2);
    assert_eq!(call(&guard, 2, &[]).await, (Ok(1), 1));
}

#[tokio::test(start_paused = true)]
async fn what_an_answer_tells_of_limits_holds_the_next_one_back() {
    let limit = RateLimit::as_told().with_longest_wait(SECOND);
    let guard = Guard::builder("kettle").rate_limit(limit).build();
    let admission = guard.admit(0).await.unwrap();
    let requests = Some(Quota {
        limit: Some(999),
        remaining: Some(0),
        resets_in: Some(20 * SECOND),
    });
    admission.observe(Observed {
        requests,
        units: None,
    });
    admission.record(Health::Well);
    let (answer, _) = call(&guard, 0, &[]).await;
    let limited = Limited::Later {
        retry_in: 20 * SECOND,
        reason: LimitReason::Requests,
    };
    assert_eq!(answer, Err(CallError::Limited(limited)));
    guard.configuration_changed();
    assert_eq!(call(&guard, 0, &[]).await, (Ok(1), 1));
}

#[tokio::test(start_paused = true)]
async fn one_attempt_is_one_attempt() {
    let guard = Guard::builder("kettle").retry(once()).build();
    let (answer, calls) = call(&guard, 0, &[Failure::Busy; 2]).await;
    let expected = failed(Failure::Busy, 1, StopReason::NoAttemptsLeft);
    assert_eq!((answer, calls), (expected, 1));
}

#[tokio::test]
async fn a_guarded_call_of_sendable_parts_can_be_sent() {
    fn sendable<T: Send>(t: T) -> T {
        t
    }
    let guard = Guard::builder("kettle").rate_limit(ten_units()).build();
    let run = sendable(guard.call(1, || 0.5, judge, || ready(Ok(1))));
    assert_eq!(run.await, Ok(1));
    assert!(format!("{guard:?}").contains("kettle"));
    drop(sendable(guard.admit(1).await));
}

/// A caller: when it comes, for how many polls it has patience, its units, how long its call lasts and how that ends.
type Caller = (u64, u32, u32, u64, Health);

fn callers() -> impl Strategy<Value = Vec<Caller>> {
    let health = prop_oneof![
        Just(Health::Ill),
        Just(Health::Well),
        Just(Health::Irrelevant)
    ];
    let caller = (0u64..20_000, 0u32..9, 0u32..11, 0u64..3_000, health);
    prop::collection::vec(caller, 1..40)
}

/// Polls `future` so often at most, and drops it then: at each of its awaits, for some number.
async fn polled<F: Future>(polls: u32, future: F) -> Option<F::Output> {
    let mut future = std::pin::pin!(future);
    let mut left = polls;
    std::future::poll_fn(|context| {
        if left == 0 {
            return std::task::Poll::Ready(None);
        }
        left -= 1;
        future.as_mut().poll(context).map(Some)
    })
    .await
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn whoever_goes_away_wherever_it_waits_nothing_is_ever_kept(callers in callers()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let guard = Guard::builder("kettle")
                .breaker(opens_at(2))
                .bulkhead(bulkhead(2, 5))
                .rate_limit(ten_units())
                .attempt_deadline(2 * SECOND)
                .build();
            let mut all = tokio::task::JoinSet::new();
            for (comes, polls, units, lasts, ends) in callers {
                let guard = guard.clone();
                all.spawn(async move {
                    sleep(Duration::from_millis(comes)).await;
                    let visit = async {
                        let mut admission = guard.admit(units).await.ok()?;
                        sleep(Duration::from_millis(lasts)).await;
                        admission.settle(1);
                        admission.record(ends);
                        Some(())
                    };
                    polled(polls, visit).await;
                });
            }
            all.join_all().await;
            let health = guard.health();
            prop_assert_eq!((health.under_way, health.waiting), (0, 0));
            sleep(300 * SECOND).await;
            for _ in 0..2 {
                guard.admit(0).await.unwrap().record(Health::Well);
            }
            // All places, all units, and no trial that nobody makes.
            let whole = [guard.admit(10).await.unwrap(), guard.admit(0).await.unwrap()];
            prop_assert_eq!(guard.health().circuit.state, CircuitState::Closed);
            prop_assert_eq!(guard.health().under_way, 2);
            drop(whole);
            Ok(())
        })?;
    }
}
