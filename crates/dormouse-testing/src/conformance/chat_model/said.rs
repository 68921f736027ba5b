//! What the suite lets a backend send, and what the model must return.

use dormouse_contracts::{CallId, ChatDelta, ChatReply, FinishReason, ToolCall, Usage};
use serde_json::Value;

pub(super) fn text(text: &str) -> ChatDelta {
    ChatDelta::Text(text.to_owned())
}

pub(super) fn thought(text: &str) -> ChatDelta {
    ChatDelta::Reasoning(text.to_owned())
}

pub(super) fn start(index: usize, name: &str) -> ChatDelta {
    ChatDelta::CallStart {
        index,
        id: CallId::try_new(format!("call_of_the_suite_{index}")).unwrap(),
        name: name.to_owned(),
    }
}

pub(super) fn more(index: usize, fragment: &str) -> ChatDelta {
    ChatDelta::CallArguments {
        index,
        fragment: fragment.to_owned(),
    }
}

pub(super) fn finished(reason: FinishReason) -> [ChatDelta; 2] {
    let usage = Usage {
        prompt_tokens: 1_234,
        completion_tokens: 56,
        ..Usage::default()
    };
    [ChatDelta::Finished(reason), ChatDelta::Usage(usage)]
}

/// Returns a whole reply: the pieces, then its end.
pub(super) fn reply(pieces: &[ChatDelta], reason: FinishReason) -> Vec<ChatDelta> {
    pieces.iter().cloned().chain(finished(reason)).collect()
}

/// Builds the reply that consists of the pieces, without its metadata.
pub(super) fn amount(pieces: &[ChatDelta]) -> ChatReply {
    let mut reply = ChatReply::default();
    let mut places = Vec::new();
    for piece in pieces {
        match piece {
            ChatDelta::Text(text) => reply.content += text,
            ChatDelta::Reasoning(text) => reply.reasoning += text,
            ChatDelta::CallStart { index, id, name } => {
                places.push(*index);
                reply.tool_calls.push(ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: String::new(),
                });
            }
            ChatDelta::CallArguments { index, fragment } => {
                let place = places.iter().position(|place| place == index).unwrap();
                let call = reply.tool_calls.get_mut(place).unwrap();
                call.arguments += fragment;
            }
            ChatDelta::Finished(reason) => reply.finish = reason.clone(),
            ChatDelta::Usage(usage) => reply.usage = Some(*usage),
            _ => {}
        }
    }
    reply
}

/// Names and arguments of calls. The arguments are compared as JSON, because vendors space them differently.
pub(super) fn calls(reply: &ChatReply) -> Vec<(String, Value)> {
    let call = |call: &ToolCall| {
        let arguments = serde_json::from_str(&call.arguments);
        let arguments = arguments.unwrap_or_else(|_| Value::String(call.arguments.clone()));
        (call.name.clone(), arguments)
    };
    reply.tool_calls.iter().map(call).collect()
}
