//! A hash for numbers that nobody outside chooses.

use std::hash::{BuildHasherDefault, Hasher};

/// Maps by numbers that the owner of the index gives out: no text from outside can make them collide on purpose.
pub(crate) type NumberHash = BuildHasherDefault<NumberHasher>;

/// Mixes the bits of numbers (the finalisation of SplitMix64).
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
