use std::{cell::Cell, future::pending};

use tokio::time::Instant;

use super::*;
use crate::BudgetPolicy;

const SECOND: Duration = Duration::from_secs(1);

fn policy(copies: u32) -> HedgePolicy {
    HedgePolicy::try_new(SECOND, copies).unwrap()
}

/// Calls that take so many seconds each, in turn, and end like that. What is dropped before its end is not counted.
struct Service<'a> {
    ends: &'a [(u64, Result<u32, u32>)],
    begun: Cell<usize>,
    ended: Cell<usize>,
}

impl<'a> Service<'a> {
    fn new(ends: &'a [(u64, Result<u32, u32>)]) -> Self {
        Self {
            ends,
            begun: Cell::new(0),
            ended: Cell::new(0),
        }
    }

    async fn call(&self) -> Result<u32, u32> {
        let (takes, end) = self.ends[self.begun.get()];
        self.begun.set(self.begun.get() + 1);
        sleep(Duration::from_secs(takes)).await;
        self.ended.set(self.ended.get() + 1);
        end
    }
}

#[tokio::test(start_paused = true)]
async fn off_is_the_operation_and_nothing_else() {
    assert_eq!(HedgePolicy::default(), HedgePolicy::off());
    let budget = RetryBudget::default();
    let service = Service::new(&[(100, Ok(1))]);
    assert_eq!(
        hedge(&HedgePolicy::off(), &budget, || service.call()).await,
        Ok(1)
    );
    assert_eq!(service.begun.get(), 1);
}

#[tokio::test(start_paused = true)]
async fn an_answer_in_time_is_not_asked_for_twice() {
    let service = Service::new(&[(0, Ok(1))]);
    let answer = hedge(&policy(3), &RetryBudget::default(), || service.call()).await;
    assert_eq!((answer, service.begun.get()), (Ok(1), 1));
}

#[tokio::test(start_paused = true)]
async fn the_first_success_wins_and_the_others_are_dropped() {
    let begun = Instant::now();
    let service = Service::new(&[(100, Ok(1)), (50, Ok(2)), (3, Ok(3)), (9, Ok(4))]);
    let answer = hedge(&policy(3), &RetryBudget::default(), || service.call()).await;
    assert_eq!(answer, Ok(3));
    assert_eq!(begun.elapsed(), 5 * SECOND);
    assert_eq!((service.begun.get(), service.ended.get()), (4, 1));
}

#[tokio::test(start_paused = true)]
async fn never_more_copies_than_the_policy_says() {
    let service = Service::new(&[(100, Ok(1)), (100, Ok(2)), (100, Ok(3))]);
    let answer = hedge(&policy(2), &RetryBudget::default(), || service.call()).await;
    assert_eq!((answer, service.begun.get()), (Ok(1), 3));
}

#[tokio::test(start_paused = true)]
async fn no_copy_is_made_when_the_budget_is_spent() {
    let budget = RetryBudget::new(BudgetPolicy::try_new(0.0, 0.0, 1).unwrap());
    let service = Service::new(&[(100, Ok(1)), (100, Ok(2)), (1, Ok(3))]);
    let answer = hedge(&policy(5), &budget, || service.call()).await;
    assert_eq!((answer, service.begun.get()), (Ok(1), 2));
    assert_eq!(budget.left(), 0);
}

#[tokio::test(start_paused = true)]
async fn a_failure_waits_for_those_under_way_and_the_last_one_is_the_answer() {
    let budget = RetryBudget::default();
    let service = Service::new(&[(2, Err(1)), (4, Ok(2))]);
    let answer = hedge(&policy(1), &budget, || service.call()).await;
    assert_eq!(answer, Ok(2));
    let service = Service::new(&[(2, Err(1)), (4, Err(2))]);
    let answer = hedge(&policy(1), &budget, || service.call()).await;
    assert_eq!(answer, Err(2));
    let service = Service::new(&[(0, Err(1))]);
    let answer = hedge(&policy(5), &budget, || service.call()).await;
    assert_eq!((answer, service.begun.get()), (Err(1), 1));
}

#[tokio::test(start_paused = true)]
async fn dropping_it_drops_all_of_them() {
    let held = std::rc::Rc::new(());
    let budget = RetryBudget::default();
    let policy = policy(2);
    let all = hedge(&policy, &budget, || {
        let held = held.clone();
        async move {
            pending::<()>().await;
            drop(held);
            Ok::<(), ()>(())
        }
    });
    assert!(crate::deadline(10 * SECOND, all).await.is_err());
    assert_eq!(std::rc::Rc::strong_count(&held), 1);
}

#[test]
fn numbers_that_make_no_hedging_are_named() {
    let error = |after, copies| HedgePolicy::try_new(after, copies).unwrap_err().to_string();
    assert_eq!(
        error(SECOND, 0),
        "0 copies of a call are not possible: between 1 and 5 are"
    );
    assert!(error(SECOND, 6).starts_with("6 copies"));
    assert!(error(Duration::ZERO, 1).starts_with("a copy cannot be made at once"));
}
