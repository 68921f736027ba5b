use proptest::prelude::*;
use tokio::time::{Instant, advance, sleep};

use super::*;
use crate::{
    BreakerPolicy, BulkheadFull, BulkheadPolicy, CircuitOpen, CircuitState, Health, LimitReason,
    OpenReason, Quota, RateLimit, RateLimited,
};

const SECOND: Duration = Duration::from_secs(1);

/// A call that goes well.
async fn call(guard: &Guard, units: u32) -> Result<(), NotAttempted> {
    guard.admit(units).await?.record(Health::Healthy);
    Ok(())
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

/// One unit a second, ten at once.
fn ten_units() -> RateLimit {
    RateLimit::reported_only().try_with_units(60, 10).unwrap()
}

#[tokio::test(start_paused = true)]
async fn a_pause_requested_by_the_service_applies_to_every_caller() {
    let guard = Guard::builder("kettle")
        .rate_limit(RateLimit::reported_only())
        .build();
    let started = Instant::now();
    let admission = guard.admit(0).await.unwrap();
    admission.pause(7 * SECOND);
    admission.record(Health::Irrelevant);
    let answers = tokio::join!(call(&guard, 0), call(&guard, 0));
    assert_eq!(answers, (Ok(()), Ok(())));
    assert_eq!(started.elapsed(), 7 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn calls_beyond_the_bulkhead_are_rejected() {
    let guard = Guard::builder("kettle").bulkhead(bulkhead(1, 0)).build();
    let admission = guard.admit(0).await.unwrap();
    let full = BulkheadFull {
        under_way: 1,
        waiting: 0,
    };
    assert_eq!(guard.admit(0).await.unwrap_err(), NotAttempted::Full(full));
    assert_eq!(guard.health().under_way, 1);
    admission.record(Health::Healthy);
    assert_eq!(call(&guard, 0).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_can_never_fit_is_rejected_without_waiting() {
    let guard = Guard::builder("kettle")
        .bulkhead(bulkhead(1, 5))
        .rate_limit(ten_units())
        .build();
    let _under_way = guard.admit(10).await.unwrap();
    let refused = guard.admit(11).await.unwrap_err();
    let most = 10;
    assert_eq!(
        refused,
        NotAttempted::RateLimited(RateLimited::TooLarge { units: 11, most })
    );
}

#[tokio::test(start_paused = true)]
async fn no_caller_queues_for_an_open_circuit() {
    let guard = Guard::builder("kettle")
        .breaker(opens_at(1))
        .bulkhead(bulkhead(1, 5))
        .rate_limit(ten_units())
        .build();
    let first = guard.admit(10).await.unwrap();
    let started = Instant::now();
    let waits_for_a_place = guard.admit(1);
    let comes_later = async {
        first.record(Health::Unhealthy);
        guard.admit(1).await
    };
    let (waited, later) = tokio::join!(waits_for_a_place, comes_later);
    assert_eq!(later.unwrap_err(), NotAttempted::Open(open(30)));
    assert_eq!(waited.unwrap_err(), NotAttempted::Open(open(29)));
    assert_eq!(started.elapsed(), SECOND, "for its unit");
    let units = guard.health().limit.unwrap().units.unwrap();
    assert_eq!(units.left, 1, "what was not used is given back");
}

#[tokio::test(start_paused = true)]
async fn an_estimate_is_settled_with_the_last_reported_usage() {
    let guard = Guard::builder("kettle").rate_limit(ten_units()).build();
    let left = || guard.health().limit.unwrap().units.unwrap().left;
    let mut admission = guard.admit(8).await.unwrap();
    assert_eq!(left(), 2);
    admission.settle(3);
    assert_eq!(left(), 7);
    admission.settle(5);
    assert_eq!(left(), 5);
    admission.record(Health::Healthy);
    assert_eq!(left(), 5);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_admission_records_no_result_and_frees_its_place_and_trial() {
    let guard = Guard::builder("kettle")
        .breaker(opens_at(1))
        .bulkhead(bulkhead(1, 0))
        .build();
    guard.admit(0).await.unwrap().record(Health::Unhealthy);
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
async fn a_call_dropped_while_waiting_frees_everything() {
    let guard = Guard::builder("kettle")
        .bulkhead(bulkhead(1, 5))
        .rate_limit(ten_units())
        .build();
    guard.admit(10).await.unwrap().record(Health::Healthy);
    let waits = crate::deadline(2 * SECOND, call(&guard, 9)).await;
    assert!(waits.is_err());
    let health = guard.health();
    assert_eq!((health.under_way, health.waiting), (0, 0));
    assert_eq!(health.limit.unwrap().units.unwrap().left, 2);
    assert_eq!(call(&guard, 2).await, Ok(()));
}

#[tokio::test(start_paused = true)]
async fn limits_reported_by_an_answer_apply_to_the_next_call() {
    let limit = RateLimit::reported_only().with_longest_wait(SECOND);
    let guard = Guard::builder("kettle").rate_limit(limit).build();
    let admission = guard.admit(0).await.unwrap();
    let requests = Some(Quota {
        limit: Some(999),
        remaining: Some(0),
        resets_in: Some(20 * SECOND),
    });
    admission.observe(ReportedLimits {
        requests,
        units: None,
    });
    admission.record(Health::Healthy);
    let answer = call(&guard, 0).await;
    let limited = RateLimited::Later {
        retry_in: 20 * SECOND,
        reason: LimitReason::Requests,
    };
    assert_eq!(answer, Err(NotAttempted::RateLimited(limited)));
    guard.configuration_changed();
    assert_eq!(call(&guard, 0).await, Ok(()));
}

#[tokio::test]
async fn an_admission_can_be_sent() {
    fn sendable<T: Send>(t: T) -> T {
        t
    }
    let guard = Guard::builder("kettle").rate_limit(ten_units()).build();
    assert!(format!("{guard:?}").contains("kettle"));
    drop(sendable(guard.admit(1).await));
}

/// A caller: its time of arrival, after how many polls it gives up, its units, the duration of its call, and the
/// result.
type Caller = (u64, u32, u32, u64, Health);

fn callers() -> impl Strategy<Value = Vec<Caller>> {
    let health = prop_oneof![
        Just(Health::Unhealthy),
        Just(Health::Healthy),
        Just(Health::Irrelevant)
    ];
    let caller = (0u64..20_000, 0u32..9, 0u32..11, 0u64..3_000, health);
    prop::collection::vec(caller, 1..40)
}

/// Polls `future` at most this many times, and then drops it. With different numbers, it is dropped at each of its
/// awaits.
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
    fn callers_dropped_at_any_point_never_leak_a_permit(callers in callers()) {
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
                guard.admit(0).await.unwrap().record(Health::Healthy);
            }
            // All places and units are free, and the circuit has no trial under way.
            let whole = [guard.admit(10).await.unwrap(), guard.admit(0).await.unwrap()];
            prop_assert_eq!(guard.health().circuit.state, CircuitState::Closed);
            prop_assert_eq!(guard.health().under_way, 2);
            drop(whole);
            Ok(())
        })?;
    }
}
