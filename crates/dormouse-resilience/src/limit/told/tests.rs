use proptest::prelude::*;

use super::*;

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn quota(limit: u64, remaining: u64, resets_in: Duration) -> Quota {
    Quota {
        limit: Some(limit),
        remaining: Some(remaining),
        resets_in: Some(resets_in),
    }
}

fn told(limit: u64, remaining: u64, resets_in: Duration) -> Told {
    Told::new(quota(limit, remaining, resets_in), Duration::ZERO).unwrap()
}

#[test]
fn a_window_has_what_is_left_and_nothing_more_until_its_reset() {
    let mut told = told(60, 2, secs(20));
    assert_eq!(told.wait(2, secs(1)), Duration::ZERO);
    told.take(2, secs(1));
    assert_eq!(told.wait(1, secs(1)), secs(19));
    assert_eq!(told.left(secs(19)), 0);
    assert_eq!(told.left(secs(20)), 60);
}

#[test]
fn a_bucket_that_refills_evenly_is_known_by_its_numbers() {
    // 60 a minute, all of them used: one a second.
    let mut minute = told(60, 0, secs(60));
    assert_eq!(minute.wait(1, secs(0)), secs(1));
    assert_eq!(minute.wait(10, secs(5)), secs(5));
    minute.take(5, secs(5));
    assert_eq!(minute.wait(1, secs(5)), secs(1));
    // 200 a day, as a free tier tells it: one every 432 s.
    assert_eq!(told(200, 199, secs(432)).wait(200, secs(0)), secs(432));
    assert_eq!(told(200, 0, secs(86_400)).wait(1, secs(0)), secs(432));
    // 150 000 tokens a minute of which 16 are missing.
    let tokens = told(150_000, 149_984, Duration::from_micros(6_400));
    assert_eq!(tokens.left(Duration::from_micros(6_000)), 149_999);
}

#[test]
fn what_is_incomplete_or_over_teaches_nothing() {
    let now = secs(5);
    let whole = quota(10, 1, secs(1));
    for quota in [
        Quota::default(),
        Quota {
            remaining: None,
            ..whole
        },
        Quota {
            resets_in: None,
            ..whole
        },
        quota(10, 0, Duration::ZERO),
    ] {
        assert_eq!(Told::new(quota, now), None);
    }
}

#[test]
fn without_a_limit_what_remains_is_a_window() {
    let quota = Quota {
        limit: None,
        ..quota(0, 3, secs(9))
    };
    let told = Told::new(quota, secs(1)).unwrap();
    assert_eq!(told.wait(3, secs(1)), Duration::ZERO);
    assert_eq!(told.wait(4, secs(1)), secs(9));
}

#[test]
fn absurd_numbers_are_bounded() {
    let mut far = told(u64::MAX, 0, Duration::MAX);
    assert_eq!(far.wait(1, secs(0)), Told::LONGEST);
    far.take(u64::MAX, secs(0));
    assert_eq!(far.wait(u64::MAX, secs(0)), Told::LONGEST);
    let none = told(0, 0, secs(3));
    assert_eq!(none.wait(1, secs(0)), secs(3), "at the reset it may try");
    let more_left_than_there_is = told(5, 500, secs(3));
    assert_eq!(more_left_than_there_is.left(secs(0)), 500);
}

#[test]
fn what_is_more_than_the_whole_waits_for_the_reset_and_no_longer() {
    assert_eq!(told(60, 0, secs(60)).wait(1_000, secs(10)), secs(50));
}

proptest! {
    #[test]
    fn a_wait_is_exact_and_ends_at_the_reset(
        limit in 1u64..200,
        used in 0u64..200,
        resets_in in 1u64..100_000,
        events in prop::collection::vec((0u64..5_000, 1u64..40), 1..30),
    ) {
        let resets_in = Duration::from_millis(resets_in);
        let mut told = told(limit, limit.saturating_sub(used), resets_in);
        let mut now = Duration::ZERO;
        for (pass, units) in events {
            now += Duration::from_millis(pass);
            let wait = told.wait(units, now);
            prop_assert!(wait <= resets_in.saturating_sub(now));
            if told.is_over(now) {
                break;
            }
            if wait.is_zero() {
                let left = told.left(now);
                told.take(units, now);
                prop_assert_eq!(told.left(now), left - units);
            } else {
                prop_assert!(told.left(now) < units);
                prop_assert!(told.wait(units, now + wait).is_zero());
                let before = now + wait - Duration::from_nanos(1);
                prop_assert!(!told.wait(units, before).is_zero());
            }
        }
    }
}
