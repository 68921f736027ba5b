//! When a circuit opens, how long it stays open, and what closes it.

use std::time::Duration;

/// The policy of a circuit breaker.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct BreakerPolicy {
    trip_after: u32,
    window: Duration,
    cooldown: Duration,
    longest_cooldown: Duration,
    close_after: u32,
}

/// Why numbers are not a valid breaker policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BreakerPolicyError {
    /// The number of failures that open the circuit is out of range.
    #[error(
        "the circuit opens after {trip_after} failures; expected 1..={}",
        BreakerPolicy::MOST_COUNTED
    )]
    TripAfter {
        /// The given number.
        trip_after: u32,
    },
    /// The number of successes that close the circuit is out of range.
    #[error(
        "the circuit closes after {close_after} successes; expected 1..={}",
        BreakerPolicy::MOST_COUNTED
    )]
    CloseAfter {
        /// The given number.
        close_after: u32,
    },
    /// The window for counting failures is zero or longer than a day.
    #[error("the window is {window:?}; expected more than zero and at most 1 day")]
    Window {
        /// The given window.
        window: Duration,
    },
    /// A cooldown is zero, longer than the longest one, or longer than a day.
    #[error(
        "the cooldowns are {cooldown:?} up to {longest:?}; expected 0 < cooldown <= longest <= 1 day"
    )]
    Cooldown {
        /// The first cooldown.
        cooldown: Duration,
        /// The longest cooldown.
        longest: Duration,
    },
}

impl BreakerPolicy {
    /// The largest number of failures or successes in a policy.
    pub const MOST_COUNTED: u32 = 1000;

    const DAY: Duration = Duration::from_secs(86_400);

    /// For a network service. The circuit opens after 5 failures within 60 s and stays open for 30 s; after each failed
    /// trial for twice as long (minus up to a quarter), at most 5 min. It closes after 2 successful trials in a row.
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

    /// The same policy, but the circuit opens after `trip_after` failures within less than `window`.
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

    /// The same policy, but the circuit stays open for `cooldown`, and twice as long after each failed trial, at most
    /// `longest`.
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

    /// The same policy, but `close_after` successful trials in a row close the circuit.
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

    /// How many successful trials in a row close the circuit.
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
    fn invalid_policy_numbers_are_named() {
        let service = BreakerPolicy::service();
        let message = |result: Result<BreakerPolicy, BreakerPolicyError>| {
            result.map_or_else(|error| error.to_string(), |_| "fine".to_owned())
        };
        assert_eq!(
            message(service.try_with_trip(0, SECOND)),
            "the circuit opens after 0 failures; expected 1..=1000"
        );
        assert_eq!(
            message(service.try_with_trip(1, Duration::ZERO)),
            "the window is 0ns; expected more than zero and at most 1 day"
        );
        assert_eq!(
            message(service.try_with_cooldown(2 * SECOND, SECOND)),
            "the cooldowns are 2s up to 1s; expected 0 < cooldown <= longest <= 1 day"
        );
        assert_eq!(
            message(service.try_with_close_after(1001)),
            "the circuit closes after 1001 successes; expected 1..=1000"
        );
        assert!(service.try_with_cooldown(SECOND, Duration::MAX).is_err());
        assert!(service.try_with_cooldown(Duration::ZERO, SECOND).is_err());
        assert!(service.try_with_trip(1, Duration::MAX).is_err());
        let smallest = service
            .try_with_trip(1, Duration::from_nanos(1))
            .and_then(|policy| policy.try_with_close_after(1));
        assert_eq!(message(smallest), "fine");
    }
}
