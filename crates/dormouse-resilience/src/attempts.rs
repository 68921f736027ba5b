//! The logic of retries, as a state machine without a clock.

use std::time::Duration;

use crate::RetryPolicy;

/// The caller's verdict on a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryVerdict {
    /// The next attempt may succeed.
    Retry,
    /// The next attempt may succeed, but the other side asked for this pause first. The longer of this pause and the
    /// policy's wait applies.
    RetryAfter(Duration),
    /// No further attempt can succeed.
    GiveUp,
}

/// What to do after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RetryDecision {
    /// Wait this long, then try again.
    Wait(Duration),
    /// Make no further attempt.
    Stop(RetryStopReason),
}

/// Why there is no further attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RetryStopReason {
    /// The policy's attempts are used up.
    NoAttemptsLeft,
    /// The verdict was [`RetryVerdict::GiveUp`].
    GivenUp,
    /// The other side asked for a pause longer than [`RetryPolicy::longest_pause`].
    PauseTooLong(Duration),
    /// The [`RetryBudget`](crate::RetryBudget) that all callers share is empty.
    BudgetSpent,
}

/// The attempts made so far under one policy.
///
/// Call [`RetryState::failed`] after each failed attempt; it returns what to do. Once it has returned
/// [`RetryDecision::Stop`], it returns nothing else. It reads no clock and draws no random numbers.
#[derive(Clone, Debug)]
pub struct RetryState {
    policy: RetryPolicy,
    made: u32,
    stopped: Option<RetryStopReason>,
}

impl RetryState {
    /// The state before the first attempt.
    #[must_use]
    pub fn new(policy: RetryPolicy) -> Self {
        Self {
            policy,
            made: 0,
            stopped: None,
        }
    }

    /// How many attempts have failed.
    #[must_use]
    pub fn made(&self) -> u32 {
        self.made
    }

    /// The policy of the attempts.
    pub(crate) fn policy(&self) -> &RetryPolicy {
        &self.policy
    }

    /// Counts a failed attempt and returns what to do. `unit` is a random number in `0.0..1.0` that scales the wait;
    /// numbers outside are clamped to that range, and NaN counts as 1.
    pub fn failed(&mut self, verdict: RetryVerdict, unit: f64) -> RetryDecision {
        if let Some(reason) = self.stopped {
            return RetryDecision::Stop(reason);
        }
        self.made = self.made.saturating_add(1);
        match self.wait(verdict, unit) {
            Ok(wait) => RetryDecision::Wait(wait),
            Err(reason) => {
                self.stopped = Some(reason);
                RetryDecision::Stop(reason)
            }
        }
    }

    fn wait(&self, verdict: RetryVerdict, unit: f64) -> Result<Duration, RetryStopReason> {
        if verdict == RetryVerdict::GiveUp {
            return Err(RetryStopReason::GivenUp);
        }
        let step = self
            .policy
            .step(self.made)
            .ok_or(RetryStopReason::NoAttemptsLeft)?;
        match verdict {
            RetryVerdict::RetryAfter(pause) if pause > self.policy.longest_pause() => {
                Err(RetryStopReason::PauseTooLong(pause))
            }
            // A pause of zero must not remove the backoff.
            RetryVerdict::RetryAfter(pause) => Ok(pause.max(part_of(step, unit))),
            RetryVerdict::Retry | RetryVerdict::GiveUp => Ok(part_of(step, unit)),
        }
    }
}

/// `whole` times `unit`, never more than `whole`.
fn part_of(whole: Duration, unit: f64) -> Duration {
    if (0.0..1.0).contains(&unit) {
        whole.mul_f64(unit).min(whole)
    } else if unit < 0.0 {
        Duration::ZERO
    } else {
        whole
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn the_pause_is_a_jittered_part_of_the_step() {
        let mut attempts = RetryState::new(RetryPolicy::model_call());
        assert_eq!(
            attempts.failed(RetryVerdict::Retry, 0.5),
            RetryDecision::Wait(SECOND / 2)
        );
        assert_eq!(
            attempts.failed(RetryVerdict::Retry, 0.25),
            RetryDecision::Wait(SECOND / 2)
        );
        assert_eq!(
            attempts.failed(RetryVerdict::Retry, 0.0),
            RetryDecision::Stop(RetryStopReason::NoAttemptsLeft)
        );
        assert_eq!(attempts.made(), 3);
    }

    #[test]
    fn a_requested_pause_is_used_and_one_that_is_too_long_ends_the_retries() {
        let policy = RetryPolicy::model_call().with_longest_pause(60 * SECOND);
        let mut attempts = RetryState::new(policy);
        assert_eq!(
            attempts.failed(RetryVerdict::RetryAfter(60 * SECOND), 0.0),
            RetryDecision::Wait(60 * SECOND)
        );
        assert_eq!(
            attempts.failed(RetryVerdict::RetryAfter(61 * SECOND), 0.0),
            RetryDecision::Stop(RetryStopReason::PauseTooLong(61 * SECOND))
        );
    }

    fn verdicts() -> impl Strategy<Value = RetryVerdict> {
        prop_oneof![
            4 => Just(RetryVerdict::Retry),
            4 => (0u64..400_000).prop_map(|ms| RetryVerdict::RetryAfter(Duration::from_millis(ms))),
            1 => Just(RetryVerdict::GiveUp),
        ]
    }

    fn policies() -> impl Strategy<Value = RetryPolicy> {
        (1u32..12, 0u64..5_000, 1.0f64..10.0, 0u64..60_000, 0u64..300).prop_map(
            |(attempts, base, factor, more, pause)| {
                let base = Duration::from_millis(base);
                let cap = base + Duration::from_millis(more);
                RetryPolicy::try_new(attempts, base, factor, cap)
                    .unwrap()
                    .with_longest_pause(Duration::from_secs(pause))
            },
        )
    }

    fn units() -> impl Strategy<Value = f64> {
        prop_oneof![8 => 0.0f64..1.0, 1 => any::<f64>(), 1 => Just(f64::NAN)]
    }

    proptest! {
        #[test]
        fn every_pause_is_within_its_bounds_and_attempts_never_exceed_the_policy(
            policy in policies(),
            failures in prop::collection::vec((verdicts(), units()), 1..40),
        ) {
            let mut attempts = RetryState::new(policy.clone());
            let mut stopped = None;
            for (verdict, unit) in failures {
                let decision = attempts.failed(verdict, unit);
                if let Some(reason) = stopped {
                    prop_assert_eq!(decision, RetryDecision::Stop(reason), "a stop is final");
                    continue;
                }
                match (decision, verdict) {
                    (RetryDecision::Wait(wait), RetryVerdict::Retry) => prop_assert!(wait <= policy.cap()),
                    (RetryDecision::Wait(wait), RetryVerdict::RetryAfter(pause)) => {
                        prop_assert!(wait >= pause, "sooner than asked for");
                        prop_assert!(wait <= pause.max(policy.cap()), "later than either asks for");
                        prop_assert!(pause <= policy.longest_pause(), "too long a pause was kept");
                    }
                    (RetryDecision::Wait(_), RetryVerdict::GiveUp) => prop_assert!(false, "gave up, yet waits"),
                    (RetryDecision::Stop(reason), _) => stopped = Some(reason),
                }
            }
            prop_assert!(attempts.made() <= policy.attempts());
            if stopped == Some(RetryStopReason::NoAttemptsLeft) {
                prop_assert_eq!(attempts.made(), policy.attempts());
            }
        }
    }
}
