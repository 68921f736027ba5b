//! The parts that all requests of a journal to a model share.

use dormouse_contracts::{ChatRequest, Message, Purpose, Task, TaskLine};
use dormouse_text::{beginning_bytes, escape_template_tokens, one_line};

use crate::entry::JournalEntry;

/// How many bytes of one entry are shown to a model.
const SHOWN: usize = 4_000;

/// The form in which a text is shown to a model: one line, cut, without tokens of chat templates.
pub(crate) fn shown(text: &str) -> String {
    let line = one_line(beginning_bytes(text, SHOWN));
    escape_template_tokens(&line).into_owned()
}

/// An entry as structured data.
pub(crate) fn line(entry: &JournalEntry) -> TaskLine {
    TaskLine {
        id: entry.id.to_string(),
        speaker: entry.source_entity.name().map(shown),
        text: shown(&entry.content),
        at: entry.timestamp,
        trust: entry.source_trust,
    }
}

pub(crate) fn messages(task: &str, material: &str) -> Vec<Message> {
    vec![
        Message::System {
            content: task.to_owned(),
        },
        Message::User {
            content: material.to_owned(),
        },
    ]
}

/// A request outside of a turn: one reply, at temperature 0.
pub(crate) fn request_for(
    purpose: Purpose,
    messages: Vec<Message>,
    task: Option<Task>,
    reply_tokens: u32,
) -> ChatRequest {
    ChatRequest {
        messages,
        temperature: Some(0.0),
        max_tokens: Some(reply_tokens),
        purpose,
        task: task.map(Box::new),
        ..ChatRequest::default()
    }
}
