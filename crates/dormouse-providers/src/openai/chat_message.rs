//! Messages and tools in the format of chat completions. They borrow their texts, because a request may be as long as a book.

use dormouse_contracts::{Message, ToolCall, ToolDefinition};
use serde::Serialize;
use serde_json::Value;

/// A message of a conversation.
#[derive(Debug, Serialize)]
#[serde(tag = "role", rename_all = "lowercase")]
pub(super) enum ChatMessage<'a> {
    System {
        content: &'a str,
    },
    User {
        content: &'a str,
    },
    Assistant {
        #[serde(skip_serializing_if = "Option::is_none")]
        content: Option<&'a str>,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<Called<'a>>,
    },
    Tool {
        content: &'a str,
        tool_call_id: &'a str,
    },
}

/// A call of a tool.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "function")]
pub(super) struct Called<'a> {
    id: &'a str,
    function: CalledFunction<'a>,
}

#[derive(Debug, Serialize)]
struct CalledFunction<'a> {
    name: &'a str,
    arguments: &'a str,
}

/// A tool that is offered.
#[derive(Debug, Serialize)]
#[serde(tag = "type", rename = "function")]
pub(super) struct Offered<'a> {
    function: OfferedFunction<'a>,
}

#[derive(Debug, Serialize)]
struct OfferedFunction<'a> {
    name: &'a str,
    description: &'a str,
    parameters: &'a Value,
}

impl<'a> ChatMessage<'a> {
    /// Returns the message; `None` for a kind of message that this version does not know.
    pub(super) fn of(message: &'a Message) -> Option<Self> {
        Some(match message {
            Message::System { content } => Self::System { content },
            Message::User { content } => Self::User { content },
            Message::Assistant {
                content,
                tool_calls,
            } => Self::Assistant {
                // Content may be absent only if there are calls.
                content: (!content.is_empty() || tool_calls.is_empty()).then_some(content),
                tool_calls: tool_calls.iter().map(Called::of).collect(),
            },
            Message::Tool { call_id, content } => Self::Tool {
                content,
                tool_call_id: call_id.as_str(),
            },
            _ => return None,
        })
    }
}

impl<'a> Called<'a> {
    fn of(call: &'a ToolCall) -> Self {
        Self {
            id: call.id.as_str(),
            function: CalledFunction {
                name: &call.name,
                arguments: &call.arguments,
            },
        }
    }
}

impl<'a> Offered<'a> {
    pub(super) fn of(tool: &'a ToolDefinition) -> Self {
        Self {
            function: OfferedFunction {
                name: tool.name.as_str(),
                description: &tool.description,
                parameters: &tool.parameters,
            },
        }
    }
}
