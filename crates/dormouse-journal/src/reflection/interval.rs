//! When the interval reflection is due.

use std::time::Duration;

use dormouse_contracts::Timestamp;
use serde::{Deserialize, Serialize};

/// The interval of reflections that are turns of their own: a number of ticks of work, or the time that so many ticks
/// take, whichever is over first. Without any work no reflection is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReflectionInterval {
    /// The number of ticks of work. Default: 120. 0 switches the reflection off.
    pub ticks: u32,
    /// How long one tick takes. Default: 5 seconds.
    pub tick: Duration,
}

impl Default for ReflectionInterval {
    fn default() -> Self {
        Self {
            ticks: 120,
            tick: Duration::from_secs(5),
        }
    }
}

impl ReflectionInterval {
    /// Whether a reflection is due. `worked_ticks` counts from the last one, or from the beginning of the life.
    #[must_use]
    pub fn is_due(&self, worked_ticks: u32, last: Timestamp, now: Timestamp) -> bool {
        let is_time = now.since(last) >= self.tick.saturating_mul(self.ticks);
        self.ticks > 0 && worked_ticks > 0 && (worked_ticks >= self.ticks || is_time)
    }
}
