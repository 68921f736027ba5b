//! What was learnt about how models call tools, kept in the data folder.

mod book;
mod file;
mod learning;
#[cfg(test)]
mod tests;

pub use book::Dialects;
pub use file::DialectsError;
pub use learning::{Learning, LearningNotice};
