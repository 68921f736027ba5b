//! How long calls take, one by one.

use std::time::Duration;

use crate::clock::now;

/// How long each of several calls took.
#[derive(Default)]
pub(crate) struct Times(Vec<Duration>);

impl Times {
    pub(crate) fn time<T>(&mut self, call: impl FnOnce() -> T) -> T {
        let begun = now();
        let answer = call();
        self.0.push(now().duration_since(begun));
        answer
    }

    pub(crate) fn push(&mut self, took: Duration) {
        self.0.push(took);
    }

    /// What half of the calls take at most.
    pub(crate) fn middle(&self) -> Duration {
        let mut times = self.0.clone();
        times.sort();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }

    /// Prints the middle, and what one in twenty and one in a hundred takes at least.
    pub(crate) fn tell(mut self, what: &str) {
        self.0.sort();
        let at = |share: f64| {
            let last = self.0.len().saturating_sub(1);
            let place = (self.0.len() as f64 * share) as usize;
            self.0.get(place.min(last)).copied().unwrap_or_default()
        };
        println!(
            "  {what:<52} p50 {:>9.1?}  p95 {:>9.1?}  p99 {:>9.1?}  ({} calls)",
            at(0.5),
            at(0.95),
            at(0.99),
            self.0.len()
        );
    }
}
