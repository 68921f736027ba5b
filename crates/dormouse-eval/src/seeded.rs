//! Randomness from a seed.

use std::sync::atomic::{AtomicU64, Ordering};

use dormouse_contracts::Random;

/// Numbers that follow from a seed (SplitMix64).
#[derive(Debug)]
pub(crate) struct Seeded(AtomicU64);

impl Seeded {
    pub(crate) fn new(seed: u64) -> Self {
        Self(AtomicU64::new(seed))
    }

    fn next(&self) -> u64 {
        const STEP: u64 = 0x9e37_79b9_7f4a_7c15;
        let seed = self.0.fetch_add(STEP, Ordering::Relaxed).wrapping_add(STEP);
        let mixed = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// A random index below `count`; 0 if `count` is 0.
    pub(crate) fn place(&self, count: usize) -> usize {
        let count = u64::try_from(count).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % count).unwrap_or_default()
    }
}

impl Random for Seeded {
    fn unit(&self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_gives_one_sequence_and_another_gives_another() {
        let drawn = |seed| {
            let seeded = Seeded::new(seed);
            (0..20).map(|_| seeded.place(1_000)).collect::<Vec<_>>()
        };
        assert_eq!(drawn(7), drawn(7));
        assert_ne!(drawn(7), drawn(8));
        let seeded = Seeded::new(1);
        assert!((0..100).all(|_| (0.0..1.0).contains(&seeded.unit()) && seeded.place(3) < 3));
        assert_eq!(seeded.place(0), 0);
    }
}
