use proptest::prelude::*;

use super::*;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_full_budget_allows_exactly_its_capacity_of_retries() {
    let mut budget = Budget::new(BudgetPolicy::service());
    for _ in 0..10_000 {
        budget.deposit();
    }
    assert_eq!(budget.left(SECOND), 10);
    for _ in 0..10 {
        assert_eq!(budget.withdraw(SECOND), Ok(()));
    }
    assert_eq!(budget.withdraw(SECOND), Err(BudgetSpent));
}

#[test]
fn ten_calls_or_two_seconds_earn_a_retry() {
    let mut budget = Budget::new(BudgetPolicy::service());
    while budget.withdraw(SECOND).is_ok() {}
    for _ in 0..9 {
        budget.deposit();
    }
    assert_eq!(
        budget.withdraw(SECOND),
        Err(BudgetSpent),
        "nine are not ten"
    );
    budget.deposit();
    assert_eq!(budget.withdraw(SECOND), Ok(()));
    let nearly = 3 * SECOND - Duration::from_nanos(1);
    assert_eq!(budget.withdraw(nearly), Err(BudgetSpent));
    assert_eq!(budget.withdraw(3 * SECOND), Ok(()));
}

#[test]
fn a_budget_that_earns_nothing_is_spent_once() {
    let mut budget = Budget::new(BudgetPolicy::try_new(0.0, 0.0, 1).unwrap());
    assert_eq!(budget.withdraw(SECOND), Ok(()));
    budget.deposit();
    assert_eq!(budget.withdraw(Duration::MAX), Err(BudgetSpent));
}

#[test]
fn a_backward_clock_earns_no_retries() {
    let mut budget = Budget::new(BudgetPolicy::try_new(0.0, 1.0, 5).unwrap());
    for _ in 0..5 {
        assert_eq!(budget.withdraw(10 * SECOND), Ok(()));
    }
    for _ in 0..5 {
        assert_eq!(budget.withdraw(SECOND), Err(BudgetSpent));
        assert_eq!(budget.withdraw(10 * SECOND), Err(BudgetSpent));
    }
    assert_eq!(budget.withdraw(11 * SECOND), Ok(()));
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Wait(Duration),
    Call,
    Retry,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        1 => (0u64..3_000_000_000).prop_map(|nanos| Event::Wait(Duration::from_nanos(nanos))),
        1 => (0u64..9).prop_map(|nanos| Event::Wait(Duration::from_nanos(nanos))),
        3 => Just(Event::Call),
        4 => Just(Event::Retry),
    ];
    prop::collection::vec(event, 1..120)
}

fn policies() -> impl Strategy<Value = BudgetPolicy> {
    (0.0f64..1.5, 0.0f64..3.0, 1u32..6)
        .prop_map(|(call, second, most)| BudgetPolicy::try_new(call, second, most).unwrap())
}

/// What happened between two moments at which retries were made or refused, in billionths of billionths.
struct Stretch {
    retries: u128,
    earned: u128,
}

/// Every stretch from some event to the last one of `events`.
fn stretches(policy: BudgetPolicy, events: &[Event], made: &[bool]) -> Vec<Stretch> {
    let mut at_end = Stretch {
        retries: 0,
        earned: 0,
    };
    let backwards = events.iter().zip(made).rev();
    backwards
        .map(|(event, made)| {
            match event {
                Event::Wait(time) => {
                    at_end.earned += time.as_nanos() * u128::from(policy.per_second());
                }
                Event::Call => at_end.earned += u128::from(policy.per_call()) * BILLION,
                Event::Retry => at_end.retries += u128::from(*made),
            }
            Stretch { ..at_end }
        })
        .collect()
}

proptest! {
    #[test]
    fn the_budget_is_never_exceeded_and_refuses_only_when_empty(
        policy in policies(),
        events in events(),
    ) {
        let mut budget = Budget::new(policy);
        let mut now = Duration::ZERO;
        let mut made = Vec::new();
        let held = u128::from(policy.most()) * ONE;
        for (index, event) in events.iter().enumerate() {
            made.push(match event {
                Event::Wait(time) => {
                    now += *time;
                    false
                }
                Event::Call => {
                    budget.deposit();
                    false
                }
                Event::Retry => {
                    let left = budget.left(now);
                    let made = budget.withdraw(now).is_ok();
                    prop_assert_eq!(left > 0, made);
                    made
                }
            });
            if !matches!(event, Event::Retry) {
                continue;
            }
            let all = stretches(policy, &events[..=index], &made);
            if made[index] {
                for stretch in all {
                    prop_assert!(stretch.retries * ONE <= held + stretch.earned, "too many");
                }
            } else {
                let one_more = |stretch: &Stretch| (stretch.retries + 1) * ONE > held + stretch.earned;
                prop_assert!(all.iter().any(one_more), "there was room");
            }
        }
    }
}
