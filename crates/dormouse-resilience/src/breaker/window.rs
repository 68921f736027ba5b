//! The failures within the sliding window.

use std::{collections::VecDeque, time::Duration};

/// The times of the failures within the window, oldest first. It holds at most as many failures as open the circuit.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(super) struct Window(VecDeque<Duration>);

impl Window {
    /// Adds a failure at `now`. Returns whether it is the `limit`th within less than `window`.
    pub(super) fn is_full_with(&mut self, now: Duration, window: Duration, limit: u32) -> bool {
        self.0.retain(|at| now.saturating_sub(*at) < window);
        self.0.push_back(now);
        u32::try_from(self.0.len()).unwrap_or(u32::MAX) >= limit
    }

    /// The number of failures that count at `now`.
    pub(super) fn count(&self, now: Duration, window: Duration) -> u32 {
        let counting = self.0.iter().filter(|at| now.saturating_sub(**at) < window);
        u32::try_from(counting.count()).unwrap_or(u32::MAX)
    }
}
