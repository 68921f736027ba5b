//! A clock that moves only when a test moves it.

use std::{
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use dormouse_contracts::{Clock, Timestamp};

/// A [`Clock`] that moves only when a test moves it, or by a fixed step with each reading.
///
/// A clone is another handle to the same clock: a test keeps one and passes the other on.
///
/// ```
/// use std::time::Duration;
/// use dormouse_contracts::{Clock, Timestamp};
/// use dormouse_testing::ManualClock;
///
/// let clock = ManualClock::new(Timestamp::EPOCH);
/// clock.advance(Duration::from_secs(60));
/// assert_eq!(clock.now().to_string(), "1970-01-01T00:01:00Z");
/// assert_eq!(clock.now(), clock.now(), "it does not move by itself");
/// ```
#[derive(Clone, Debug)]
pub struct ManualClock {
    hands: Arc<Mutex<Hands>>,
}

#[derive(Debug)]
struct Hands {
    now: Timestamp,
    step: Duration,
}

impl ManualClock {
    /// A clock that shows `start` until it is moved.
    #[must_use]
    pub fn new(start: Timestamp) -> Self {
        Self {
            hands: Arc::new(Mutex::new(Hands {
                now: start,
                step: Duration::ZERO,
            })),
        }
    }

    /// Advances the clock by `step` after each reading, through any handle. So no two readings are equal, as with a
    /// real clock.
    #[must_use]
    pub fn stepping(self, step: Duration) -> Self {
        self.hands().step = step;
        self
    }

    /// Advances the clock.
    pub fn advance(&self, by: Duration) {
        let mut hands = self.hands();
        hands.now = hands.now.plus(by);
    }

    /// Sets the clock. An earlier time is allowed, because real clocks are set back, too.
    pub fn set(&self, now: Timestamp) {
        self.hands().now = now;
    }

    fn hands(&self) -> MutexGuard<'_, Hands> {
        self.hands.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Clock for ManualClock {
    fn now(&self) -> Timestamp {
        let mut hands = self.hands();
        let now = hands.now;
        hands.now = now.plus(hands.step);
        now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_handle_shows_the_same_time() {
        let clock = ManualClock::new(Timestamp::EPOCH);
        let other = clock.clone();
        clock.advance(Duration::from_micros(7));
        assert_eq!(other.now(), Timestamp::from_micros(7));
        other.set(Timestamp::from_micros(-3));
        assert_eq!(clock.now(), Timestamp::from_micros(-3));
    }

    #[test]
    fn a_stepping_clock_moves_on_after_each_reading() {
        let clock = ManualClock::new(Timestamp::EPOCH).stepping(Duration::from_micros(5));
        let readings = [clock.now(), clock.now(), clock.clone().now()];
        assert_eq!(readings, [0, 5, 10].map(Timestamp::from_micros));
    }
}
