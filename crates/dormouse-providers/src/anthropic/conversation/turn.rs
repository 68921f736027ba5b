//! The blocks of a turn.

use std::borrow::Cow;

use dormouse_contracts::{CallId, ToolCall};
use serde_json::{Map, Value, json};

use crate::anthropic::names::ToolNames;

/// The result of a call that has none.
pub(super) const NO_RESULT: &str = "(There is no result.)";

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Role {
    User,
    Assistant,
}

/// What one of them says or does.
#[derive(Clone, Debug)]
pub(super) enum Part<'a> {
    Text(Cow<'a, str>),
    Call {
        call: &'a ToolCall,
        id: String,
    },
    /// A result, of which it is not known yet whether the model waits for it.
    Answer {
        to: &'a CallId,
        content: &'a str,
    },
    Result {
        id: String,
        content: Option<&'a str>,
    },
}

/// A block, with the place of the message that it is from.
#[derive(Clone, Debug)]
pub(super) struct Block<'a> {
    pub(super) from: usize,
    pub(super) part: Part<'a>,
}

#[derive(Clone, Debug)]
pub(super) struct Turn<'a> {
    pub(super) role: Role,
    pub(super) blocks: Vec<Block<'a>>,
}

/// A call that waits for its result.
#[derive(Clone, Debug)]
pub(super) struct Waiting<'a> {
    pub(super) from: usize,
    call: &'a CallId,
    id: String,
}

impl<'a> Turn<'a> {
    pub(super) fn calls(&self) -> impl Iterator<Item = Waiting<'a>> + use<'a, '_> {
        self.blocks.iter().filter_map(|block| match &block.part {
            Part::Call { call, id } => Some(Waiting {
                from: block.from,
                call: &call.id,
                id: id.clone(),
            }),
            _ => None,
        })
    }

    /// Gives each of these calls exactly one result, first in this turn.
    pub(super) fn answer(&mut self, mut waiting: Vec<Waiting<'a>>) {
        for block in &mut self.blocks {
            let Part::Answer { to, content } = block.part else {
                continue;
            };
            let place = waiting.iter().position(|waiting| waiting.call == to);
            block.part = match place.map(|place| waiting.remove(place)) {
                Some(Waiting { id, .. }) => Part::Result {
                    id,
                    content: Some(content),
                },
                None => Part::Text(format!("(The result of a call: {content})").into()),
            };
        }
        self.blocks.extend(waiting.into_iter().map(|waiting| Block {
            from: waiting.from,
            part: Part::Result {
                id: waiting.id,
                content: None,
            },
        }));
        self.blocks
            .sort_by_key(|block| !matches!(block.part, Part::Result { .. }));
    }
}

impl Role {
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Assistant => "assistant",
        }
    }
}

impl Block<'_> {
    pub(super) fn json(&self, names: &ToolNames) -> Value {
        match &self.part {
            Part::Text(content) => text(content),
            Part::Call { call, id } => json!({
                "type": "tool_use", "id": id, "name": names.written(&call.name), "input": input(&call.arguments)
            }),
            // None is left: every answer has been looked at.
            Part::Answer { content, .. } => text(content),
            Part::Result { id, content: None } => json!({
                "type": "tool_result", "tool_use_id": id, "content": NO_RESULT, "is_error": true
            }),
            Part::Result {
                id,
                content: Some(content),
            } => {
                let content = if is_blank(content) {
                    NO_RESULT
                } else {
                    *content
                };
                json!({"type": "tool_result", "tool_use_id": id, "content": content})
            }
        }
    }
}

/// The arguments of a call, which must be an object here. What the model wrote instead is kept as a text in one, so that it sees what
/// it did.
pub(super) fn input(arguments: &str) -> Value {
    if is_blank(arguments) {
        return json!({});
    }
    match serde_json::from_str::<Map<String, Value>>(arguments) {
        Ok(input) => Value::Object(input),
        Err(_) => json!({ "arguments": arguments }),
    }
}

/// A block of text.
pub(super) fn text(content: &str) -> Value {
    json!({"type": "text", "text": content})
}

/// Marks a block: everything up to it is to be kept in the cache.
pub(in crate::anthropic) fn mark(block: &mut Value) {
    if let Value::Object(block) = block {
        block.insert("cache_control".to_owned(), json!({"type": "ephemeral"}));
    }
}

/// Is there no text in it? This API refuses such blocks.
pub(super) fn is_blank(content: &str) -> bool {
    content.trim().is_empty()
}
