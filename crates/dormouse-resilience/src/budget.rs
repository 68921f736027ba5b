//! A retry budget: however many callers retry, together they add only so much to the load.

mod account;
mod policy;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio::time::Instant;

pub use self::{
    account::{Budget, BudgetSpent},
    policy::{BudgetPolicy, BudgetPolicyError},
};

/// Bounds the retries of everybody who calls one service.
///
/// Each caller's [`RetryPolicy`](crate::RetryPolicy) bounds its own attempts; but when a service goes down, all its
/// callers retry at once, and three attempts each are three times the load just when it can bear the least. A budget
/// grows with the calls that are made, so that retries stay a fraction of them. The rule is that of [`Budget`], the
/// clock is tokio's. A clone is another handle to the same budget: one for each service, shared by all who call it.
///
/// [`retry_within`](crate::retry_within) and [`Guard`](crate::Guard) carry it out.
#[derive(Clone)]
pub struct RetryBudget {
    shared: Arc<Shared>,
}

struct Shared {
    start: Instant,
    budget: Mutex<Budget>,
}

impl RetryBudget {
    /// A full budget.
    #[must_use]
    pub fn new(policy: BudgetPolicy) -> Self {
        Self {
            shared: Arc::new(Shared {
                start: Instant::now(),
                budget: Mutex::new(Budget::new(policy)),
            }),
        }
    }

    /// Takes in that a call is made for the first time.
    pub fn deposit(&self) {
        self.budget().deposit();
    }

    /// Takes one retry out.
    ///
    /// # Errors
    ///
    /// [`BudgetSpent`] if there is none left. Nothing is taken then.
    pub fn withdraw(&self) -> Result<(), BudgetSpent> {
        let now = self.shared.start.elapsed();
        self.budget().withdraw(now)
    }

    /// How many retries could be made now.
    #[must_use]
    pub fn left(&self) -> u32 {
        let now = self.shared.start.elapsed();
        self.budget().left(now)
    }

    fn budget(&self) -> MutexGuard<'_, Budget> {
        let budget = self.shared.budget.lock();
        budget.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Default for RetryBudget {
    fn default() -> Self {
        Self::new(BudgetPolicy::service())
    }
}

impl fmt::Debug for RetryBudget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RetryBudget")
            .field("left", &self.left())
            .finish_non_exhaustive()
    }
}
