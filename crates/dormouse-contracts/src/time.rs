//! Points in time, and the port that reads them.

use std::{
    fmt,
    str::FromStr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Deserialize, Serialize};

/// A point in time: microseconds since 1970-01-01T00:00:00Z.
///
/// Displays as RFC 3339 in UTC, to the second, and is parsed from RFC 3339 with any offset. Times beyond the year 9999
/// display as whole seconds since 1970 (`253402300800s`), and are not parsed from that.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);

    /// The time `micros` microseconds after the epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The time `by` later, at most the latest representable one.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(by.as_micros()).unwrap_or(i64::MAX)),
        )
    }

    /// How long after `earlier` this is; zero if it is not later.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
    }

    /// RFC 3339 in UTC, with as many decimals as the time needs; `None` if the year is beyond the calendar's range.
    #[must_use]
    pub fn to_rfc3339(self) -> Option<String> {
        let at = jiff::Timestamp::from_microsecond(self.0).ok()?;
        Some(at.to_string())
    }
}

impl From<SystemTime> for Timestamp {
    /// A time before 1970, which only a wrong clock shows, becomes [`Timestamp::EPOCH`], so that a log can record it.
    fn from(time: SystemTime) -> Self {
        Self::EPOCH.plus(time.duration_since(UNIX_EPOCH).unwrap_or_default())
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = self.0.div_euclid(1_000_000);
        match jiff::Timestamp::from_second(seconds) {
            Ok(at) => write!(f, "{at}"),
            Err(_) => write!(f, "{seconds}s"),
        }
    }
}

/// A text that is not a time, or has no zone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a time: write it with date, time and zone, as in 2026-11-21T12:00:00Z")]
pub struct TimestampError;

impl FromStr for Timestamp {
    type Err = TimestampError;

    fn from_str(text: &str) -> Result<Self, TimestampError> {
        let at: jiff::Timestamp = text.parse().map_err(|_not_rfc_3339| TimestampError)?;
        Ok(Self(at.as_microsecond()))
    }
}

/// The port that reads the time. Every reading that influences an assistant is recorded in its log.
pub trait Clock: Send + Sync {
    /// The current time.
    fn now(&self) -> Timestamp;
}

/// A function that returns the time is a clock.
impl<F: Fn() -> Timestamp + Send + Sync> Clock for F {
    fn now(&self) -> Timestamp {
        self()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_time_is_read_with_its_offset_and_to_the_microsecond() {
        for (text, micros) in [
            ("1970-01-01T00:00:00Z", 0),
            ("1970-01-01T01:00:00.5+01:00", 500_000),
            ("2026-11-21T00:00:00.999999Z", 1_795_219_200_999_999),
        ] {
            assert_eq!(text.parse(), Ok(Timestamp(micros)), "{text}");
        }
    }

    #[test]
    fn what_is_not_a_time_or_has_no_zone_is_refused() {
        for text in [
            "",
            "7s",
            "soon",
            "2026-11-21",
            "2026-11-21T12:00:00",
            "2026-02-29T00:00:00Z",
            "2026-13-21T00:00:00Z",
            "2026-00-21T00:00:00Z",
            "2026-1a-21T00:00:00Z",
        ] {
            assert_eq!(text.parse::<Timestamp>(), Err(TimestampError), "{text}");
        }
    }

    proptest! {
        #[test]
        fn a_time_is_always_read_to_the_second_as_it_was_written(seconds in -377_700_000_000_i64..253_400_000_000) {
            let micros = seconds * 1_000_000 + 7;
            let at = Timestamp(micros);
            let second = Timestamp(micros.div_euclid(1_000_000) * 1_000_000);
            prop_assert_eq!(at.to_string().parse(), Ok(second));
        }

        #[test]
        fn rfc_3339_always_keeps_the_microsecond(micros in -300_000_000_000_000_000_i64..300_000_000_000_000_000) {
            let at = Timestamp(micros);
            if let Some(text) = at.to_rfc3339() {
                prop_assert_eq!(text.parse(), Ok(at));
            }
        }
    }

    #[test]
    fn a_timestamp_displays_as_rfc_3339_to_the_second() {
        assert_eq!(
            Timestamp::from_micros(1_795_219_200_999_999).to_string(),
            "2026-11-21T00:00:00Z"
        );
        assert_eq!(Timestamp::EPOCH.to_string(), "1970-01-01T00:00:00Z");
        assert_eq!(
            Timestamp::from_micros(-1).to_string(),
            "1969-12-31T23:59:59Z"
        );
    }

    #[test]
    fn time_never_runs_past_its_ends() {
        assert_eq!(
            Timestamp::from_micros(i64::MAX).plus(Duration::from_secs(1)),
            Timestamp::from_micros(i64::MAX)
        );
        assert_eq!(
            Timestamp::EPOCH.since(Timestamp::from_micros(5)),
            Duration::ZERO
        );
    }
}
