//! The rule of a retry, as a state machine without time in it.

use std::time::Duration;

use crate::{Refusal, RetryPolicy};

/// What a caller makes of a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It may go better next time.
    Retry,
    /// It may go better next time, but the other side wants to be left alone for this long first. Where the wait by the
    /// policy is longer, that one holds.
    RetryAfter(Duration),
    /// It will not go better next time.
    GiveUp,
}

/// What to do after a failed attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// Wait this long, then try again.
    Wait(Duration),
    /// Try no more.
    Stop(StopReason),
}

/// Why there is no further attempt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum StopReason {
    /// As many attempts were made as the policy allows.
    NoAttemptsLeft,
    /// The failure is one that trying again does not help.
    GivenUp,
    /// The other side asked for a longer pause than [`RetryPolicy::longest_pause`].
    PauseTooLong(Duration),
    /// The [`RetryBudget`](crate::RetryBudget) that all callers share is spent.
    BudgetSpent,
    /// The pause before the next attempt would outlast the overall deadline of the [`Guard`](crate::Guard).
    NoTimeLeft,
    /// The [`Guard`](crate::Guard) did not let another attempt through.
    NotAdmitted(Refusal),
}

/// The attempts made under one policy so far.
///
/// Tell it of each failed attempt and it tells what to do. Once it has said [`Decision::Stop`] it says nothing
/// else. It reads no clock and draws no number.
#[derive(Clone, Debug)]
pub struct Attempts {
    policy: RetryPolicy,
    made: u32,
    stopped: Option<StopReason>,
}

impl Attempts {
    /// No attempt made yet.
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

    /// The policy they are made under.
    pub(crate) fn policy(&self) -> &RetryPolicy {
        &self.policy
    }

    /// Counts an attempt that failed with this verdict and tells what to do. `unit` is a random number from
    /// `0.0..1.0`, from which the wait is taken; numbers outside, and what is no number, count as the nearest
    /// end (no number as 1).
    pub fn failed(&mut self, verdict: Verdict, unit: f64) -> Decision {
        if let Some(reason) = self.stopped {
            return Decision::Stop(reason);
        }
        self.made = self.made.saturating_add(1);
        match self.wait(verdict, unit) {
            Ok(wait) => Decision::Wait(wait),
            Err(reason) => {
                self.stopped = Some(reason);
                Decision::Stop(reason)
            }
        }
    }

    fn wait(&self, verdict: Verdict, unit: f64) -> Result<Duration, StopReason> {
        if verdict == Verdict::GiveUp {
            return Err(StopReason::GivenUp);
        }
        let step = self
            .policy
            .step(self.made)
            .ok_or(StopReason::NoAttemptsLeft)?;
        match verdict {
            Verdict::RetryAfter(pause) if pause > self.policy.longest_pause() => {
                Err(StopReason::PauseTooLong(pause))
            }
            // "Come back at once" is no leave to come without any pause.
            Verdict::RetryAfter(pause) => Ok(pause.max(part_of(step, unit))),
            Verdict::Retry | Verdict::GiveUp => Ok(part_of(step, unit)),
        }
    }
}

/// That part of `whole`; never more than all of it.
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
    fn the_wait_is_a_part_of_the_step() {
        let mut attempts = Attempts::new(RetryPolicy::model_call());
        assert_eq!(
            attempts.failed(Verdict::Retry, 0.5),
            Decision::Wait(SECOND / 2)
        );
        assert_eq!(
            attempts.failed(Verdict::Retry, 0.25),
            Decision::Wait(SECOND / 2)
        );
        assert_eq!(
            attempts.failed(Verdict::Retry, 0.0),
            Decision::Stop(StopReason::NoAttemptsLeft)
        );
        assert_eq!(attempts.made(), 3);
    }

    #[test]
    fn a_pause_the_other_side_asks_for_wins_and_one_too_long_ends_it() {
        let policy = RetryPolicy::model_call().with_longest_pause(60 * SECOND);
        let mut attempts = Attempts::new(policy);
        assert_eq!(
            attempts.failed(Verdict::RetryAfter(60 * SECOND), 0.0),
            Decision::Wait(60 * SECOND)
        );
        assert_eq!(
            attempts.failed(Verdict::RetryAfter(61 * SECOND), 0.0),
            Decision::Stop(StopReason::PauseTooLong(61 * SECOND))
        );
    }

    fn verdicts() -> impl Strategy<Value = Verdict> {
        prop_oneof![
            4 => Just(Verdict::Retry),
            4 => (0u64..400_000).prop_map(|ms| Verdict::RetryAfter(Duration::from_millis(ms))),
            1 => Just(Verdict::GiveUp),
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
        fn every_wait_is_within_its_bounds_and_attempts_never_exceed_the_policy(
            policy in policies(),
            failures in prop::collection::vec((verdicts(), units()), 1..40),
        ) {
            let mut attempts = Attempts::new(policy.clone());
            let mut stopped = None;
            for (verdict, unit) in failures {
                let decision = attempts.failed(verdict, unit);
                if let Some(reason) = stopped {
                    prop_assert_eq!(decision, Decision::Stop(reason), "a stop is final");
                    continue;
                }
                match (decision, verdict) {
                    (Decision::Wait(wait), Verdict::Retry) => prop_assert!(wait <= policy.cap()),
                    (Decision::Wait(wait), Verdict::RetryAfter(pause)) => {
                        prop_assert!(wait >= pause, "sooner than asked for");
                        prop_assert!(wait <= policy.longest_pause());
                    }
                    (Decision::Wait(_), Verdict::GiveUp) => prop_assert!(false, "gave up, yet waits"),
                    (Decision::Stop(reason), _) => stopped = Some(reason),
                }
            }
            prop_assert!(attempts.made() <= policy.attempts());
            if stopped == Some(StopReason::NoAttemptsLeft) {
                prop_assert_eq!(attempts.made(), policy.attempts());
            }
        }
    }
}
