//! What the crate promises, by its public interface.

mod book;
mod corpus;
mod hostile;
