//! Many callers, and a service that has a bad day.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use dormouse_resilience::{
    BreakerPolicy, BudgetPolicy, BulkheadPolicy, CallError, CircuitState, Guard, GuardBuilder,
    Health, HealthBoard, Judgement, RateLimit, RetryBudget, RetryPolicy, StopReason, Verdict,
};
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("down")]
struct Down;

fn judge(_down: &Down) -> Judgement {
    Judgement {
        verdict: Verdict::Retry,
        health: Health::Ill,
    }
}

/// A service that is down at first, and what happened to it: when each call came, and how many were under way then.
#[derive(Clone)]
struct Service {
    up_at: Instant,
    visits: Arc<Mutex<Visits>>,
}

#[derive(Default)]
struct Visits {
    at: Vec<Instant>,
    under_way: usize,
    /// The most under way while it was down.
    most: usize,
}

impl Service {
    fn new(down_for: Duration) -> Self {
        Self {
            up_at: Instant::now() + down_for,
            visits: Arc::default(),
        }
    }

    async fn visit(&self) -> Result<(), Down> {
        {
            let mut visits = self.visits.lock().unwrap();
            visits.at.push(Instant::now());
            visits.under_way += 1;
            visits.most = visits.most.max(visits.under_way);
        }
        sleep(SECOND / 5).await;
        self.visits.lock().unwrap().under_way -= 1;
        if Instant::now() < self.up_at {
            Err(Down)
        } else {
            Ok(())
        }
    }
}

/// So many callers, one each tenth of a second.
async fn callers(guard: &Guard, service: &Service, count: u32) -> Vec<Result<(), CallError<Down>>> {
    let mut all = JoinSet::new();
    for number in 0..count {
        let (guard, service) = (guard.clone(), service.clone());
        all.spawn(async move {
            sleep(number * SECOND / 10).await;
            let jitter = f64::from(number % 10) / 10.0;
            guard
                .call(
                    1,
                    || jitter,
                    judge,
                    || {
                        let service = service.clone();
                        async move { service.visit().await }
                    },
                )
                .await
        });
    }
    all.join_all().await
}

fn never_opens() -> BreakerPolicy {
    BreakerPolicy::service()
        .try_with_trip(1_000, SECOND / 1_000)
        .unwrap()
}

fn builder() -> GuardBuilder {
    let retry = RetryPolicy::try_new(5, SECOND, 2.0, 8 * SECOND).unwrap();
    Guard::builder("kettle").retry(retry)
}

#[tokio::test(start_paused = true)]
async fn retries_of_all_callers_together_stay_within_the_budget() {
    let budget = RetryBudget::new(BudgetPolicy::try_new(0.1, 0.0, 10).unwrap());
    let guard = builder().breaker(never_opens()).budget(budget).build();
    let service = Service::new(3_600 * SECOND);
    let answers = callers(&guard, &service, 300).await;
    let visits = service.visits.lock().unwrap().at.len();
    // 300 first attempts earn 30 retries, and 10 were there.
    assert!(visits <= 300 + 10 + 30, "{visits}");
    assert!(visits >= 300 + 30, "a budget is there to be used: {visits}");
    let spent = |answer: &&Result<_, _>| matches!(answer, Err(CallError::Failed(failed)) if failed.reason == StopReason::BudgetSpent);
    assert!(answers.iter().filter(spent).count() > 200);
}

#[tokio::test(start_paused = true)]
async fn a_service_that_is_down_is_left_alone_and_found_again_by_one_trial_at_a_time() {
    let guard = builder().build();
    let service = Service::new(20 * SECOND);
    let answers = callers(&guard, &service, 100).await;
    assert!(answers.iter().all(Result::is_err));
    let visits = service.visits.lock().unwrap().at.len();
    assert!(visits < 15, "left alone after five failures: {visits}");
    service.visits.lock().unwrap().most = 0;

    sleep(30 * SECOND).await;
    assert_eq!(guard.health().circuit.state, CircuitState::HalfOpen);
    // It is up by now: two trials, one after the other, and then everybody.
    let mut crowd = JoinSet::new();
    for _ in 0..20 {
        let (guard, service) = (guard.clone(), service.clone());
        crowd.spawn(async move { guard.call(1, || 0.5, judge, || service.visit()).await });
    }
    let answers = crowd.join_all().await;
    assert_eq!(answers.iter().filter(|answer| answer.is_ok()).count(), 1);
    assert_eq!(
        service.visits.lock().unwrap().most,
        1,
        "one trial at a time"
    );
    let second = guard.call(1, || 0.5, judge, || service.visit()).await;
    assert_eq!(second, Ok(()));
    assert_eq!(guard.health().circuit.state, CircuitState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_crowd_gets_through_at_the_rate_and_the_width_that_are_allowed() {
    let limit = RateLimit::as_told().try_with_requests(120, 10).unwrap();
    let guard = builder()
        .rate_limit(limit.with_longest_wait(600 * SECOND))
        .bulkhead(BulkheadPolicy::try_new(4, 1_000).unwrap())
        .build();
    let board = HealthBoard::new();
    board.watch(&guard);
    let service = Service::new(Duration::ZERO);
    let answers = callers(&guard, &service, 100).await;
    assert!(answers.iter().all(Result::is_ok));
    let visits = service.visits.lock().unwrap();
    assert!(visits.most <= 4, "{} at once", visits.most);
    for (index, since) in visits.at.iter().enumerate() {
        for (count, until) in (1u32..).zip(&visits.at[index..]) {
            // Ten at once, and two a second.
            assert!(SECOND / 2 * count.saturating_sub(10) <= *until - *since);
        }
    }
    let health = &board.report()[0];
    assert_eq!((health.under_way, health.waiting), (0, 0));
}
