//! What was learnt about how models call tools, in words.

mod wording;

pub(crate) use dormouse_host::dialects::Dialects;
pub(crate) use wording::{because, learning, showed, way};
