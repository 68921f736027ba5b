//! How often an operation is attempted, and how long the pauses are.

use std::{sync::Arc, time::Duration};

use backoff::{ExponentialBackoff, backoff::Backoff};

/// How often an operation is attempted, and how long to wait between attempts.
///
/// The wait after a failure is a uniform random part of the *step* of that attempt ("full jitter"): `base`, then `base
/// × factor`, and so on, at most `cap`. A longer pause that the other side asks for replaces it; a pause longer than
/// [`RetryPolicy::longest_pause`] ends the attempts. Cloning is cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RetryPolicy {
    /// The step after the first failed attempt, the second, and so on; one fewer than attempts.
    steps: Arc<[Duration]>,
    cap: Duration,
    longest_pause: Duration,
}

/// Why numbers are not a valid retry policy.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RetryPolicyError {
    /// The number of attempts is zero or more than [`RetryPolicy::MOST_ATTEMPTS`].
    #[error(
        "the policy allows {attempts} attempts; expected 1..={}",
        RetryPolicy::MOST_ATTEMPTS
    )]
    RetryState {
        /// The given number.
        attempts: u32,
    },
    /// The factor would shrink the pauses, or is more than 100.
    #[error("the backoff factor is {factor}; expected 1 to 100")]
    Factor {
        /// The given factor.
        factor: f64,
    },
    /// The first pause is longer than the longest one, or the longest one is longer than a day.
    #[error("the pauses are {base:?} up to {cap:?}; expected base <= cap <= 1 day")]
    Range {
        /// The first pause.
        base: Duration,
        /// The longest pause.
        cap: Duration,
    },
}

impl RetryPolicy {
    /// The largest number of attempts.
    pub const MOST_ATTEMPTS: u32 = 100;

    /// The default for the longest pause that the other side may ask for.
    pub const DEFAULT_LONGEST_PAUSE: Duration = Duration::from_secs(120);

    const DAY: Duration = Duration::from_secs(86_400);

    /// A policy of at most `attempts` attempts, including the first, with pauses of up to `base`, `base × factor`,
    /// `base × factor²` and so on, at most `cap`.
    ///
    /// # Errors
    ///
    /// [`RetryPolicyError`] with the number that is out of range.
    pub fn try_new(
        attempts: u32,
        base: Duration,
        factor: f64,
        cap: Duration,
    ) -> Result<Self, RetryPolicyError> {
        if attempts == 0 || attempts > Self::MOST_ATTEMPTS {
            return Err(RetryPolicyError::RetryState { attempts });
        }
        if !(1.0..=100.0).contains(&factor) {
            return Err(RetryPolicyError::Factor { factor });
        }
        if base > cap || cap > Self::DAY {
            return Err(RetryPolicyError::Range { base, cap });
        }
        Ok(Self::from_checked(attempts, base, factor, cap))
    }

    /// For a call of a model: 3 attempts, 1 s × 2, at most 30 s.
    #[must_use]
    pub fn model_call() -> Self {
        Self::from_checked(3, Duration::from_secs(1), 2.0, Duration::from_secs(30))
    }

    /// For a call of a repeatable tool: 4 attempts, 1 s × 2, at most 10 s.
    #[must_use]
    pub fn tool_call() -> Self {
        Self::from_checked(4, Duration::from_secs(1), 2.0, Duration::from_secs(10))
    }

    /// The same policy, with another limit for the pauses that the other side may ask for.
    #[must_use]
    pub fn with_longest_pause(self, longest_pause: Duration) -> Self {
        Self {
            longest_pause,
            ..self
        }
    }

    /// The largest number of attempts, including the first.
    #[must_use]
    pub fn attempts(&self) -> u32 {
        // At most MOST_ATTEMPTS - 1 steps exist.
        u32::try_from(self.steps.len()).unwrap_or(u32::MAX - 1) + 1
    }

    /// The longest pause of this policy itself.
    #[must_use]
    pub fn cap(&self) -> Duration {
        self.cap
    }

    /// The attempts end if the other side asks for a longer pause.
    #[must_use]
    pub fn longest_pause(&self) -> Duration {
        self.longest_pause
    }

    /// The longest wait of this policy after `failed` failed attempts; `None` if no further attempt is allowed.
    pub(crate) fn step(&self, failed: u32) -> Option<Duration> {
        let index = usize::try_from(failed.checked_sub(1)?).ok()?;
        self.steps.get(index).copied()
    }

    fn from_checked(attempts: u32, base: Duration, factor: f64, cap: Duration) -> Self {
        let mut backoff = ExponentialBackoff {
            current_interval: base,
            initial_interval: base,
            // This crate applies the jitter itself, from the randomness passed in.
            randomization_factor: 0.0,
            multiplier: factor,
            max_interval: cap,
            // Without a limit of elapsed time, `backoff` never consults its own clock.
            max_elapsed_time: None,
            ..ExponentialBackoff::default()
        };
        let steps = (1..attempts)
            .map(|_| {
                // Read before the next call, because that rounds to within a nanosecond.
                let step = backoff.current_interval.min(cap);
                let _drawn = backoff.next_backoff();
                step
            })
            .collect();
        Self {
            steps,
            cap,
            longest_pause: Self::DEFAULT_LONGEST_PAUSE,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn steps(policy: &RetryPolicy) -> Vec<u64> {
        policy.steps.iter().map(Duration::as_secs).collect()
    }

    #[test]
    fn steps_double_up_to_the_cap_and_one_attempt_has_none() {
        assert_eq!(steps(&RetryPolicy::model_call()), [1, 2]);
        assert_eq!(steps(&RetryPolicy::tool_call()), [1, 2, 4]);
        let long = RetryPolicy::try_new(7, SECOND, 2.0, 10 * SECOND).unwrap();
        assert_eq!(steps(&long), [1, 2, 4, 8, 10, 10]);
        let once = RetryPolicy::try_new(1, SECOND, 2.0, SECOND).unwrap();
        assert_eq!((steps(&once), once.attempts()), (vec![], 1));
    }

    #[test]
    fn invalid_policy_numbers_are_named() {
        let error = |attempts, base, factor, cap| {
            RetryPolicy::try_new(attempts, base, factor, cap)
                .unwrap_err()
                .to_string()
        };
        assert_eq!(
            error(0, SECOND, 2.0, SECOND),
            "the policy allows 0 attempts; expected 1..=100"
        );
        assert_eq!(
            error(101, SECOND, 2.0, SECOND),
            "the policy allows 101 attempts; expected 1..=100"
        );
        assert_eq!(
            error(2, SECOND, f64::NAN, SECOND),
            "the backoff factor is NaN; expected 1 to 100"
        );
        assert_eq!(
            error(2, 2 * SECOND, 2.0, SECOND),
            "the pauses are 2s up to 1s; expected base <= cap <= 1 day"
        );
        assert!(RetryPolicy::try_new(2, SECOND, 2.0, Duration::MAX).is_err());
    }

    #[test]
    fn the_ends_of_every_range_are_policies() {
        for (base, factor, cap) in [
            (Duration::ZERO, 1.0, Duration::ZERO),
            (Duration::ZERO, 100.0, RetryPolicy::DAY),
            (Duration::from_nanos(1), 100.0, RetryPolicy::DAY),
            (RetryPolicy::DAY, 1.0, RetryPolicy::DAY),
        ] {
            let policy =
                RetryPolicy::try_new(RetryPolicy::MOST_ATTEMPTS, base, factor, cap).unwrap();
            assert!(policy.steps.iter().all(|step| *step <= cap), "{policy:?}");
            assert_eq!(policy.attempts(), RetryPolicy::MOST_ATTEMPTS);
        }
    }
}
