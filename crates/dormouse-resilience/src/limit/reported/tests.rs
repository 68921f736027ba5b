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

const MINUTE: Duration = Duration::from_secs(60);
const EVENLY: Refill = Refill::Evenly { period: MINUTE };

/// From a service that counts in windows.
fn window(limit: u64, remaining: u64, resets_in: Duration) -> ReportedLimit {
    let quota = quota(limit, remaining, resets_in);
    ReportedLimit::new(quota, Refill::AtReset, Duration::ZERO).unwrap()
}

/// From a service whose bucket refills evenly.
fn bucket(limit: u64, remaining: u64, resets_in: Duration) -> ReportedLimit {
    let quota = quota(limit, remaining, resets_in);
    ReportedLimit::new(quota, EVENLY, Duration::ZERO).unwrap()
}

#[test]
fn a_window_admits_the_remainder_until_its_reset() {
    let mut reported = window(60, 2, secs(20));
    assert_eq!(reported.wait(2, secs(1)), Duration::ZERO);
    reported.take(2, secs(1));
    assert_eq!(reported.wait(1, secs(1)), secs(19));
    assert_eq!(reported.left(secs(19)), 0);
    assert_eq!(reported.left(secs(20)), 60);
}

#[test]
fn a_bucket_admits_one_more_after_each_interval() {
    // 60 a minute, all of them used: one a second.
    let mut minute = bucket(60, 0, secs(60));
    assert_eq!(minute.wait(1, secs(0)), secs(1));
    assert_eq!(minute.wait(10, secs(5)), secs(5));
    minute.take(5, secs(5));
    assert_eq!(minute.wait(1, secs(5)), secs(1));
    assert_eq!(bucket(200, 0, secs(86_400)).wait(1, secs(0)), secs(432));
    let tokens = bucket(150_000, 149_984, Duration::from_micros(6_400));
    assert_eq!(tokens.left(Duration::from_micros(6_000)), 149_999);
}

#[test]
fn windows_and_buckets_are_distinguished_by_their_numbers() {
    let learn = |quotas: &[Quota]| {
        let reported = quotas.iter().copied();
        reported.fold(Refill::default(), Refill::learn)
    };
    let millis = Duration::from_millis;
    let evenly = |period| Refill::Evenly { period };
    for (even, period) in [
        (quota(60, 59, secs(1)), MINUTE),
        // A free tier of 200 a day: one every 432 s.
        (quota(200, 199, secs(432)), secs(86_400)),
        (quota(150_000, 149_984, millis(6)), MINUTE),
        (quota(50, 20, secs(34)), MINUTE),
    ] {
        assert_eq!(learn(&[even]), evenly(period), "{even:?}");
    }
    for at_reset in [
        quota(60, 59, secs(45)),
        quota(60, 30, secs(50)),
        quota(1_000, 1, secs(12)),
        quota(u64::MAX, 1, Duration::MAX),
    ] {
        assert_eq!(learn(&[at_reset]), Refill::AtReset, "{at_reset:?}");
    }
    let even = quota(60, 59, secs(1));
    assert_eq!(learn(&[even, Quota::default()]), EVENLY);
    assert_eq!(learn(&[even, quota(60, 60, secs(9))]), EVENLY);
    assert_eq!(learn(&[even, quota(60, 30, secs(50))]), Refill::AtReset);
}

#[test]
fn an_empty_limit_is_a_bucket_only_if_it_was_one_before() {
    let learn = |quotas: &[Quota]| {
        let reported = quotas.iter().copied();
        reported.fold(Refill::default(), Refill::learn)
    };
    let nothing_left = quota(60, 0, secs(60));
    assert_eq!(learn(&[nothing_left]), Refill::AtReset);
    assert_eq!(learn(&[quota(60, 59, secs(1)), nothing_left]), EVENLY);
    // The first answer of a window of a minute looks like a bucket of an hour; the next one decides.
    let first = quota(60, 59, secs(60));
    assert_eq!(learn(&[first, nothing_left]), Refill::AtReset);
}

#[test]
fn incomplete_or_expired_limits_are_ignored() {
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
        assert_eq!(ReportedLimit::new(quota, EVENLY, now), None);
    }
}

#[test]
fn a_remainder_without_a_limit_is_a_window() {
    let quota = Quota {
        limit: None,
        ..quota(0, 3, secs(9))
    };
    let reported = ReportedLimit::new(quota, EVENLY, secs(1)).unwrap();
    assert_eq!(reported.wait(3, secs(1)), Duration::ZERO);
    assert_eq!(reported.wait(4, secs(1)), secs(9));
}

#[test]
fn absurd_numbers_are_bounded() {
    let mut far = window(u64::MAX, 0, Duration::MAX);
    assert_eq!(far.wait(1, secs(0)), ReportedLimit::LONGEST);
    far.take(u64::MAX, secs(0));
    assert_eq!(far.wait(u64::MAX, secs(0)), ReportedLimit::LONGEST);
    let even = bucket(u64::MAX, 0, Duration::MAX);
    assert!(even.wait(u64::MAX, secs(0)) <= ReportedLimit::LONGEST);
    let used_up = window(1, 0, secs(3));
    assert_eq!(used_up.wait(9, secs(0)), secs(3), "at the reset it may try");
    let of_nothing = quota(0, 0, secs(3));
    assert_eq!(
        ReportedLimit::new(of_nothing, Refill::AtReset, Duration::ZERO),
        None,
        "a service that allows nothing does not answer"
    );
    let more_left_than_there_is = bucket(5, 500, secs(3));
    assert_eq!(more_left_than_there_is.left(secs(0)), 500);
}

#[test]
fn a_request_above_the_reported_limit_waits_for_the_reset_only() {
    assert_eq!(bucket(60, 0, secs(60)).wait(1_000, secs(10)), secs(50));
}

proptest! {
    #[test]
    fn a_wait_is_exact_and_ends_at_the_reset(
        limit in 1u64..200,
        used in 0u64..200,
        resets_in in 1u64..100_000,
        refill in prop_oneof![Just(Refill::AtReset), Just(EVENLY)],
        events in prop::collection::vec((0u64..5_000, 1u64..40), 1..30),
    ) {
        let resets_in = Duration::from_millis(resets_in);
        let quota = quota(limit, limit.saturating_sub(used), resets_in);
        let mut reported = ReportedLimit::new(quota, refill, Duration::ZERO).unwrap();
        let mut now = Duration::ZERO;
        for (pass, units) in events {
            now += Duration::from_millis(pass);
            let wait = reported.wait(units, now);
            prop_assert!(wait <= resets_in.saturating_sub(now));
            if reported.is_over(now) {
                break;
            }
            if wait.is_zero() {
                let left = reported.left(now);
                reported.take(units, now);
                prop_assert_eq!(reported.left(now), left - units);
            } else {
                prop_assert!(reported.left(now) < units);
                prop_assert!(reported.wait(units, now + wait).is_zero());
                let before = now + wait - Duration::from_nanos(1);
                prop_assert!(!reported.wait(units, before).is_zero());
            }
        }
    }
}
