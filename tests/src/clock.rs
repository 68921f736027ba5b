//! A clock for assistants that live in the test's own process.

use dormouse_contracts::{Clock, Timestamp};
use tokio::time::Instant;

/// 2026-11-21T00:00:00Z.
const START: Timestamp = Timestamp::from_micros(1_795_219_200_000_000);

/// A clock that begins at a fixed moment and goes on with tokio's time.
#[derive(Clone, Copy, Debug)]
pub struct RunningClock(Instant);

impl RunningClock {
    /// A clock that begins now.
    #[must_use]
    pub fn start() -> Self {
        Self(Instant::now())
    }
}

impl Clock for RunningClock {
    fn now(&self) -> Timestamp {
        START.plus(self.0.elapsed())
    }
}
