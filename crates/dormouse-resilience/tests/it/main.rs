//! What the guards promise together, through the public interface.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that goes wrong ends in a panic"
)]

mod cost;
mod storm;
