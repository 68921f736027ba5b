//! Chance, from the operating system.

use std::{
    hash::{BuildHasher, RandomState},
    sync::atomic::{AtomicU64, Ordering},
};

use dormouse_contracts::Chance;

/// Numbers that differ from start to start: a keyed hash over a counter. It spreads retries, and guards nothing.
#[derive(Debug, Default)]
pub(crate) struct SystemChance {
    /// Keyed by the operating system's randomness.
    key: RandomState,
    drawn: AtomicU64,
}

impl Chance for SystemChance {
    fn unit(&self) -> f64 {
        let hash = self
            .key
            .hash_one(self.drawn.fetch_add(1, Ordering::Relaxed));
        let bits = u32::try_from(hash >> 32).unwrap_or_default();
        f64::from(bits) / (f64::from(u32::MAX) + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn draws_are_spread_over_zero_to_one() {
        let chance = SystemChance::default();
        let draws: Vec<f64> = (0..1_000).map(|_| chance.unit()).collect();
        assert!(draws.iter().all(|draw| (0.0..1.0).contains(draw)));
        let low = draws.iter().filter(|draw| **draw < 0.5).count();
        assert!((300..700).contains(&low), "{low}");
    }
}
