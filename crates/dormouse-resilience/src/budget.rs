//! A retry budget bounds the extra load from the retries of all callers together.

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

/// Bounds the retries of all callers of one service.
///
/// Each caller's [`RetryPolicy`](crate::RetryPolicy) bounds its own attempts. But when a service goes down, all its
/// callers retry at once. With three attempts per call, the load triples when the service can handle the least. A
/// budget grows with the number of calls, so retries stay a fraction of them. [`Budget`] contains the logic; this type
/// adds tokio's clock. A clone is another handle to the same budget: use one per service, shared by all callers.
///
/// [`retry_within`](crate::retry_within) and [`Guard`](crate::Guard) use it.
#[derive(Clone)]
pub struct RetryBudget {
    shared: Arc<BudgetShared>,
}

struct BudgetShared {
    start: Instant,
    budget: Mutex<Budget>,
}

impl RetryBudget {
    /// A full budget.
    #[must_use]
    pub fn new(policy: BudgetPolicy) -> Self {
        Self {
            shared: Arc::new(BudgetShared {
                start: Instant::now(),
                budget: Mutex::new(Budget::new(policy)),
            }),
        }
    }

    /// Records a first attempt, which earns a part of a retry.
    pub fn deposit(&self) {
        self.budget().deposit();
    }

    /// Withdraws one retry.
    ///
    /// # Errors
    ///
    /// [`BudgetSpent`] if less than one retry is left. Nothing is withdrawn then.
    pub fn withdraw(&self) -> Result<(), BudgetSpent> {
        let now = self.shared.start.elapsed();
        self.budget().withdraw(now)
    }

    /// The number of retries left.
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
