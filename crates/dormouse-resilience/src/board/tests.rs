use std::time::Duration;

use super::*;
use crate::{BreakerPolicy, CircuitState, Health, Level, OpenReason, RateLimit, RetryBudget};

const SECOND: Duration = Duration::from_secs(1);

fn limited(name: &str) -> Guard {
    let limit = RateLimit::reported_only().try_with_requests(60, 10);
    let limit = limit.and_then(|limit| limit.try_with_units(6_000, 1_000));
    Guard::builder(name).rate_limit(limit.unwrap()).build()
}

fn names(board: &HealthBoard) -> Vec<String> {
    let report = board.report();
    report.iter().map(|one| one.name().to_owned()).collect()
}

#[tokio::test(start_paused = true)]
async fn one_query_reports_the_state_of_every_service_by_name() {
    let board = HealthBoard::new();
    let (b, a) = (limited("bakery"), Guard::builder("apothecary").build());
    let post = CircuitBreaker::new("post office", BreakerPolicy::service());
    board.watch(&b);
    board.clone().watch_breaker(&post);
    board.watch(&a);
    assert_eq!(names(&board), ["apothecary", "bakery", "post office"]);
    assert!(board.report().iter().all(ServiceHealth::is_healthy));

    for _ in 0..5 {
        b.admit(100).await.unwrap().record(Health::Unhealthy);
    }
    b.pause(90 * SECOND);
    post.admit().unwrap().record(Health::Refused);
    let _under_way = a.admit(0).await.unwrap();
    tokio::time::advance(10 * SECOND).await;

    let report = board.report();
    let lines: Vec<_> = report.iter().map(ToString::to_string).collect();
    assert_eq!(
        lines,
        [
            "apothecary: circuit closed for 10s; 1 under way, 0 waiting; 10 retries left",
            "bakery: circuit open for 10s, because the service failed too often, next try in 20s; \
             0 under way, 0 waiting; asked to pause for 80s; 10 of 10 requests left; \
             1000 of 1000 units left; 10 retries left",
            "post office: circuit open for 10s, because the service rejected the credentials, until that changes; \
             0 under way, 0 waiting",
        ]
    );
    let bakery = &report[1];
    assert_eq!(bakery.circuit.state, CircuitState::Open);
    assert_eq!(bakery.circuit.reason, Some(OpenReason::Failing));
    assert_eq!(bakery.circuit.lasted, 10 * SECOND);
    assert_eq!(bakery.next_try(), Some(80 * SECOND), "the later of both");
    assert_eq!(report[2].next_try(), None, "no time decides");
    assert!(!bakery.is_healthy() && !report[2].is_healthy());
}

#[tokio::test(start_paused = true)]
async fn failures_that_count_and_limits_that_are_used_are_shown() {
    let guard = limited("bakery");
    guard.admit(250).await.unwrap().record(Health::Unhealthy);
    let health = guard.health();
    assert_eq!(
        health.to_string(),
        "bakery: circuit closed for 0s; 1 failure counts; 0 under way, 0 waiting; \
         9 of 10 requests left; 750 of 1000 units left; 10 retries left"
    );
    let units = health.limit.and_then(|limit| limit.units);
    assert_eq!(
        units,
        Some(Level {
            left: 750,
            of: 1_000
        })
    );
}

#[tokio::test(start_paused = true)]
async fn waiting_callers_are_counted() {
    let guard = limited("bakery");
    for _ in 0..10 {
        guard.admit(0).await.unwrap().record(Health::Healthy);
    }
    let board = HealthBoard::new();
    board.watch(&guard);
    let look = async { board.report()[0].waiting };
    let (admission, waiting) = tokio::join!(guard.admit(0), look);
    assert_eq!((admission.is_ok(), waiting), (true, 1));
}

#[tokio::test]
async fn two_services_of_one_name_are_both_shown_and_neither_is_kept_alive() {
    let board = HealthBoard::new();
    let (first, second) = (limited("bakery"), limited("bakery"));
    board.watch(&first);
    board.watch(&second);
    assert_eq!(names(&board), ["bakery", "bakery"]);
    let in_use = second.admit(1).await.unwrap();
    drop((first, second));
    assert_eq!(
        names(&board),
        ["bakery"],
        "a call under way keeps its guard"
    );
    drop(in_use);
    assert_eq!(names(&board), [""; 0]);
    board.watch(&limited("a guest"));
    for _ in 0..100 {
        board.watch(&limited("passing by"));
    }
    assert!(board.watched().len() <= 1, "what is gone is forgotten");
}

#[tokio::test]
async fn a_shared_budget_is_reported_by_each_service() {
    let budget = RetryBudget::default();
    let guard = Guard::builder("bakery").budget(budget.clone()).build();
    budget.withdraw().unwrap();
    assert_eq!(guard.health().retries_left, Some(9));
}
