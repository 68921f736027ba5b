//! What the crate promises, by its public interface.
#![expect(
    clippy::unwrap_used,
    reason = "a test tells what it got wrong by a panic"
)]

mod book;
#[cfg(feature = "corpus")]
mod corpus;
mod hostile;
