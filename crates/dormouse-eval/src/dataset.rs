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

use crate::error::EvalError;

/// The conversation with this number, counted from 1.
pub(crate) fn numbered(dataset: &Dataset, asked: usize) -> Result<&Conversation, EvalError> {
    let count = dataset.conversations.len();
    let place = asked.checked_sub(1);
    place
        .and_then(|place| dataset.conversations.get(place))
        .ok_or(EvalError::NoConversation { asked, count })
}
