//! The service over real sockets on this machine.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that goes wrong ends in a panic"
)]

mod archive;
mod bad_input;
mod client;
mod description;
mod domains;
mod lives;
mod mcp;
mod mcp_attacks;
mod pages;
mod service;
mod streams;
mod who;
mod world;
