//! Repeatable randomness.

use std::sync::{
    Arc,
    atomic::{AtomicU64, Ordering},
};

use dormouse_contracts::Random;

/// A [`Random`] that draws the same numbers from the same seed, on every machine.
///
/// It is the splitmix64 generator (Steele, Lea and Flood, "Fast splittable pseudorandom number generators", 2014):
/// good enough for tests, and for nothing else. A clone is another handle: both draw from the same sequence.
#[derive(Clone, Debug)]
pub struct SeededRandom {
    state: Arc<AtomicU64>,
}

/// What splitmix64 adds to its state with each draw: 2⁶⁴ divided by the golden ratio, made odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

impl SeededRandom {
    /// A generator with this seed.
    #[must_use]
    pub fn new(seed: u64) -> Self {
        Self {
            state: Arc::new(AtomicU64::new(seed)),
        }
    }

    fn draw(&self) -> u64 {
        let state = self.state.fetch_add(STEP, Ordering::Relaxed);
        let mut z = state.wrapping_add(STEP);
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}

impl Random for SeededRandom {
    fn unit(&self) -> f64 {
        // An f64 represents 53 bits exactly, so the upper 53 bits are divided by 2⁵³.
        (self.draw() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A [`Random`] that always draws the same number, for tests without jitter or with the largest one.
#[derive(Clone, Copy, Debug)]
pub struct FixedRandom(f64);

impl FixedRandom {
    /// Creates one that always draws `unit`.
    ///
    /// # Panics
    ///
    /// If `unit` is not in `0.0..1.0`, the range of every draw.
    #[must_use]
    #[track_caller]
    pub fn new(unit: f64) -> Self {
        assert!(
            (0.0..1.0).contains(&unit),
            "{unit} is never drawn: draws are in 0.0..1.0"
        );
        Self(unit)
    }
}

impl Random for FixedRandom {
    fn unit(&self) -> f64 {
        self.0
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_draws_are_those_of_splitmix64() {
        let random = SeededRandom::new(1_234_567);
        // Other implementations of splitmix64 draw these numbers from this seed.
        let drawn = [random.draw(), random.draw(), random.draw()];
        assert_eq!(
            drawn,
            [
                6_457_827_717_110_365_317,
                3_203_168_211_198_807_973,
                9_817_491_932_198_370_423
            ]
        );
    }

    #[test]
    fn a_thousand_draws_are_spread_evenly() {
        let random = SeededRandom::new(7);
        let mean = (0..1000).map(|_| random.unit()).sum::<f64>() / 1000.0;
        assert!((0.45..0.55).contains(&mean), "{mean}");
    }

    #[test]
    #[should_panic(expected = "1 is never drawn")]
    fn the_value_one_is_never_drawn() {
        FixedRandom::new(1.0).unit();
    }

    proptest! {
        #[test]
        fn every_draw_is_a_unit_and_decided_by_the_seed(seed: u64) {
            let (one, two) = (SeededRandom::new(seed), SeededRandom::new(seed));
            for _ in 0..8 {
                let unit = one.unit();
                prop_assert!((0.0..1.0).contains(&unit));
                prop_assert_eq!(unit, two.unit());
            }
        }
    }
}
