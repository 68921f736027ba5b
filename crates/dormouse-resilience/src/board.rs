//! The health of every guarded service, in one query.

mod health;

use std::{
    fmt,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak},
};

pub use self::health::ServiceHealth;
use crate::{CircuitBreaker, Guard, breaker, guard};

/// Reports the health of the guards and breakers of a program.
///
/// The board holds weak references: a guard or breaker that was dropped disappears from the report. If several have the
/// same name, all are reported. A clone is another handle to the same board.
///
/// ```
/// # use dormouse_resilience::{Guard, HealthBoard};
/// # #[tokio::main(flavor = "current_thread")] async fn main() {
/// let board = HealthBoard::new();
/// let kettle = Guard::builder("kettle").build();
/// board.watch(&kettle);
/// // kettle: circuit closed for 0s; 0 under way, 0 waiting; 10 retries left
/// println!("{}", board.report()[0]);
/// assert!(board.report()[0].is_healthy());
/// drop(kettle);
/// assert!(board.report().is_empty());
/// # }
/// ```
#[derive(Clone, Default)]
pub struct HealthBoard {
    watched: Arc<Mutex<Vec<Watched>>>,
}

enum Watched {
    Guard(Weak<guard::GuardShared>),
    Breaker(Weak<breaker::BreakerShared>),
}

impl HealthBoard {
    /// An empty board.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Reports this guard until it is dropped.
    pub fn watch(&self, guard: &Guard) {
        self.add(Watched::Guard(Arc::downgrade(&guard.shared)));
    }

    /// Reports this breaker until it is dropped. Use this for a breaker without a guard.
    pub fn watch_breaker(&self, breaker: &CircuitBreaker) {
        self.add(Watched::Breaker(Arc::downgrade(&breaker.shared)));
    }

    /// The health of every service, sorted by name; equal names in the order of registration.
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
