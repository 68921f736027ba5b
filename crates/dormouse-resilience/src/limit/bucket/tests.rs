use proptest::prelude::*;

use super::*;
use crate::limit::RateLimit;

fn bucket(per_minute: u32, burst: u32) -> Bucket {
    let limit = RateLimit::reported_only().try_with_units(per_minute, burst);
    Bucket::new(limit.unwrap().units().unwrap())
}

fn some(units: u32) -> NonZeroU32 {
    NonZeroU32::new(units).unwrap()
}

fn millis(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

#[test]
fn it_begins_full_and_refills_evenly() {
    let mut bucket = bucket(60, 3);
    assert_eq!(bucket.take(some(3), millis(0)), Ok(()));
    assert_eq!(
        bucket.take(some(1), millis(400)),
        Err(NoRoom::For(millis(600)))
    );
    assert_eq!(
        bucket.take(some(2), millis(400)),
        Err(NoRoom::For(millis(1600)))
    );
    assert_eq!(bucket.left(millis(1999)), 1);
    assert_eq!(bucket.take(some(2), millis(2000)), Ok(()));
    assert_eq!(bucket.left(millis(2000)), 0);
    assert_eq!(bucket.left(millis(100_000)), 3);
}

#[test]
fn more_than_the_burst_never_fits() {
    let mut bucket = bucket(60, 3);
    assert_eq!(bucket.take(some(4), millis(0)), Err(NoRoom::Ever));
    assert_eq!(bucket.take(some(u32::MAX), millis(0)), Err(NoRoom::Ever));
    assert_eq!(bucket.left(millis(0)), 3);
}

#[test]
fn returned_units_are_available_again_up_to_the_burst() {
    let mut bucket = bucket(60, 10);
    assert_eq!(bucket.take(some(10), millis(0)), Ok(()));
    bucket.put_back(4);
    assert_eq!(bucket.left(millis(0)), 4);
    bucket.put_back(u32::MAX);
    assert_eq!(bucket.left(millis(0)), 10);
}

#[test]
fn callers_wait_for_a_debt_and_an_unpayable_debt_is_forgiven() {
    let mut bucket = bucket(60, 10);
    bucket.overdraw(15, millis(0));
    assert_eq!(
        bucket.take(some(1), millis(0)),
        Err(NoRoom::For(millis(6000)))
    );
    bucket.overdraw(u32::MAX, millis(0));
    let a_day = millis(86_400_000);
    assert_eq!(bucket.left(a_day), 10);
}

#[test]
fn extreme_policies_neither_overflow_nor_exceed_the_limit() {
    let most = RateLimit::MOST_PER_MINUTE;
    for (per_minute, burst) in [(1, 1), (1, 1440), (most, 1), (most, u32::MAX)] {
        let mut bucket = bucket(per_minute, burst);
        for now in [Duration::ZERO, Duration::MAX] {
            assert_eq!(bucket.take(some(burst), now), Ok(()));
            assert_eq!(bucket.left(now), 0);
            bucket.overdraw(u32::MAX, now);
            bucket.overdraw(u32::MAX, now);
            assert!(matches!(bucket.take(some(1), now), Err(NoRoom::For(_))));
            bucket.put_back(u32::MAX);
            bucket.put_back(u32::MAX);
        }
    }
}

/// How many nanoseconds pass, and how many units are asked for then.
fn steps() -> impl Strategy<Value = Vec<(u64, u32)>> {
    let wait = prop_oneof![3 => Just(0), 1 => 0u64..20_000_000_000];
    prop::collection::vec((wait, 1u32..20), 1..80)
}

proptest! {
    #[test]
    fn no_interval_admits_more_than_burst_plus_refill(
        per_minute in 1u32..500,
        burst in 1u32..30,
        steps in steps(),
    ) {
        let mut bucket = bucket(per_minute, burst);
        let mut through: Vec<(u64, u64)> = Vec::new();
        let mut now = 0;
        for (wait, units) in steps {
            now += wait;
            match bucket.take(some(units), Duration::from_nanos(now)) {
                Ok(()) => {
                    through.push((now, u64::from(units)));
                    for (index, (since, _)) in through.iter().enumerate() {
                        let sum: u64 = through[index..].iter().map(|(_, units)| units).sum();
                        // Exactly: units times a minute against time times the rate.
                        let refilled = u128::from(now - since) * u128::from(per_minute);
                        let over = u128::from(sum.saturating_sub(u64::from(burst)));
                        prop_assert!(over * 60_000_000_000 <= refilled, "{through:?}");
                    }
                }
                Err(NoRoom::For(wait)) => {
                    // The wait is exact: not a moment sooner, and then for sure.
                    let then = Duration::from_nanos(now) + wait;
                    prop_assert!(bucket.left(then - Duration::from_nanos(1)) < units);
                    prop_assert!(bucket.left(then) >= units);
                    if units % 2 == 0 {
                        // The next one comes at the first moment at which this one would have fitted.
                        now += u64::try_from(wait.as_nanos()).unwrap();
                    }
                }
                Err(NoRoom::Ever) => prop_assert!(units > burst),
            }
        }
    }

    #[test]
    fn settling_an_estimate_equals_taking_the_actual_amount(
        per_minute in 1u32..500,
        burst in 20u32..30,
        steps in steps(),
        actual in prop::collection::vec(0u32..40, 80),
    ) {
        let (mut settled, mut exact) = (bucket(per_minute, burst), bucket(per_minute, burst));
        let mut now = Duration::ZERO;
        for ((wait, estimated), actual) in steps.into_iter().zip(actual) {
            now += Duration::from_nanos(wait);
            if settled.take(some(estimated), now).is_ok() {
                match actual.checked_sub(estimated) {
                    Some(more) => settled.overdraw(more, now),
                    None => settled.put_back(estimated - actual),
                }
                exact.overdraw(actual, now);
            }
            prop_assert_eq!(settled.left(now), exact.left(now));
        }
    }
}
