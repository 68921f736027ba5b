//! A fast hash for numbers that outsiders cannot choose.

use std::hash::{BuildHasherDefault, Hasher};

/// For maps keyed by numbers that the index assigns: nobody outside can choose them to collide.
pub(crate) type NumberHash = BuildHasherDefault<NumberHasher>;

/// Mixes the bits of a number (the finaliser of SplitMix64).
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NumberHasher(u64);

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.write_u64(u64::from(*byte));
        }
    }

    fn write_u32(&mut self, number: u32) {
        self.write_u64(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        let mut mixed = self.0.rotate_left(32) ^ number;
        mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        self.0 = mixed ^ mixed >> 31;
    }
}
