//! The whole stack of resilience around a future that is ready at once.

use std::{convert::Infallible, future::ready, hint::black_box, time::Duration};

use allocation_counter::measure as count_allocations;
use dormouse_resilience::{BulkheadPolicy, Guard, Health, RateLimit, deadline};
use tokio::runtime::Runtime;

use crate::table::{Row, Table, median, now};

const CALLS: u32 = 100_000;

pub(crate) fn measure(runtime: &Runtime, table: &mut Table) {
    let baseline_measured = nanoseconds(runtime, || async {
        for number in 0..CALLS {
            black_box(ready(Ok::<_, Infallible>(black_box(number))).await.ok());
        }
    });
    for (what, guard) in [
        ("breaker, deadline", Guard::builder("bare")),
        (
            "the same, with bulkhead and rate limit",
            Guard::builder("whole")
                .bulkhead(BulkheadPolicy::try_new(8, 8).unwrap())
                .rate_limit(limit()),
        ),
    ] {
        let guard = guard.build();
        let allocations = count_allocations(|| runtime.block_on(calls(&guard))).count_total;
        let measured = nanoseconds(runtime, || calls(&guard));
        table.add(&Row {
            what,
            measured,
            unit: "ns a call",
            baseline: "the future alone",
            baseline_measured,
            note: format!(
                "{:.2} allocations a call",
                allocations as f64 / f64::from(CALLS)
            ),
        });
    }
}

/// A limit that is never reached here.
fn limit() -> RateLimit {
    RateLimit::reported_only()
        .try_with_requests(1_000_000_000, 1_000_000_000)
        .unwrap()
        .with_longest_wait(Duration::from_secs(1))
}

async fn calls(guard: &Guard) {
    for number in 0..CALLS {
        let admission = guard.admit(1).await.unwrap();
        let call = ready(Ok::<_, Infallible>(black_box(number)));
        black_box(deadline(Duration::from_secs(120), call).await.ok());
        admission.record(Health::Healthy);
    }
}

fn nanoseconds<Work: Future<Output = ()>>(runtime: &Runtime, work: impl Fn() -> Work) -> f64 {
    median(|| {
        let started = now();
        runtime.block_on(work());
        now().duration_since(started).as_secs_f64() * 1e9 / f64::from(CALLS)
    })
}
