//! The conversations and questions that are evaluated, and the files they come from.

mod conversation;
mod error;
mod evidence;
mod locomo;
mod longmemeval;
mod moment;
mod reading;

pub(crate) use conversation::{Category, Conversation, Dataset, Format, Grain, Question, Turn};
pub(crate) use error::DatasetError;
pub(crate) use reading::read;
