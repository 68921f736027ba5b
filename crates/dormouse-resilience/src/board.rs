//! One query for the state of every guarded service.

mod health;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

pub use self::health::ServiceHealth;
use crate::{CircuitBreaker, Guard, breaker, guard};

/// Knows the guards and breakers of a program, and tells how their services are.
///
/// It keeps none of them alive: one that nobody has any more is not shown. Two of the same name are shown both. A clone
/// is another handle to the same board.
///
/// ```
/// # use dormouse_resilience::{Guard, HealthBoard};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let board = HealthBoard::new();
/// let kettle = Guard::builder("kettle").build();
/// board.watch(&kettle);
/// // kettle: circuit closed for 0s; 0 under way, 0 waiting; 10 retries left
/// println!("{}", board.report()[0]);
/// assert!(board.report()[0].is_well());
/// drop(kettle);
/// assert!(board.report().is_empty());
/// # }
/// ```
#[derive(Clone, Default)]
pub struct HealthBoard {
    watched: Arc<Mutex<Vec<Watched>>>,
}

enum Watched {
    Guard(Weak<guard::Shared>),
    Breaker(Weak<breaker::Shared>),
}

impl HealthBoard {
    /// A board that knows nobody yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Shows this guard from now on, as long as somebody has it.
    pub fn watch(&self, guard: &Guard) {
        self.add(Watched::Guard(Arc::downgrade(&guard.shared)));
    }

    /// Shows this breaker from now on, as long as somebody has it. For one that belongs to no guard.
    pub fn watch_breaker(&self, breaker: &CircuitBreaker) {
        self.add(Watched::Breaker(Arc::downgrade(&breaker.shared)));
    }

    /// How every service is, by name; those of the same name in the order in which they came.
    #[must_use]
    pub fn report(&self) -> Vec<ServiceHealth> {
        let mut report: Vec<_> = self.watched().iter().filter_map(Watched::health).collect();
        report.sort_by(|a, b| a.name().cmp(b.name()));
        report
    }

    fn add(&self, watched: Watched) {
        let mut all = self.watched();
        all.retain(Watched::is_there);
        all.push(watched);
    }

    fn watched(&self) -> MutexGuard<'_, Vec<Watched>> {
        self.watched.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Watched {
    fn is_there(&self) -> bool {
        match self {
            Self::Guard(guard) => guard.strong_count() > 0,
            Self::Breaker(breaker) => breaker.strong_count() > 0,
        }
    }

    fn health(&self) -> Option<ServiceHealth> {
        match self {
            Self::Guard(guard) => Some(guard.upgrade()?.health()),
            Self::Breaker(breaker) => {
                let shared = breaker.upgrade()?;
                Some(ServiceHealth::of_circuit(
                    CircuitBreaker { shared }.health(),
                ))
            }
        }
    }
}

impl fmt::Debug for HealthBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.report()).finish()
    }
}

#[cfg(test)]
mod tests;
