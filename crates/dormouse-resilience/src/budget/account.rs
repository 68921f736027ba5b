//! The rule of a retry budget, as a state machine without a clock in it.

use std::time::Duration;

use super::policy::BudgetPolicy;

/// There is no retry left in the budget.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the retry budget is spent")]
pub struct BudgetSpent;

/// Decides for each retry whether there is room for it, from the calls and retries before it.
///
/// Over any stretch of time there are never more retries than the budget holds, plus what the calls and the seconds of
/// that stretch earn. It is told the time as the [`Duration`] since any fixed moment; time that goes backwards
/// counts as time that stands still. It reads no clock and computes in whole numbers, so nothing is lost or won by
/// rounding. [`RetryBudget`](crate::RetryBudget) carries it out.
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
    /// In billionths of a billionth of a retry: what a nanosecond earns is a whole number of them.
    balance: u128,
    /// Up to when time has earned.
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

    /// Takes in that a call is made for the first time. When is of no importance: it earns the same before and after
    /// what the time since the last event has earned.
    pub fn deposit(&mut self) {
        self.add(u128::from(self.policy.per_call()) * BILLION);
    }

    /// Takes one retry out.
    ///
    /// # Errors
    ///
    /// [`BudgetSpent`] if there is none left. Nothing is taken then.
    pub fn withdraw(&mut self, now: Duration) -> Result<(), BudgetSpent> {
        self.pass(now);
        self.balance = self.balance.checked_sub(ONE).ok_or(BudgetSpent)?;
        Ok(())
    }

    /// How many retries could be made at `now`.
    #[must_use]
    pub fn left(&self, now: Duration) -> u32 {
        let mut then = self.clone();
        then.pass(now);
        u32::try_from(then.balance / ONE).unwrap_or(u32::MAX)
    }

    /// Adds what the time since the last event has earned.
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
