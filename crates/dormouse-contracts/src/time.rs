//! Points in time, and the port that reads them.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

/// A point in time: microseconds since 1970-01-01T00:00:00Z. Displays as RFC 3339 in UTC, to the second.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Timestamp(i64);

impl Timestamp {
    /// 1970-01-01T00:00:00Z.
    pub const EPOCH: Self = Self(0);

    /// The point `micros` microseconds after the epoch.
    #[must_use]
    pub const fn from_micros(micros: i64) -> Self {
        Self(micros)
    }

    /// Microseconds since the epoch.
    #[must_use]
    pub const fn as_micros(self) -> i64 {
        self.0
    }

    /// The point `by` later; the furthest one that can be told if that is too far.
    #[must_use]
    pub fn plus(self, by: Duration) -> Self {
        Self(
            self.0
                .saturating_add(i64::try_from(by.as_micros()).unwrap_or(i64::MAX)),
        )
    }

    /// How long after `earlier` this is; zero if it is not after it.
    #[must_use]
    pub fn since(self, earlier: Self) -> Duration {
        Duration::from_micros(u64::try_from(self.0.saturating_sub(earlier.0)).unwrap_or(0))
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

/// The port that reads the time. Every reading that influences an assistant is written into its log.
pub trait Clock: Send + Sync {
    /// The time now.
    fn now(&self) -> Timestamp;
}

/// A function that answers the time is a clock.
impl<F: Fn() -> Timestamp + Send + Sync> Clock for F {
    fn now(&self) -> Timestamp {
        self()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
