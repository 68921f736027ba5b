use std::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

use proptest::prelude::*;
use tokio::{
    task::JoinSet,
    time::{advance, sleep},
};

use super::*;

const SECOND: Duration = Duration::from_secs(1);

/// One request a second, two at once; ten units a second, sixty at once.
fn limit() -> RateLimit {
    RateLimit::reported_only()
        .try_with_requests(60, 2)
        .and_then(|limit| limit.try_with_units(600, 60))
        .unwrap()
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

fn later(retry_in: Duration, reason: LimitReason) -> Result<(), RateLimited> {
    Err(RateLimited::Later { retry_in, reason })
}

#[tokio::test(start_paused = true)]
async fn requests_within_the_limit_pass_at_once_and_others_wait() {
    let limiter = RateLimiter::new(limit());
    let begun = Instant::now();
    for expected in [0, 0, 1, 2, 3] {
        assert_eq!(limiter.acquire(0).await, Ok(()));
        assert_eq!(begun.elapsed(), expected * SECOND);
    }
    assert_eq!(limiter.acquire(60).await, Ok(()));
    assert_eq!(limiter.acquire(60).await, Ok(()));
    assert_eq!(begun.elapsed(), 10 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_request_that_can_never_fit_is_an_error_at_once() {
    let limiter = RateLimiter::new(limit().with_longest_wait(Duration::MAX));
    let error = begun(limiter.acquire(61)).await;
    let too_large = RateLimited::TooLarge {
        units: 61,
        most: 60,
    };
    assert_eq!(error, Some(Err(too_large)));
    assert_eq!(limiter.fits_ever(61), Err(too_large));
    assert_eq!(limiter.fits_ever(60), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn no_caller_waits_longer_than_the_limit_and_a_longer_wait_is_not_started() {
    let limiter = RateLimiter::new(limit().with_longest_wait(3 * SECOND));
    limiter.acquire(60).await.unwrap();
    let hopeless = begun(limiter.acquire(40)).await;
    assert_eq!(hopeless, Some(later(4 * SECOND, LimitReason::Units)));
    assert_eq!(begun(limiter.acquire(30)).await, None, "it waits");
    let none = RateLimiter::new(limit().with_longest_wait(Duration::ZERO));
    none.acquire(60).await.unwrap();
    let never_waits = begun(none.acquire(1)).await;
    assert_eq!(never_waits, Some(later(SECOND / 10, LimitReason::Units)));
}

#[tokio::test(start_paused = true)]
async fn time_in_the_queue_counts_as_waiting() {
    let limiter = RateLimiter::new(limit().with_longest_wait(5 * SECOND));
    limiter.acquire(60).await.unwrap();
    let mut first = pin!(limiter.acquire(50));
    assert_eq!(begun(first.as_mut()).await, None);
    let mut second = pin!(limiter.acquire(10));
    assert_eq!(begun(second.as_mut()).await, None);
    assert_eq!(limiter.waiting(), 2);
    let (first, second) = tokio::join!(first, second);
    assert_eq!(first, Ok(()));
    assert_eq!(second, later(Duration::ZERO, LimitReason::Queued));
    assert_eq!(limiter.waiting(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_small_request_never_overtakes_a_larger_one() {
    let limiter = RateLimiter::new(limit());
    limiter.acquire(60).await.unwrap();
    let mut large = pin!(limiter.acquire(50));
    assert_eq!(begun(large.as_mut()).await, None);
    advance(2 * SECOND).await;
    assert_eq!(
        limiter.try_acquire(1),
        later(Duration::ZERO, LimitReason::Queued),
        "it would fit, but somebody is before it"
    );
    assert_eq!(large.await, Ok(()));
    assert_eq!(limiter.try_acquire(0), Ok(()));
}

#[tokio::test(start_paused = true)]
async fn a_cancelled_waiter_takes_no_units_and_lets_the_next_pass() {
    let limiter = RateLimiter::new(limit());
    limiter.acquire(60).await.unwrap();
    let started = Instant::now();
    {
        let mut large = pin!(limiter.acquire(60));
        assert_eq!(begun(large.as_mut()).await, None);
        let mut queued = pin!(limiter.acquire(60));
        assert_eq!(begun(queued.as_mut()).await, None);
    }
    assert_eq!(limiter.waiting(), 0);
    assert_eq!(limiter.acquire(10).await, Ok(()));
    assert_eq!(started.elapsed(), SECOND);
}

#[tokio::test(start_paused = true)]
async fn a_pause_applies_to_callers_that_already_wait() {
    let limiter = RateLimiter::new(limit());
    limiter.acquire(60).await.unwrap();
    let started = Instant::now();
    let mut waiting = pin!(limiter.acquire(10));
    assert_eq!(begun(waiting.as_mut()).await, None);
    limiter.pause(30 * SECOND);
    limiter.pause(SECOND);
    assert_eq!(limiter.health().paused_for, 30 * SECOND);
    assert_eq!(waiting.await, Ok(()));
    assert_eq!(started.elapsed(), 30 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn settled_or_returned_units_let_the_next_caller_pass_at_once() {
    let limiter = RateLimiter::new(limit());
    limiter.acquire(60).await.unwrap();
    let started = Instant::now();
    let mut waiting = pin!(limiter.acquire(60));
    assert_eq!(begun(waiting.as_mut()).await, None);
    advance(SECOND).await;
    limiter.settle(60, 10);
    assert_eq!(waiting.await, Ok(()));
    assert_eq!(started.elapsed(), SECOND);
    limiter.give_back(60);
    assert_eq!(limiter.try_acquire(60), Ok(()));
    limiter.settle(0, 30);
    assert_eq!(
        limiter.try_acquire(1),
        later(SECOND * 31 / 10, LimitReason::Units),
        "what was underestimated is waited for"
    );
}

#[tokio::test(start_paused = true)]
async fn a_new_configuration_ends_a_pause_for_waiting_callers() {
    let limiter = RateLimiter::new(RateLimit::reported_only());
    limiter.pause(50 * SECOND);
    let started = Instant::now();
    let mut waiting = pin!(limiter.acquire(1));
    assert_eq!(begun(waiting.as_mut()).await, None);
    limiter.configuration_changed();
    assert_eq!(waiting.await, Ok(()));
    assert_eq!(started.elapsed(), Duration::ZERO);
}

#[tokio::test(start_paused = true)]
async fn limits_in_headers_apply_to_later_requests() {
    let limiter = RateLimiter::new(RateLimit::reported_only());
    limiter.observe(ReportedLimits {
        requests: Some(Quota {
            limit: Some(999),
            remaining: Some(1),
            resets_in: Some(20 * SECOND),
        }),
        units: None,
    });
    let started = Instant::now();
    for expected in [0, 20, 20, 20] {
        limiter.acquire(5).await.unwrap();
        assert_eq!(started.elapsed(), expected * SECOND);
    }
}

#[derive(Clone, Copy, Debug)]
struct Caller {
    comes: u64,
    units: u32,
    patience: u64,
    actual: u32,
    pauses: u64,
}

fn callers() -> impl Strategy<Value = Vec<Caller>> {
    let pauses = prop_oneof![9 => Just(0), 1 => 0u64..8_000];
    let caller = (0u64..20_000, 0u32..60, 0u64..30_000, 0u32..60, pauses);
    let caller = caller.prop_map(|(comes, units, patience, actual, pauses)| Caller {
        comes,
        units,
        patience,
        actual,
        pauses,
    });
    prop::collection::vec(caller, 1..40)
}

/// What a run of callers did: when each got through, and which pauses began and ended when.
#[derive(Default)]
struct Account {
    through: Vec<Duration>,
    pauses: Vec<(Duration, Duration)>,
}

async fn run(limiter: &RateLimiter, callers: Vec<Caller>) -> Account {
    let started = Instant::now();
    let account = Arc::new(std::sync::Mutex::new(Account::default()));
    let mut all = JoinSet::new();
    for caller in callers {
        let (limiter, account) = (limiter.clone(), account.clone());
        all.spawn(async move {
            sleep(Duration::from_millis(caller.comes)).await;
            let patience = Duration::from_millis(caller.patience);
            let Ok(Ok(())) = timeout(patience, limiter.acquire(caller.units)).await else {
                return;
            };
            let now = started.elapsed();
            account.lock().unwrap().through.push(now);
            limiter.settle(caller.units, caller.actual.min(caller.units));
            if caller.pauses > 0 {
                let pause = Duration::from_millis(caller.pauses);
                limiter.pause(pause);
                account.lock().unwrap().pauses.push((now, now + pause));
            }
        });
    }
    while all.join_next().await.is_some() {}
    std::mem::take(&mut *account.lock().unwrap())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn many_callers_respect_pauses_and_the_limit(
        callers in callers(),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let limiter = RateLimiter::new(limit());
            let account = run(&limiter, callers).await;
            for (index, since) in account.through.iter().enumerate() {
                for (count, until) in (1u32..).zip(&account.through[index..]) {
                    prop_assert!(SECOND * count.saturating_sub(2) <= *until - *since);
                }
                for (begun, ended) in &account.pauses {
                    // Who got through at the very moment the pause began was before it.
                    prop_assert!(since <= begun || since >= ended, "sooner than Retry-After");
                }
            }
            prop_assert_eq!(limiter.waiting(), 0);
            sleep(100 * SECOND).await;
            prop_assert_eq!(limiter.try_acquire(60), Ok(()));
            Ok(())
        })?;
    }
}

#[tokio::test(start_paused = true)]
async fn racing_callers_on_several_threads_get_no_more_than_the_burst() {
    let limit = RateLimit::reported_only()
        .try_with_requests(60, 100)
        .unwrap();
    let limiter = RateLimiter::new(limit);
    let runtime = tokio::runtime::Handle::current();
    let take = || {
        let _its_clock = runtime.enter();
        (0..50).filter(|_| limiter.try_acquire(0).is_ok()).count()
    };
    let through: usize = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
        threads
            .into_iter()
            .map(|thread| thread.join().unwrap())
            .sum()
    });
    assert_eq!(through, 100);
}

#[tokio::test]
async fn waiting_can_be_sent_to_another_thread() {
    fn sendable<T: Send>(t: T) -> T {
        t
    }
    let limiter = RateLimiter::new(limit());
    assert_eq!(sendable(limiter.acquire(1)).await, Ok(()));
    assert!(format!("{limiter:?}").contains("units"));
}
