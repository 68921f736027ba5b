use std::future::{pending, ready};

use tokio::time::advance;

use super::*;
use crate::deadline;

const SECOND: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
enum Failure {
    #[error("busy")]
    Busy,
    #[error("who are you?")]
    Stranger,
    #[error("no such thing")]
    Wrong,
}

fn judge(failure: &Failure) -> Health {
    match failure {
        Failure::Busy => Health::Unhealthy,
        Failure::Stranger => Health::Refused,
        Failure::Wrong => Health::Irrelevant,
    }
}

fn breaker() -> CircuitBreaker {
    CircuitBreaker::new("kettle", BreakerPolicy::service())
}

async fn call(
    breaker: &CircuitBreaker,
    end: Result<u8, Failure>,
) -> Result<u8, BreakerError<Failure>> {
    breaker.guard(judge, ready(end)).await
}

async fn fail(breaker: &CircuitBreaker, times: usize) {
    for _ in 0..times {
        let failed = call(breaker, Err(Failure::Busy)).await;
        assert_eq!(failed, Err(BreakerError::Failed(Failure::Busy)));
    }
}

fn open_for(seconds: u32) -> BreakerError<Failure> {
    BreakerError::Open(CircuitOpen {
        retry_in: Some(seconds * SECOND),
        reason: OpenReason::Failing,
    })
}

#[tokio::test(start_paused = true)]
async fn five_failures_within_a_minute_open_the_circuit_and_two_good_trials_close_it() {
    let breaker = breaker();
    fail(&breaker, 4).await;
    assert_eq!(call(&breaker, Ok(1)).await, Ok(1), "four are not five");
    advance(59 * SECOND).await;
    assert_eq!(breaker.health().failures, 4);
    fail(&breaker, 1).await;
    assert_eq!(call(&breaker, Ok(1)).await, Err(open_for(30)));
    advance(29 * SECOND).await;
    assert_eq!(call(&breaker, Ok(1)).await, Err(open_for(1)));
    advance(SECOND).await;
    assert_eq!(call(&breaker, Ok(1)).await, Ok(1));
    assert_eq!(breaker.health().state, CircuitState::HalfOpen);
    assert_eq!(call(&breaker, Ok(1)).await, Ok(1));
    assert_eq!(
        breaker.health(),
        CircuitHealth {
            name: "kettle".into(),
            state: CircuitState::Closed,
            reason: None,
            lasted: Duration::ZERO,
            retry_in: Some(Duration::ZERO),
            failures: 0
        }
    );
}

#[tokio::test(start_paused = true)]
async fn failures_that_are_a_minute_apart_never_open_the_circuit() {
    let breaker = breaker();
    for _ in 0..20 {
        fail(&breaker, 4).await;
        advance(60 * SECOND).await;
    }
    assert_eq!(breaker.health().failures, 0);
    assert_eq!(breaker.health().state, CircuitState::Closed);
}

fn wait(breaker: &CircuitBreaker) -> Duration {
    breaker.health().retry_in.unwrap()
}

#[tokio::test(start_paused = true)]
async fn the_cooldown_doubles_up_to_five_minutes_and_begins_anew_once_closed() {
    let breaker = breaker();
    fail(&breaker, 5).await;
    assert_eq!(wait(&breaker), 30 * SECOND);
    for seconds in [60, 120, 240, 300, 300] {
        advance(wait(&breaker)).await;
        fail(&breaker, 1).await;
        let (shortest, longest) = (seconds * SECOND * 3 / 4, seconds * SECOND);
        assert!(
            (shortest..=longest).contains(&wait(&breaker)),
            "{seconds}: {:?}",
            wait(&breaker)
        );
    }
    advance(wait(&breaker)).await;
    for _ in 0..2 {
        assert_eq!(call(&breaker, Ok(1)).await, Ok(1));
    }
    fail(&breaker, 5).await;
    assert_eq!(call(&breaker, Ok(1)).await, Err(open_for(30)));
}

#[tokio::test(start_paused = true)]
async fn the_cooldown_restarts_after_an_answered_trial() {
    let breaker = breaker();
    fail(&breaker, 5).await;
    for _ in 0..3 {
        advance(wait(&breaker)).await;
        fail(&breaker, 1).await;
    }
    assert!(wait(&breaker) > 100 * SECOND);
    for _ in 0..3 {
        advance(wait(&breaker)).await;
        assert_eq!(call(&breaker, Ok(1)).await, Ok(1));
        fail(&breaker, 1).await;
        assert!((23 * SECOND..=30 * SECOND).contains(&wait(&breaker)));
    }
}

#[tokio::test(start_paused = true)]
async fn a_refusal_opens_the_circuit_until_the_configuration_changes() {
    let breaker = breaker();
    let refused = call(&breaker, Err(Failure::Stranger)).await;
    assert_eq!(refused, Err(BreakerError::Failed(Failure::Stranger)));
    advance(86_400 * SECOND).await;
    let open = CircuitOpen {
        retry_in: None,
        reason: OpenReason::Refused,
    };
    assert_eq!(call(&breaker, Ok(1)).await, Err(BreakerError::Open(open)));
    assert_eq!(breaker.health().reason, Some(OpenReason::Refused));
    assert_eq!(breaker.health().lasted, 86_400 * SECOND);
    breaker.configuration_changed();
    assert_eq!(call(&breaker, Ok(1)).await, Ok(1));
}

#[tokio::test(start_paused = true)]
async fn a_faulty_request_does_not_change_the_circuit() {
    let breaker = breaker();
    for _ in 0..1000 {
        let wrong = call(&breaker, Err(Failure::Wrong)).await;
        assert_eq!(wrong, Err(BreakerError::Failed(Failure::Wrong)));
    }
    assert_eq!(breaker.health().state, CircuitState::Closed);
}

#[tokio::test(start_paused = true)]
async fn a_dropped_trial_lets_another_caller_try() {
    let breaker = breaker();
    fail(&breaker, 5).await;
    advance(30 * SECOND).await;
    let hanging = breaker.guard(judge, pending::<Result<u8, Failure>>());
    assert!(deadline(SECOND, hanging).await.is_err());
    let trial = breaker.admit().unwrap();
    assert!(trial.is_trial());
    let another = breaker.admit().unwrap_err();
    assert_eq!(another.reason, OpenReason::TrialUnderWay);
    assert_eq!(breaker.health().retry_in, None);
    drop(trial);
    assert!(breaker.admit().is_ok());
}

#[tokio::test(start_paused = true)]
async fn a_hanging_service_counts_as_failed_after_the_deadline_inside_the_guard() {
    let breaker = breaker();
    for _ in 0..5 {
        let call = deadline(SECOND, pending::<()>());
        let late = breaker.guard(|_| Health::Unhealthy, call).await;
        assert!(matches!(late, Err(BreakerError::Failed(_))));
    }
    assert_eq!(breaker.health().state, CircuitState::Open);
}

#[tokio::test(start_paused = true)]
async fn a_rejected_call_is_not_started() {
    let breaker = breaker();
    fail(&breaker, 5).await;
    let call = async { panic!("it was begun") };
    let result: Result<(), _> = breaker.guard(judge, call).await;
    assert_eq!(
        result,
        Err(BreakerError::Open(CircuitOpen {
            retry_in: Some(30 * SECOND),
            reason: OpenReason::Failing,
        }))
    );
}

#[tokio::test(start_paused = true)]
async fn the_end_of_a_cooldown_is_reported_without_a_call() {
    let breaker = breaker();
    fail(&breaker, 5).await;
    advance(32 * SECOND).await;
    let health = breaker.health();
    assert_eq!(health.state, CircuitState::HalfOpen);
    assert_eq!(health.lasted, 2 * SECOND);
    assert_eq!(health.retry_in, Some(Duration::ZERO));
}

#[tokio::test(start_paused = true)]
async fn racing_callers_on_several_threads_get_one_trial() {
    let breaker = breaker();
    fail(&breaker, 5).await;
    advance(30 * SECOND).await;
    let runtime = tokio::runtime::Handle::current();
    let admit = || {
        let _its_clock = runtime.enter();
        breaker.admit().ok()
    };
    let admitted = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(admit)).collect();
        let permits = threads.into_iter().map(|thread| thread.join().unwrap());
        permits.flatten().collect::<Vec<_>>()
    });
    assert_eq!(admitted.len(), 1);
}

#[tokio::test]
async fn a_guarded_call_of_sendable_parts_can_be_sent() {
    fn sendable<T: Send>(t: T) -> T {
        t
    }
    let breaker = breaker();
    assert_eq!(sendable(call(&breaker, Ok(1))).await, Ok(1));
}
