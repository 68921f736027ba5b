//! The clock and the random numbers of the system. The crates below take both as ports.

use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicU64, Ordering},
    time::SystemTime,
};

use dormouse_contracts::{Clock, Random, Timestamp};

/// The system's clock.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn now(&self) -> Timestamp {
        #[expect(
            clippy::disallowed_methods,
            reason = "the adapter behind the clock port"
        )]
        let now = SystemTime::now();
        now.into()
    }
}

/// Random numbers from a keyed hash over a counter. Use them to spread retries, not for secrets.
#[derive(Debug, Default)]
pub struct SystemRandom {
    /// The key of the hash, from the operating system's random numbers.
    key: RandomState,
    drawn: AtomicU64,
}

impl Random for SystemRandom {
    fn unit(&self) -> f64 {
        let hash = self
            .key
            .hash_one(self.drawn.fetch_add(1, Ordering::Relaxed));
        let [a, b, c, d, ..] = hash.to_be_bytes();
        f64::from(u32::from_be_bytes([a, b, c, d])) / (f64::from(u32::MAX) + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_spread_over_zero_to_one() {
        let random = SystemRandom::default();
        let draws: Vec<f64> = (0..1_000).map(|_| random.unit()).collect();
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        let low = draws.iter().filter(|draw| **draw < 0.5).count();
        assert!((300..700).contains(&low), "{low}");
    }
}
