//! Where nothing fails and nothing waits, the whole stack takes nothing from the heap.

use std::{
    fmt::Error,
    future::{Future, ready},
    hint::black_box,
    pin::pin,
    task::{Context, Poll, Waker},
    time::Duration,
};

use allocation_counter::measure;
use dormouse_resilience::{
    BulkheadPolicy, Guard, Health, RateLimit, RetryBudget, RetryPolicy, RetryVerdict, deadline,
    retry_within,
};

/// Allocations of a future that is ready when it is first asked, after one round to warm up.
fn allocations<F: Future>(run: impl Fn() -> F) -> u64 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()
        .unwrap();
    let _its_clock = runtime.enter();
    let once = || {
        let mut context = Context::from_waker(Waker::noop());
        let mut future = pin!(run());
        let Poll::Ready(answer) = future.as_mut().poll(&mut context) else {
            panic!("it is ready at once");
        };
        black_box(answer);
    };
    once();
    measure(once).count_total
}

fn guard() -> Guard {
    let limit = RateLimit::reported_only()
        .try_with_requests(6_000, 1_000)
        .and_then(|limit| limit.try_with_units(1_000_000, 1_000_000));
    Guard::builder("kettle")
        .rate_limit(limit.unwrap())
        .bulkhead(BulkheadPolicy::try_new(10, 10).unwrap())
        .build()
}

#[test]
fn a_guarded_call_uses_no_heap() {
    let guard = guard();
    let stream = || async {
        let mut admission = guard.admit(100).await.unwrap();
        admission.settle(70);
        admission.record(Health::Healthy);
    };
    assert_eq!(allocations(stream), 0);
}

#[test]
fn the_parts_use_no_heap() {
    let policy = RetryPolicy::model_call();
    let budget = RetryBudget::default();
    let call = || ready(Ok::<_, Error>(1));
    let retried = || retry_within(&policy, &budget, || 0.5, |_| RetryVerdict::Retry, call);
    assert_eq!(allocations(retried), 0);
    assert_eq!(allocations(|| deadline(Duration::from_secs(1), call())), 0);
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations(|| async { black_box(Box::new(1_u8)) }), 1);
}
