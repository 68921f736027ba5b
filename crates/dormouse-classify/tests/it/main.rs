//! The promises of the crate, through its public API.
#![expect(clippy::unwrap_used, reason = "what the tests are made of is valid")]

mod cases;
mod claims;
mod no_heap;
mod trust;
mod truth_table;
