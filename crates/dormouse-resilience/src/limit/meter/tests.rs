use proptest::prelude::*;

use super::*;
use crate::limit::{Level, Quota};

fn secs(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

fn later(retry_in: Duration, reason: LimitReason) -> Result<(), RateLimited> {
    Err(RateLimited::Later { retry_in, reason })
}

fn limit() -> RateLimit {
    RateLimit::reported_only()
        .try_with_requests(60, 5)
        .and_then(|limit| limit.try_with_units(6_000, 1_000))
        .unwrap()
}

fn quota(limit: u64, remaining: u64, resets_in: Duration) -> Quota {
    Quota {
        limit: Some(limit),
        remaining: Some(remaining),
        resets_in: Some(resets_in),
    }
}

fn requests(quota: Quota) -> ReportedLimits {
    ReportedLimits {
        requests: Some(quota),
        units: None,
    }
}

#[test]
fn a_rejected_request_takes_no_units() {
    let mut meter = Meter::new(limit());
    assert_eq!(meter.take(900, secs(0)), Ok(()));
    for _ in 0..10 {
        assert_eq!(meter.take(200, secs(0)), later(secs(1), LimitReason::Units));
        assert_eq!(meter.peek(100, secs(0)), Ok(()));
    }
    let health = meter.read(secs(0));
    assert_eq!(health.requests, Some(Level { left: 4, of: 5 }));
    assert_eq!(
        health.units,
        Some(Level {
            left: 100,
            of: 1_000
        })
    );
}

#[test]
fn a_request_that_can_never_fit_is_an_error_even_during_a_pause() {
    let mut meter = Meter::new(limit());
    meter.pause(secs(10), secs(0));
    let error = meter.take(1_001, secs(0)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "call not attempted: it has 1001 units; at most 1000 are allowed at once"
    );
}

#[test]
fn the_longest_wait_is_the_one_that_is_reported() {
    let mut meter = Meter::new(limit());
    for _ in 0..5 {
        assert_eq!(meter.take(200, secs(0)), Ok(()));
    }
    assert_eq!(
        meter.take(0, secs(0)),
        later(secs(1), LimitReason::Requests)
    );
    assert_eq!(
        meter.take(1_000, secs(0)),
        later(secs(10), LimitReason::Units)
    );
    meter.pause(secs(30), secs(0));
    assert_eq!(
        meter.take(1_000, secs(0)),
        later(secs(30), LimitReason::Paused)
    );
    assert_eq!(meter.take(0, secs(30)), Ok(()));
}

#[test]
fn a_request_without_units_needs_none() {
    let mut meter = Meter::new(limit());
    assert_eq!(meter.take(1_000, secs(0)), Ok(()));
    assert_eq!(meter.take(0, secs(0)), Ok(()));
}

#[test]
fn reported_limits_apply_in_addition_to_configured_ones() {
    let mut meter = Meter::new(limit());
    meter.observe(requests(quota(100, 1, secs(20))), secs(0));
    assert_eq!(meter.take(0, secs(0)), Ok(()));
    assert_eq!(
        meter.take(0, secs(0)),
        later(secs(20), LimitReason::Requests)
    );
    meter.observe(requests(quota(100, 50, secs(20))), secs(1));
    assert_eq!(meter.take(0, secs(1)), Ok(()), "the newest counts");
    meter.observe(ReportedLimits::default(), secs(1));
    let left = meter.read(secs(1)).requests;
    assert_eq!(left, Some(Level { left: 4, of: 5 }), "the stricter one");
}

#[test]
fn without_configured_limits_it_uses_reported_ones() {
    let mut meter = Meter::new(RateLimit::reported_only());
    for _ in 0..1_000 {
        assert_eq!(meter.take(u32::MAX, secs(0)), Ok(()));
    }
    let units = Some(quota(1_000, 10, secs(7)));
    meter.observe(
        ReportedLimits {
            requests: None,
            units,
        },
        secs(0),
    );
    assert_eq!(meter.take(11, secs(0)), later(secs(7), LimitReason::Units));
    assert_eq!(meter.take(10, secs(0)), Ok(()));
    assert_eq!(
        meter.take(u32::MAX, secs(7)),
        Ok(()),
        "over, so nothing is known"
    );
}

#[test]
fn a_new_configuration_ends_pauses_but_not_what_was_configured() {
    let mut meter = Meter::new(limit());
    for _ in 0..5 {
        assert_eq!(meter.take(0, secs(0)), Ok(()));
    }
    meter.pause(secs(600), secs(0));
    meter.observe(requests(quota(100, 0, secs(500))), secs(0));
    meter.configuration_changed();
    assert_eq!(
        meter.take(0, secs(0)),
        later(secs(1), LimitReason::Requests)
    );
}

#[test]
fn a_zero_limit_means_no_limit() {
    let mut meter = Meter::new(RateLimit::reported_only());
    meter.observe(requests(quota(0, 0, secs(86_400))), secs(0));
    assert_eq!(meter.take(0, secs(0)), Ok(()));
    meter.observe(requests(quota(1, 0, secs(7))), secs(0));
    assert_eq!(
        meter.take(0, secs(0)),
        later(secs(7), LimitReason::Requests)
    );
}

#[test]
fn an_endless_pause_is_capped_at_a_day() {
    let mut meter = Meter::new(RateLimit::reported_only());
    meter.pause(Duration::MAX, secs(0));
    assert_eq!(
        meter.take(0, secs(0)),
        later(secs(86_400), LimitReason::Paused)
    );
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Wait(u64),
    Take(u32),
    Pause(u64),
    /// Of the requests: limit, remaining, seconds until the reset.
    Observe(u64, u64, u64),
    Settle(u32, u32),
    GiveBackLast,
}

fn events() -> impl Strategy<Value = Vec<Event>> {
    let event = prop_oneof![
        6 => (0u64..4_000).prop_map(Event::Wait),
        9 => (0u32..700).prop_map(Event::Take),
        1 => (0u64..20_000).prop_map(Event::Pause),
        2 => (0u64..100, 0u64..20, 0u64..60).prop_map(|(l, r, s)| Event::Observe(l, r, s)),
        2 => (0u32..700, 0u32..900).prop_map(|(e, a)| Event::Settle(e, a)),
        1 => Just(Event::GiveBackLast),
    ];
    prop::collection::vec(event, 1..120)
}

proptest! {
    #[test]
    fn reported_limits_never_shorten_pauses_or_raise_configured_limits(
        events in events(),
    ) {
        let mut meter = Meter::new(limit());
        let mut now = Duration::ZERO;
        let mut paused_until = Duration::ZERO;
        let mut through: Vec<Duration> = Vec::new();
        for event in events {
            match event {
                Event::Wait(millis) => now += Duration::from_millis(millis),
                Event::Pause(millis) => {
                    let pause = Duration::from_millis(millis);
                    meter.pause(pause, now);
                    paused_until = paused_until.max(now + pause);
                }
                Event::Observe(limit, left, reset) => {
                    meter.observe(requests(quota(limit, left, secs(reset))), now);
                }
                Event::Settle(estimated, actual) => meter.settle(estimated, actual, now),
                Event::GiveBackLast => if through.last() == Some(&now) {
                    through.pop();
                    meter.give_back(0);
                },
                Event::Take(units) => {
                    let peeked = meter.peek(units, now);
                    let taken = meter.take(units, now);
                    prop_assert_eq!(peeked, taken);
                    if taken.is_err() {
                        continue;
                    }
                    prop_assert!(now >= paused_until, "sooner than Retry-After");
                    through.push(now);
                    for (index, since) in through.iter().enumerate() {
                        let count = u32::try_from(through.len() - index).unwrap();
                        // 5 at once, and one a second.
                        prop_assert!(secs(1) * count.saturating_sub(5) <= now - *since, "{through:?}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_reported_window_admits_at_most_the_remaining_requests(
        remaining in 0u64..30,
        resets_in in 1u64..50,
        steps in prop::collection::vec(0u64..2_000, 1..80),
    ) {
        let mut meter = Meter::new(RateLimit::reported_only());
        // The first one shows that it counts in windows.
        meter.observe(requests(quota(999, 500, secs(999))), secs(0));
        meter.observe(requests(quota(999, remaining, secs(resets_in))), secs(0));
        let (mut now, mut through) = (Duration::ZERO, 0);
        for step in steps {
            now += Duration::from_millis(step);
            if now >= secs(resets_in) {
                break;
            }
            match meter.take(0, now) {
                Ok(()) => through += 1,
                Err(limited) => prop_assert_eq!(
                    Err(limited),
                    later(secs(resets_in) - now, LimitReason::Requests)
                ),
            }
            prop_assert!(through <= remaining);
        }
    }

    #[test]
    fn no_reported_limit_blocks_callers_for_more_than_a_day(
        lies in prop::collection::vec((lie(), lie(), lie(), lie(), lie()), 1..20),
        units in 0u32..1_000,
    ) {
        let mut meter = Meter::new(limit());
        let mut now = Duration::ZERO;
        for (remaining, most, resets, pause, time) in lies {
            // A century at most: the clock saturates soon after.
            now = now.saturating_add(Duration::from_nanos(time)).min(secs(3_155_760_000));
            let quota = Quota {
                limit: Some(most).filter(|most| *most != 3),
                remaining: Some(remaining),
                resets_in: Some(Duration::new(resets, 999_999_999)),
            };
            meter.observe(ReportedLimits { requests: Some(quota), units: Some(quota) }, now);
            meter.pause(Duration::from_nanos(pause), now);
            let (few, many) = (u32::try_from(most % 500).unwrap(), clamped(remaining));
            meter.settle(few, many, now);
            meter.settle(many, few, now);
            meter.take(few, now).ok();
        }
        meter.pause(Duration::MAX, now);
        let day = secs(86_400);
        if meter.take(units, now + day).is_err() {
            // In addition, debts of units are paid off within a day and the time of a burst.
            prop_assert_eq!(meter.take(units, now + day + secs(10)), Ok(()));
        }
        meter.observe(ReportedLimits::default(), Duration::MAX);
        prop_assert_eq!(meter.read(Duration::MAX).paused_for, Duration::ZERO);
    }
}

/// Reported limits of a faulty or hostile service.
fn lie() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0),
        Just(1),
        Just(u64::MAX),
        0u64..100,
        any::<u64>(),
        0u64..200_000_000_000_000,
    ]
}

fn clamped(units: u64) -> u32 {
    u32::try_from(units).unwrap_or(u32::MAX)
}
