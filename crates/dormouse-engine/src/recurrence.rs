//! When something recurs: at an interval, each day at a time, or each week on a day at a time. Times are UTC.

use std::{fmt, str::FromStr, time::Duration};

use dormouse_contracts::Timestamp;
use serde::{Deserialize, Serialize};

const MINUTE: i64 = 60_000_000;
const DAY: i64 = 24 * 60 * MINUTE;
/// The shortest and the longest interval, in minutes. With a shorter one, the assistant would think all the time.
const INTERVAL: std::ops::RangeInclusive<u32> = 5..=366 * 24 * 60;
/// The first day of the epoch was a Thursday.
const DAYS: [&str; 7] = ["thu", "fri", "sat", "sun", "mon", "tue", "wed"];

/// When something recurs. As text: `every 90 minutes` (`hours`, `days`), `daily 20:00`, `weekly mon 08:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Recurrence(Rhythm);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rhythm {
    /// This many minutes after the last time.
    Every(u32),
    /// At this minute of each day.
    Daily(u32),
    /// On this day, as in [`DAYS`], at this minute of it.
    Weekly(u8, u32),
}

/// A text is not a recurrence.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{text:?} is not a recurrence; expected \"daily 20:00\", \"weekly mon 08:00\" or \"every 2 hours\" (minutes, hours or days; \
     5 minutes to 366 days), in UTC"
)]
pub struct RecurrenceError {
    text: String,
}

impl Recurrence {
    /// The first moment after `at`. Missed moments in between are skipped.
    #[must_use]
    pub fn first_after(self, at: Timestamp) -> Timestamp {
        let now = at.as_micros();
        let next = |period: i64, phase: i64| {
            let begun = now.saturating_sub(phase).div_euclid(period);
            begun
                .saturating_add(1)
                .saturating_mul(period)
                .saturating_add(phase)
        };
        let minutes = |count: u32| i64::from(count) * MINUTE;
        Timestamp::from_micros(match self.0 {
            Rhythm::Every(count) => {
                return at.plus(Duration::from_secs(60 * u64::from(count)));
            }
            Rhythm::Daily(minute) => next(DAY, minutes(minute)),
            Rhythm::Weekly(day, minute) => next(7 * DAY, i64::from(day) * DAY + minutes(minute)),
        })
    }
}

impl fmt::Display for Recurrence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clock = |minute: u32| format!("{:02}:{:02}", minute / 60, minute % 60);
        match self.0 {
            Rhythm::Every(minutes) => {
                let units = [(24 * 60, "days"), (60, "hours"), (1, "minutes")];
                let whole = units.iter().find(|(unit, _)| minutes % unit == 0);
                let (unit, name) = whole.unwrap_or(&(1, "minutes"));
                write!(f, "every {} {name}", minutes / unit)
            }
            Rhythm::Daily(minute) => write!(f, "daily {}", clock(minute)),
            Rhythm::Weekly(day, minute) => {
                let day = DAYS.get(usize::from(day)).unwrap_or(&"mon");
                write!(f, "weekly {day} {}", clock(minute))
            }
        }
    }
}

impl FromStr for Recurrence {
    type Err = RecurrenceError;

    fn from_str(text: &str) -> Result<Self, RecurrenceError> {
        let lower = text.to_lowercase();
        let words: Vec<_> = lower.split_whitespace().collect();
        let rhythm = match *words {
            ["every", count, unit] => interval(count, unit),
            ["daily", clock] => minute_of_day(clock).map(Rhythm::Daily),
            ["weekly", day, clock] => weekday(day)
                .and_then(|day| minute_of_day(clock).map(|minute| Rhythm::Weekly(day, minute))),
            _ => None,
        };
        rhythm.map(Self).ok_or_else(|| RecurrenceError {
            text: text.chars().take(40).collect(),
        })
    }
}

fn interval(count: &str, unit: &str) -> Option<Rhythm> {
    let unit = match unit.trim_end_matches('s') {
        "minute" => 1,
        "hour" => 60,
        "day" => 24 * 60,
        _ => return None,
    };
    let minutes = count.parse::<u32>().ok()?.checked_mul(unit)?;
    INTERVAL
        .contains(&minutes)
        .then_some(Rhythm::Every(minutes))
}

fn minute_of_day(clock: &str) -> Option<u32> {
    let (hour, minute) = clock.split_once(':')?;
    let number = |text: &str, below: u32| {
        let digits = text.bytes().all(|byte| byte.is_ascii_digit());
        let is_short = digits && (1..=2).contains(&text.len());
        let number = text.parse::<u32>().ok().filter(|_| is_short)?;
        (number < below).then_some(number)
    };
    Some(number(hour, 24)? * 60 + number(minute, 60)?)
}

fn weekday(day: &str) -> Option<u8> {
    let day = day.get(..3)?;
    let place = DAYS.iter().position(|name| *name == day)?;
    u8::try_from(place).ok()
}

impl TryFrom<String> for Recurrence {
    type Error = RecurrenceError;

    fn try_from(text: String) -> Result<Self, RecurrenceError> {
        text.parse()
    }
}

impl From<Recurrence> for String {
    fn from(recurrence: Recurrence) -> Self {
        recurrence.to_string()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn after(rhythm: &str, at: &str) -> String {
        let rhythm: Recurrence = rhythm.parse().unwrap();
        rhythm.first_after(at.parse().unwrap()).to_string()
    }

    #[test]
    fn the_next_moment_is_the_first_one_of_its_kind_after_now() {
        let evening = "2026-11-21T20:00:00Z";
        assert_eq!(after("daily 20:00", "2026-11-21T19:59:59Z"), evening);
        assert_eq!(after("daily 20:00", evening), "2026-11-22T20:00:00Z");
        // A Saturday.
        assert_eq!(after("weekly sat 20:00", "2026-11-21T00:00:00Z"), evening);
        assert_eq!(after("weekly Friday 8:05", evening), "2026-11-27T08:05:00Z");
        assert_eq!(after("every 2 hours", evening), "2026-11-21T22:00:00Z");
        assert_eq!(
            after("daily 00:00", "1960-01-01T00:00:00Z"),
            "1960-01-02T00:00:00Z"
        );
    }

    #[test]
    fn what_is_not_a_recurrence_is_refused_with_examples() {
        for text in [
            "",
            "daily",
            "daily 24:00",
            "daily 8:60",
            "weekly 08:00",
            "weekly foo 08:00",
            "every 4 minutes",
            "every 0 days",
            "every 367 days",
            "every -1 hours",
            "daily +8:00",
            "every evening",
        ] {
            let error = text.parse::<Recurrence>().unwrap_err().to_string();
            assert!(error.contains("daily 20:00"), "{text}: {error}");
        }
    }

    proptest! {
        #[test]
        fn a_moment_is_always_later_and_at_most_a_period_later_and_the_text_means_the_same(
            kind in 0..3, number in 0_u32..1_440, day in 0_u8..7, at in -4_000_000_000_000_000_i64..4_000_000_000_000_000,
        ) {
            let (rhythm, period) = match kind {
                0 => (Rhythm::Every(number + 5), i64::from(number + 5) * MINUTE),
                1 => (Rhythm::Daily(number), DAY),
                _ => (Rhythm::Weekly(day, number), 7 * DAY),
            };
            let next = Recurrence(rhythm).first_after(Timestamp::from_micros(at)).as_micros();
            prop_assert!(next > at && next <= at + period);
            let text = Recurrence(rhythm).to_string();
            prop_assert_eq!(text.parse::<Recurrence>().unwrap(), Recurrence(rhythm));
        }
    }
}
