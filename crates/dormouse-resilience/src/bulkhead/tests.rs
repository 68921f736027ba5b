use std::{
    future::{Future, pending, poll_fn},
    pin::pin,
    task::Poll,
    time::Duration,
};

use proptest::prelude::*;
use tokio::{
    task::JoinSet,
    time::{sleep, timeout},
};

use super::*;

const SECOND: Duration = Duration::from_secs(1);

fn bulkhead(at_once: u32, waiting: u32) -> Bulkhead {
    Bulkhead::new(BulkheadPolicy::try_new(at_once, waiting).unwrap())
}

/// Polls it once.
async fn begun<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    poll_fn(|context| {
        Poll::Ready(match future.as_mut().poll(context) {
            Poll::Ready(done) => Some(done),
            Poll::Pending => None,
        })
    })
    .await
}

#[test]
fn invalid_bulkhead_numbers_are_named() {
    let error = |at_once, waiting| {
        let policy = BulkheadPolicy::try_new(at_once, waiting);
        policy.unwrap_err().to_string()
    };
    assert_eq!(
        error(0, 1),
        "the bulkhead allows 0 concurrent calls; expected 1..=1000000"
    );
    assert_eq!(
        error(1, u32::MAX),
        "the bulkhead allows 4294967295 waiting calls; expected at most 1000000"
    );
    assert!(BulkheadPolicy::try_new(BulkheadPolicy::MOST, BulkheadPolicy::MOST).is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_caller_is_rejected_at_once_when_the_queue_is_full() {
    let bulkhead = bulkhead(1, 1);
    let place = bulkhead.enter().await.unwrap();
    let mut second = pin!(bulkhead.enter());
    assert!(begun(second.as_mut()).await.is_none());
    assert_eq!((bulkhead.under_way(), bulkhead.waiting()), (1, 1));
    let third = begun(bulkhead.enter()).await;
    let full = third.expect("at once").unwrap_err();
    assert_eq!(
        full.to_string(),
        "call not attempted: the limit of 1 calls in progress and 1 waiting is reached"
    );
    drop(place);
    assert!(bulkhead.try_enter().is_err(), "the second one's place");
    assert!(second.await.is_ok());
    assert_eq!((bulkhead.under_way(), bulkhead.waiting()), (0, 0));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_waiter_gives_its_place_in_the_queue_back() {
    let bulkhead = bulkhead(1, 1);
    let place = bulkhead.enter().await.unwrap();
    for _ in 0..3 {
        assert!(timeout(SECOND, bulkhead.enter()).await.is_err());
    }
    assert_eq!(bulkhead.waiting(), 0);
    drop(place);
    // One to whom the place was handed already, and who vanishes before it looks.
    let place = bulkhead.enter().await.unwrap();
    {
        let mut waiter = pin!(bulkhead.enter());
        assert!(begun(waiter.as_mut()).await.is_none());
        drop(place);
    }
    assert!(bulkhead.try_enter().is_ok());
}

#[derive(Clone, Copy, Debug)]
struct Visit {
    comes: u64,
    stays: u64,
    patience: u64,
}

fn visits() -> impl Strategy<Value = Vec<Visit>> {
    let visit = (0u64..200, 0u64..60, 0u64..60).prop_map(|(comes, stays, patience)| Visit {
        comes,
        stays,
        patience,
    });
    prop::collection::vec(visit, 1..60)
}

/// Lets all of them in, and returns the largest numbers inside and waiting.
async fn busiest(bulkhead: &Bulkhead, visits: Vec<Visit>) -> (u32, u32) {
    let inside = Arc::new(AtomicU32::new(0));
    let most = Arc::new(AtomicU32::new(0));
    let most_waiting = Arc::new(AtomicU32::new(0));
    let mut all = JoinSet::new();
    for visit in visits {
        let (bulkhead, inside, most) = (bulkhead.clone(), inside.clone(), most.clone());
        let most_waiting = most_waiting.clone();
        all.spawn(async move {
            sleep(Duration::from_millis(visit.comes)).await;
            let entering = async {
                let place = bulkhead.enter().await.ok()?;
                let _inside = Counted::one_more(&inside);
                most.fetch_max(inside.load(Ordering::Relaxed), Ordering::Relaxed);
                most_waiting.fetch_max(bulkhead.waiting(), Ordering::Relaxed);
                sleep(Duration::from_millis(visit.stays)).await;
                drop(place);
                Some(())
            };
            // The patience may end while the caller waits or while it is inside.
            timeout(Duration::from_millis(visit.patience + 1), entering).await
        });
    }
    while all.join_next().await.is_some() {}
    (
        most.load(Ordering::Relaxed),
        most_waiting.load(Ordering::Relaxed),
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn concurrency_never_exceeds_the_places_and_no_place_is_lost(
        at_once in 1u32..5,
        waiting in 0u32..5,
        visits in visits(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let bulkhead = bulkhead(at_once, waiting);
            let (most, most_waiting) = busiest(&bulkhead, visits).await;
            prop_assert!(most <= at_once, "{most} at once");
            prop_assert!(most_waiting <= waiting, "{most_waiting} waiting");
            prop_assert_eq!((bulkhead.under_way(), bulkhead.waiting()), (0, 0));
            let places: Vec<_> = (0..at_once).map_while(|_| bulkhead.try_enter().ok()).collect();
            prop_assert_eq!(places.len(), usize::try_from(at_once).unwrap(), "a place was lost");
            Ok(())
        })?;
    }
}

#[tokio::test(start_paused = true)]
async fn callers_are_admitted_in_order_of_arrival() {
    let bulkhead = bulkhead(1, 10);
    let order = Arc::new(std::sync::Mutex::new(Vec::new()));
    let mut all = JoinSet::new();
    for number in 0..5u64 {
        let (bulkhead, order) = (bulkhead.clone(), order.clone());
        all.spawn(async move {
            sleep(Duration::from_millis(number)).await;
            let _place = bulkhead.enter().await.unwrap();
            order.lock().unwrap().push(number);
            sleep(SECOND).await;
        });
    }
    while all.join_next().await.is_some() {}
    assert_eq!(*order.lock().unwrap(), [0, 1, 2, 3, 4]);
}

#[tokio::test]
async fn a_clone_is_the_same_bulkhead() {
    let bulkhead = bulkhead(1, 0);
    let _place = bulkhead.clone().enter().await.unwrap();
    assert!(
        begun(bulkhead.enter())
            .await
            .is_some_and(|full| full.is_err())
    );
    assert!(begun(pending::<()>()).await.is_none());
}
