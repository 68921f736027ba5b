//! The constants of the header.

pub(super) const MAGIC: [u8; 4] = *b"DMRX";
/// Increased with every change of the encoding, and of the terms that a text yields.
pub(super) const VERSION: u32 = 3;
pub(super) const HEAD_BYTES: usize = 20;
