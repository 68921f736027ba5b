//! How many requests and units may be sent to a service.

use std::{num::NonZeroU32, time::Duration};

use super::health::RateLimited;

/// The limits of a service: requests per minute, units per minute (tokens, for a model), both, or neither.
///
/// Each limit is a bucket that starts full, refills evenly, and contains at most a *burst*. Within any period no more
/// is admitted than the burst plus the refill of that period.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct RateLimit {
    requests: Option<BucketRate>,
    units: Option<BucketRate>,
    longest_wait: Duration,
}

/// A rate per minute, and a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BucketRate {
    pub(super) per_minute: NonZeroU32,
    pub(super) burst: NonZeroU32,
}

/// Why numbers are not a valid rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RateLimitError {
    /// The rate is zero or more than [`RateLimit::MOST_PER_MINUTE`].
    #[error(
        "the rate limit is {per_minute} per minute; expected 1..={}",
        RateLimit::MOST_PER_MINUTE
    )]
    PerMinute {
        /// The given rate.
        per_minute: u32,
    },
    /// The burst is zero or takes longer than a day to refill.
    #[error(
        "the burst is {burst} at {per_minute} per minute; expected at least 1 and at most what refills in one day"
    )]
    Burst {
        /// The given burst.
        burst: u32,
        /// The rate.
        per_minute: u32,
    },
}

impl RateLimit {
    /// The largest rate per minute.
    pub const MOST_PER_MINUTE: u32 = 1_000_000_000;

    /// The default for the longest wait.
    pub const DEFAULT_LONGEST_WAIT: Duration = Duration::from_secs(60);

    const MINUTES_OF_A_DAY: u64 = 24 * 60;

    /// Only the limits that the service reports.
    #[must_use]
    pub const fn reported_only() -> Self {
        Self {
            requests: None,
            units: None,
            longest_wait: Self::DEFAULT_LONGEST_WAIT,
        }
    }

    /// The same limits, with `per_minute` requests and a burst of `burst`.
    ///
    /// # Errors
    ///
    /// [`RateLimitError`] with the number that is out of range.
    pub fn try_with_requests(self, per_minute: u32, burst: u32) -> Result<Self, RateLimitError> {
        let requests = Some(BucketRate::try_new(per_minute, burst)?);
        Ok(Self { requests, ..self })
    }

    /// The same limits, with `per_minute` units and a burst of `burst`. A request may not have more units than `burst`.
    ///
    /// # Errors
    ///
    /// [`RateLimitError`] with the number that is out of range.
    pub fn try_with_units(self, per_minute: u32, burst: u32) -> Result<Self, RateLimitError> {
        let units = Some(BucketRate::try_new(per_minute, burst)?);
        Ok(Self { units, ..self })
    }

    /// The same limits, with a different maximum wait. With zero, calls never wait.
    #[must_use]
    pub fn with_longest_wait(self, longest_wait: Duration) -> Self {
        Self {
            longest_wait,
            ..self
        }
    }

    /// The longest time that a call waits.
    #[must_use]
    pub fn longest_wait(&self) -> Duration {
        self.longest_wait
    }

    /// Whether a request of `units` units can ever be admitted.
    pub(super) fn fits_ever(&self, units: u32) -> Result<(), RateLimited> {
        match self.units.map(|rate| rate.burst.get()) {
            Some(most) if units > most => Err(RateLimited::TooLarge { units, most }),
            _ => Ok(()),
        }
    }

    pub(super) fn requests(&self) -> Option<BucketRate> {
        self.requests
    }

    pub(super) fn units(&self) -> Option<BucketRate> {
        self.units
    }
}

impl Default for RateLimit {
    fn default() -> Self {
        Self::reported_only()
    }
}

impl BucketRate {
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

    /// The time in which one unit refills. Rounded up, so that rounding never admits more.
    pub(super) fn interval(self) -> Duration {
        Duration::from_nanos(60_000_000_000_u64.div_ceil(u64::from(self.per_minute.get())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_limit_numbers_are_named() {
        let error = |per_minute, burst| {
            let limit = RateLimit::reported_only().try_with_requests(per_minute, burst);
            limit.unwrap_err().to_string()
        };
        assert_eq!(
            error(0, 1),
            "the rate limit is 0 per minute; expected 1..=1000000000"
        );
        assert!(error(1_000_000_001, 1).starts_with("the rate limit is 1000000001 per minute"));
        assert_eq!(
            error(1, 0),
            "the burst is 0 at 1 per minute; expected at least 1 and at most what refills in one day"
        );
        assert!(error(1, 1441).starts_with("the burst is 1441 at 1 per minute"));
        assert!(RateLimit::reported_only().try_with_units(1, 1440).is_ok());
    }
}
