//! How many requests and units a service may be sent.

use std::{num::NonZeroU32, time::Duration};

use super::health::Limited;

/// The limits of a service: so many requests a minute, so many units (tokens, for a model), both, or neither.
///
/// Each is a bucket that is full at the beginning, refills evenly, and holds a *burst*. Over any stretch of time no more
/// gets through than the burst plus what refilled in that time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RateLimit {
    requests: Option<Rate>,
    units: Option<Rate>,
    longest_wait: Duration,
}

/// So many a minute, and so many at once.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Rate {
    pub(super) per_minute: NonZeroU32,
    pub(super) burst: NonZeroU32,
}

/// Why numbers make no rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RateLimitError {
    /// At least one a minute must get through, and at most [`RateLimit::MOST_PER_MINUTE`].
    #[error(
        "{per_minute} a minute is no possible limit: between 1 and {} are",
        RateLimit::MOST_PER_MINUTE
    )]
    PerMinute {
        /// What was asked for.
        per_minute: u32,
    },
    /// At least one must get through at once, and a day must fill the bucket.
    #[error(
        "{burst} at once are not possible at {per_minute} a minute: between 1 and what a day fills are"
    )]
    Burst {
        /// What was asked for.
        burst: u32,
        /// At this rate.
        per_minute: u32,
    },
}

impl RateLimit {
    /// The most requests or units a minute that can be counted.
    pub const MOST_PER_MINUTE: u32 = 1_000_000_000;

    /// How long a call waits at most where nothing else is said.
    pub const DEFAULT_LONGEST_WAIT: Duration = Duration::from_secs(60);

    const MINUTES_OF_A_DAY: u64 = 24 * 60;

    /// No limit but those that the service tells.
    #[must_use]
    pub const fn as_told() -> Self {
        Self {
            requests: None,
            units: None,
            longest_wait: Self::DEFAULT_LONGEST_WAIT,
        }
    }

    /// The same limits, but `per_minute` requests, and `burst` of them at once.
    ///
    /// # Errors
    ///
    /// [`RateLimitError`], which names the number that is out of its range.
    pub fn try_with_requests(self, per_minute: u32, burst: u32) -> Result<Self, RateLimitError> {
        let requests = Some(Rate::try_new(per_minute, burst)?);
        Ok(Self { requests, ..self })
    }

    /// The same limits, but `per_minute` units, and `burst` of them at once. No single request may have more units than
    /// `burst`.
    ///
    /// # Errors
    ///
    /// [`RateLimitError`], which names the number that is out of its range.
    pub fn try_with_units(self, per_minute: u32, burst: u32) -> Result<Self, RateLimitError> {
        let units = Some(Rate::try_new(per_minute, burst)?);
        Ok(Self { units, ..self })
    }

    /// The same limits, but no call waits longer than this. Zero for a limit that never lets anybody wait.
    #[must_use]
    pub fn with_longest_wait(self, longest_wait: Duration) -> Self {
        Self {
            longest_wait,
            ..self
        }
    }

    /// No call waits longer than this.
    #[must_use]
    pub fn longest_wait(&self) -> Duration {
        self.longest_wait
    }

    /// Could a request of so many units ever get through?
    pub(super) fn fits_ever(&self, units: u32) -> Result<(), Limited> {
        match self.units.map(|rate| rate.burst.get()) {
            Some(most) if units > most => Err(Limited::TooLarge { units, most }),
            _ => Ok(()),
        }
    }

    pub(super) fn requests(&self) -> Option<Rate> {
        self.requests
    }

    pub(super) fn units(&self) -> Option<Rate> {
        self.units
    }
}

impl Default for RateLimit {
    fn default() -> Self {
        Self::as_told()
    }
}

impl Rate {
    fn try_new(per_minute: u32, burst: u32) -> Result<Self, RateLimitError> {
        let rate =
            NonZeroU32::new(per_minute).filter(|rate| rate.get() <= RateLimit::MOST_PER_MINUTE);
        let rate = rate.ok_or(RateLimitError::PerMinute { per_minute })?;
        let a_day = u64::from(per_minute) * RateLimit::MINUTES_OF_A_DAY;
        let burst = NonZeroU32::new(burst)
            .filter(|burst| u64::from(burst.get()) <= a_day)
            .ok_or(RateLimitError::Burst { burst, per_minute })?;
        Ok(Self {
            per_minute: rate,
            burst,
        })
    }

    /// How long one takes to refill, rounded up, so that rounding never lets more through.
    pub(super) fn interval(self) -> Duration {
        Duration::from_nanos(60_000_000_000_u64.div_ceil(u64::from(self.per_minute.get())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_make_no_limit_are_named() {
        let error = |per_minute, burst| {
            let limit = RateLimit::as_told().try_with_requests(per_minute, burst);
            limit.unwrap_err().to_string()
        };
        assert_eq!(
            error(0, 1),
            "0 a minute is no possible limit: between 1 and 1000000000 are"
        );
        assert!(error(1_000_000_001, 1).starts_with("1000000001 a minute"));
        assert_eq!(
            error(1, 0),
            "0 at once are not possible at 1 a minute: between 1 and what a day fills are"
        );
        assert!(error(1, 1441).starts_with("1441 at once"));
        assert!(RateLimit::as_told().try_with_units(1, 1440).is_ok());
    }
}
