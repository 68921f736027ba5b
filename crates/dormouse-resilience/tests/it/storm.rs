//! Many callers, and a service that fails.

use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicU32, Ordering::Relaxed},
    },
    time::Duration,
};

use dormouse_resilience::{
    BudgetPolicy, BulkheadPolicy, CircuitState, Exhausted, Guard, Health, HealthBoard, RateLimit,
    RetryBudget, RetryPolicy, RetryStopReason, RetryVerdict, retry_within,
};
use proptest::prelude::*;
use tokio::{
    task::JoinSet,
    time::{Instant, sleep},
};

const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("down")]
struct Down;

/// How a call ended: whether it was made, and whether it went well.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Well,
    Badly,
    Refused,
}

/// One call, as a caller makes it who tries once.
async fn call(guard: &Guard, service: impl Future<Output = Health>) -> Ended {
    let Ok(admission) = guard.admit(1).await else {
        return Ended::Refused;
    };
    let health = service.await;
    admission.record(health);
    match health {
        Health::Healthy => Ended::Well,
        _ => Ended::Badly,
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

    async fn visit(&self) -> Health {
        {
            let mut visits = self.visits.lock().unwrap();
            visits.at.push(Instant::now());
            visits.under_way += 1;
            visits.most = visits.most.max(visits.under_way);
        }
        sleep(SECOND / 5).await;
        self.visits.lock().unwrap().under_way -= 1;
        if Instant::now() < self.up_at {
            Health::Unhealthy
        } else {
            Health::Healthy
        }
    }
}

/// So many callers, one each tenth of a second.
async fn callers(guard: &Guard, service: &Service, count: u32) -> Vec<Ended> {
    let mut all = JoinSet::new();
    for number in 0..count {
        let (guard, service) = (guard.clone(), service.clone());
        all.spawn(async move {
            sleep(number * SECOND / 10).await;
            call(&guard, service.visit()).await
        });
    }
    all.join_all().await
}

/// So many callers, one each tenth of a second, who try again within one budget.
async fn persistent_callers(
    budget: &RetryBudget,
    service: &Service,
    count: u32,
) -> Vec<Result<(), Exhausted<Down>>> {
    let policy = RetryPolicy::try_new(5, SECOND, 2.0, 8 * SECOND).unwrap();
    let mut all = JoinSet::new();
    for number in 0..count {
        let (policy, budget, service) = (policy.clone(), budget.clone(), service.clone());
        all.spawn(async move {
            sleep(number * SECOND / 10).await;
            let jitter = f64::from(number % 10) / 10.0;
            let visit = || async {
                match service.visit().await {
                    Health::Healthy => Ok(()),
                    _ => Err(Down),
                }
            };
            retry_within(&policy, &budget, || jitter, |_| RetryVerdict::Retry, visit).await
        });
    }
    all.join_all().await
}

#[tokio::test(start_paused = true)]
async fn retries_of_all_callers_together_stay_within_the_budget() {
    let budget = RetryBudget::new(BudgetPolicy::try_new(0.1, 0.0, 10).unwrap());
    let service = Service::new(3_600 * SECOND);
    let answers = persistent_callers(&budget, &service, 300).await;
    let visits = service.visits.lock().unwrap().at.len();
    // 300 first attempts earn 30 retries, and 10 were there.
    assert!(visits <= 300 + 10 + 30, "{visits}");
    assert!(visits >= 300 + 30, "a budget is there to be used: {visits}");
    let spent = |answer: &&Result<_, Exhausted<Down>>| matches!(answer, Err(failed) if failed.reason == RetryStopReason::BudgetSpent);
    assert!(answers.iter().filter(spent).count() > 200);
}

#[tokio::test(start_paused = true)]
async fn a_failed_service_gets_one_trial_at_a_time_until_it_recovers() {
    let guard = Guard::builder("kettle").build();
    let service = Service::new(20 * SECOND);
    let answers = callers(&guard, &service, 100).await;
    assert!(!answers.contains(&Ended::Well));
    let visits = service.visits.lock().unwrap().at.len();
    assert!(visits < 15, "left alone after five failures: {visits}");
    service.visits.lock().unwrap().most = 0;

    sleep(30 * SECOND).await;
    assert_eq!(guard.health().circuit.state, CircuitState::HalfOpen);
    // It is up by now: two trials, one after the other, and then everybody.
    let mut crowd = JoinSet::new();
    for _ in 0..20 {
        let (guard, service) = (guard.clone(), service.clone());
        crowd.spawn(async move { call(&guard, service.visit()).await });
    }
    let answers = crowd.join_all().await;
    let well = answers.iter().filter(|answer| **answer == Ended::Well);
    assert_eq!(well.count(), 1);
    assert_eq!(
        service.visits.lock().unwrap().most,
        1,
        "one trial at a time"
    );
    assert_eq!(call(&guard, service.visit()).await, Ended::Well);
    assert_eq!(guard.health().circuit.state, CircuitState::Closed);
}

#[tokio::test(start_paused = true)]
async fn many_callers_pass_at_the_configured_rate_and_concurrency() {
    let limit = RateLimit::reported_only()
        .try_with_requests(120, 10)
        .unwrap();
    let guard = Guard::builder("kettle")
        .rate_limit(limit.with_longest_wait(600 * SECOND))
        .bulkhead(BulkheadPolicy::try_new(4, 1_000).unwrap())
        .build();
    let board = HealthBoard::new();
    board.watch(&guard);
    let service = Service::new(Duration::ZERO);
    let answers = callers(&guard, &service, 100).await;
    assert!(answers.iter().all(|answer| *answer == Ended::Well));
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

/// The service's behaviour in each second, repeated in a cycle; and the callers, each with its start time, its
/// patience, and the duration of its calls.
#[derive(Clone, Debug)]
struct Weather {
    ends: Vec<Health>,
    callers: Vec<(u64, u64, u64)>,
}

fn weather() -> impl Strategy<Value = Weather> {
    let health = prop_oneof![
        6 => Just(Health::Unhealthy),
        3 => Just(Health::Healthy),
        1 => Just(Health::Irrelevant),
    ];
    let ends = prop::collection::vec(health, 1..40);
    let caller = (0u64..200_000, 0u64..40_000, 0u64..3_000);
    (ends, prop::collection::vec(caller, 1..60))
        .prop_map(|(ends, callers)| Weather { ends, callers })
}

/// Calls that are trials at the moment; the most there were.
#[derive(Default)]
struct Trials {
    now: AtomicU32,
    most: AtomicU32,
    while_open: AtomicU32,
}

struct Trial<'a>(&'a Trials);

impl<'a> Trial<'a> {
    fn begin(trials: &'a Trials, state: CircuitState) -> Option<Self> {
        match state {
            CircuitState::Closed => None,
            CircuitState::Open => {
                trials.while_open.fetch_add(1, Relaxed);
                None
            }
            CircuitState::HalfOpen => {
                let now = trials.now.fetch_add(1, Relaxed) + 1;
                trials.most.fetch_max(now, Relaxed);
                Some(Self(trials))
            }
        }
    }
}

impl Drop for Trial<'_> {
    fn drop(&mut self) {
        self.0.now.fetch_sub(1, Relaxed);
    }
}

async fn live_through(weather: Weather) -> (Guard, Arc<Trials>) {
    let guard = Guard::builder("kettle").build();
    let (trials, begun) = (Arc::new(Trials::default()), Instant::now());
    let mut all = JoinSet::new();
    for (comes, patience, lasts) in weather.callers {
        let (guard, trials, ends) = (guard.clone(), trials.clone(), weather.ends.clone());
        all.spawn(async move {
            sleep(Duration::from_millis(comes)).await;
            let service = async {
                let _trial = Trial::begin(&trials, guard.health().circuit.state);
                sleep(Duration::from_millis(lasts)).await;
                let second = usize::try_from(begun.elapsed().as_secs()).unwrap();
                ends.get(second % ends.len()).copied().unwrap()
            };
            let call = call(&guard, service);
            let patience = Duration::from_millis(patience);
            tokio::time::timeout(patience, call).await.is_ok()
        });
    }
    all.join_all().await;
    (guard, trials)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn at_most_one_trial_runs_with_any_callers_and_cancellations(weather in weather()) {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .unwrap();
        runtime.block_on(async {
            let (guard, trials) = live_through(weather).await;
            prop_assert!(trials.most.load(Relaxed) <= 1, "more than one probe");
            prop_assert_eq!(trials.while_open.load(Relaxed), 0, "called while open");
            let health = guard.health();
            prop_assert_eq!((health.under_way, health.waiting), (0, 0));
            // It is called again once it is well.
            sleep(300 * SECOND).await;
            for _ in 0..2 {
                prop_assert_eq!(call(&guard, async { Health::Healthy }).await, Ended::Well);
            }
            prop_assert_eq!(guard.health().circuit.state, CircuitState::Closed);
            Ok(())
        })?;
    }
}
