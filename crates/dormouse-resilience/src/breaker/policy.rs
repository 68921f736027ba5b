//! When a circuit opens, how long it stays open, and what closes it.

use std::time::Duration;

/// The numbers of a circuit breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BreakerPolicy {
    trip_after: u32,
    window: Duration,
    cooldown: Duration,
    longest_cooldown: Duration,
    close_after: u32,
}

/// Why numbers make no breaker policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BreakerPolicyError {
    /// So many failures open no circuit.
    #[error(
        "a circuit cannot open after {trip_after} failures: between 1 and {} can be counted",
        BreakerPolicy::MOST_COUNTED
    )]
    TripAfter {
        /// What was asked for.
        trip_after: u32,
    },
    /// So many successes close no circuit.
    #[error(
        "a circuit cannot close after {close_after} successes: between 1 and {} can be counted",
        BreakerPolicy::MOST_COUNTED
    )]
    CloseAfter {
        /// What was asked for.
        close_after: u32,
    },
    /// Failures are counted over some time, at most a day.
    #[error("failures cannot be counted over {window:?}: more than nothing and at most 1 day")]
    Window {
        /// What was asked for.
        window: Duration,
    },
    /// The first cooldown is nothing, or longer than the longest one, or that is longer than a day.
    #[error(
        "cooldowns from {cooldown:?} up to {longest:?} are not possible: 0 < cooldown <= longest <= 1 day must hold"
    )]
    Cooldown {
        /// The first cooldown.
        cooldown: Duration,
        /// The longest one.
        longest: Duration,
    },
}

impl BreakerPolicy {
    /// The most failures or successes that a policy may ask for.
    pub const MOST_COUNTED: u32 = 1000;

    const DAY: Duration = Duration::from_secs(86_400);

    /// For a service at the other end of a network: opens at 5 failures within 60 s, stays open for 30 s, twice as long
    /// each time the trial fails but never more than 5 min, and closes after 2 trials in a row that went well.
    #[must_use]
    pub const fn service() -> Self {
        Self {
            trip_after: 5,
            window: Duration::from_secs(60),
            cooldown: Duration::from_secs(30),
            longest_cooldown: Duration::from_secs(300),
            close_after: 2,
        }
    }

    /// The same policy, but a circuit opens at `trip_after` failures within less than `window`.
    ///
    /// # Errors
    ///
    /// [`BreakerPolicyError::TripAfter`] and [`BreakerPolicyError::Window`] for numbers out of their range.
    pub fn try_with_trip(
        self,
        trip_after: u32,
        window: Duration,
    ) -> Result<Self, BreakerPolicyError> {
        if trip_after == 0 || trip_after > Self::MOST_COUNTED {
            return Err(BreakerPolicyError::TripAfter { trip_after });
        }
        if window.is_zero() || window > Self::DAY {
            return Err(BreakerPolicyError::Window { window });
        }
        Ok(Self {
            trip_after,
            window,
            ..self
        })
    }

    /// The same policy, but a circuit stays open for `cooldown`, and twice as long after each trial that failed, but
    /// never longer than `longest`.
    ///
    /// # Errors
    ///
    /// [`BreakerPolicyError::Cooldown`] unless `0 < cooldown <= longest <= 1 day`.
    pub fn try_with_cooldown(
        self,
        cooldown: Duration,
        longest: Duration,
    ) -> Result<Self, BreakerPolicyError> {
        if cooldown.is_zero() || cooldown > longest || longest > Self::DAY {
            return Err(BreakerPolicyError::Cooldown { cooldown, longest });
        }
        Ok(Self {
            cooldown,
            longest_cooldown: longest,
            ..self
        })
    }

    /// The same policy, but it takes `close_after` trials in a row that went well to close a circuit.
    ///
    /// # Errors
    ///
    /// [`BreakerPolicyError::CloseAfter`] for a number out of its range.
    pub fn try_with_close_after(self, close_after: u32) -> Result<Self, BreakerPolicyError> {
        if close_after == 0 || close_after > Self::MOST_COUNTED {
            return Err(BreakerPolicyError::CloseAfter { close_after });
        }
        Ok(Self {
            close_after,
            ..self
        })
    }

    /// How many failures within [`BreakerPolicy::window`] open the circuit.
    #[must_use]
    pub fn trip_after(&self) -> u32 {
        self.trip_after
    }

    /// How long a failure counts.
    #[must_use]
    pub fn window(&self) -> Duration {
        self.window
    }

    /// How long the circuit stays open the first time.
    #[must_use]
    pub fn cooldown(&self) -> Duration {
        self.cooldown
    }

    /// The longest time the circuit stays open because of failures.
    #[must_use]
    pub fn longest_cooldown(&self) -> Duration {
        self.longest_cooldown
    }

    /// How many trials in a row that went well close the circuit.
    #[must_use]
    pub fn close_after(&self) -> u32 {
        self.close_after
    }
}

impl Default for BreakerPolicy {
    fn default() -> Self {
        Self::service()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn numbers_that_make_no_policy_are_named() {
        let service = BreakerPolicy::service();
        let told = |result: Result<BreakerPolicy, BreakerPolicyError>| {
            result.map_or_else(|error| error.to_string(), |_| "fine".to_owned())
        };
        assert_eq!(
            told(service.try_with_trip(0, SECOND)),
            "a circuit cannot open after 0 failures: between 1 and 1000 can be counted"
        );
        assert_eq!(
            told(service.try_with_trip(1, Duration::ZERO)),
            "failures cannot be counted over 0ns: more than nothing and at most 1 day"
        );
        assert_eq!(
            told(service.try_with_cooldown(2 * SECOND, SECOND)),
            "cooldowns from 2s up to 1s are not possible: 0 < cooldown <= longest <= 1 day must hold"
        );
        assert_eq!(
            told(service.try_with_close_after(1001)),
            "a circuit cannot close after 1001 successes: between 1 and 1000 can be counted"
        );
        assert!(service.try_with_cooldown(SECOND, Duration::MAX).is_err());
        assert!(service.try_with_cooldown(Duration::ZERO, SECOND).is_err());
        assert!(service.try_with_trip(1, Duration::MAX).is_err());
        let smallest = service
            .try_with_trip(1, Duration::from_nanos(1))
            .and_then(|policy| policy.try_with_close_after(1));
        assert_eq!(told(smallest), "fine");
    }
}
