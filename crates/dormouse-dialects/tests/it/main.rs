//! What the crate promises, by its public interface.

mod book;
#[cfg(feature = "corpus")]
mod corpus;
mod hostile;
