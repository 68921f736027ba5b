//! The promises of the crate, through its public API.
#![expect(
    clippy::indexing_slicing,
    reason = "what the tests are made of is there"
)]

mod bad_input;
mod candidates;
mod order;
mod ranking;
mod text;
