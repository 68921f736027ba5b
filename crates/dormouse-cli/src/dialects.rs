//! What was learnt about how models call tools, kept in the data folder.

mod book;
mod file;
mod learning;
#[cfg(test)]
mod tests;
mod wording;

pub(crate) use book::Dialects;
pub(crate) use learning::Learning;
pub(crate) use wording::{because, showed, way};
