//! The logic of a retry budget, as a state machine without a clock.

use std::time::Duration;

use super::policy::BudgetPolicy;

/// The retry budget is empty.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the retry budget is spent")]
pub struct BudgetSpent;

/// Decides for each retry whether the budget allows it, from earlier calls and retries.
///
/// Within any period there are never more retries than the budget's size plus what the calls and seconds of that period
/// earn. The budget reads no clock: methods take the time as the [`Duration`] since any fixed moment. A time that is
/// earlier than the previous one earns nothing. Integer arithmetic avoids rounding errors.
/// [`RetryBudget`](crate::RetryBudget) adds a clock.
///
/// ```
/// # use std::time::Duration;
/// # use dormouse_resilience::{Budget, BudgetPolicy, BudgetSpent};
/// let now = Duration::ZERO;
/// let mut budget = Budget::new(BudgetPolicy::try_new(0.5, 0.0, 1)?);
/// assert_eq!(budget.withdraw(now), Ok(()));
/// assert_eq!(budget.withdraw(now), Err(BudgetSpent));
/// budget.deposit();
/// budget.deposit();
/// assert_eq!(budget.withdraw(now), Ok(()));
/// # Ok::<(), dormouse_resilience::BudgetPolicyError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Budget {
    policy: BudgetPolicy,
    /// In units of 10⁻¹⁸ retries, so that the credit of one nanosecond is an integer.
    balance: u128,
    /// The time up to which credit has been added.
    at: Duration,
}

const BILLION: u128 = 1_000_000_000;
const ONE: u128 = BILLION * BILLION;

impl Budget {
    /// A full budget.
    #[must_use]
    pub fn new(policy: BudgetPolicy) -> Self {
        Self {
            policy,
            balance: u128::from(policy.most()) * ONE,
            at: Duration::ZERO,
        }
    }

    /// Records a first attempt. No time is needed: the order of this credit and the credit for time does not matter.
    pub fn deposit(&mut self) {
        self.add(u128::from(self.policy.per_call()) * BILLION);
    }

    /// Withdraws one retry.
    ///
    /// # Errors
    ///
    /// [`BudgetSpent`] if less than one retry is left. Nothing is withdrawn then.
    pub fn withdraw(&mut self, now: Duration) -> Result<(), BudgetSpent> {
        self.pass(now);
        self.balance = self.balance.checked_sub(ONE).ok_or(BudgetSpent)?;
        Ok(())
    }

    /// The number of retries left at `now`.
    #[must_use]
    pub fn left(&self, now: Duration) -> u32 {
        let mut then = self.clone();
        then.pass(now);
        u32::try_from(then.balance / ONE).unwrap_or(u32::MAX)
    }

    /// Adds the credit for the time since the last event.
    fn pass(&mut self, now: Duration) {
        let passed = now.saturating_sub(self.at).as_nanos();
        self.at = self.at.max(now);
        self.add(passed.saturating_mul(u128::from(self.policy.per_second())));
    }

    fn add(&mut self, earned: u128) {
        let most = u128::from(self.policy.most()) * ONE;
        self.balance = self.balance.saturating_add(earned).min(most);
    }
}

#[cfg(test)]
mod tests;
