//! Reading tool calls out of a model's reply.

use dormouse_contracts::{ChatReply, SourceKind};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{config::ToolCalling, state::Pending};

/// How many calls of one reply are looked at.
const CALLS_LIMIT: usize = 8;

/// A call as it stood in a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawCall {
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// What a reply holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Calls, in order.
    Calls(Vec<RawCall>),
    /// Nothing that can be acted on; the note tells the model why.
    Unreadable(&'static str),
}

const EMPTY: &str =
    "Your last reply was empty. Call one of the tools; call noop if there is nothing to do.";
const NO_OBJECT: &str = "Your last reply held no tool call. Reply with nothing but one JSON object of the form \
                         {\"tool\": \"…\", \"parameters\": {…}, \"reasoning\": \"…\"}.";

/// Reads the calls of a reply. `is_tool` tells whether there is a tool of that name.
///
/// Native calls come first. Where there are none, a JSON object in the text that names a tool is a call: models
/// without tool calling are asked for it, and others print their calls as text now and then. Plain text of a model
/// with native tool calling is taken as said, by the way it was spoken to.
pub(crate) fn read(
    reply: &ChatReply,
    form: ToolCalling,
    trigger: &Pending,
    is_tool: impl Fn(&str) -> bool,
) -> Reading {
    let text = reply.content.trim();
    if !reply.tool_calls.is_empty() {
        let calls = reply.tool_calls.iter().take(CALLS_LIMIT);
        return Reading::Calls(
            calls
                .map(|c| RawCall {
                    name: c.name.clone(),
                    arguments: c.arguments.clone(),
                })
                .collect(),
        );
    }
    match (embedded_call(text), form) {
        (Some(call), ToolCalling::Fallback) => Reading::Calls(vec![call]),
        (Some(call), ToolCalling::Native) if is_tool(&call.name) => Reading::Calls(vec![call]),
        _ if text.is_empty() => Reading::Unreadable(EMPTY),
        (_, ToolCalling::Native) => Reading::Calls(vec![spoken(text, trigger)]),
        (_, ToolCalling::Fallback) => Reading::Unreadable(NO_OBJECT),
    }
}

/// Plain text as the call that says it by the way the assistant was spoken to. What was said in private is never
/// answered aloud, even where the world has no such tool: then the model is told that there is none.
fn spoken(text: &str, trigger: &Pending) -> RawCall {
    let attested = &trigger.perception.attested;
    let to = attested.sender.name();
    let (name, arguments) = match attested.source {
        SourceKind::Whisper => ("whisper", json!({"to": to, "message": text})),
        SourceKind::Page => ("page", json!({"to": to, "message": text})),
        _ => ("say", json!({"message": text})),
    };
    RawCall {
        name: name.to_owned(),
        arguments: arguments.to_string(),
    }
}

#[derive(Deserialize)]
struct TextCall {
    tool: String,
    #[serde(default, alias = "arguments")]
    parameters: Option<Value>,
}

/// The first JSON object in a text that has the form of a call.
fn embedded_call(text: &str) -> Option<RawCall> {
    let mut rest = text;
    for _ in 0..CALLS_LIMIT {
        let start = rest.find('{')?;
        rest = rest.get(start..)?;
        let call = balanced_object(rest).map(serde_json::from_str::<TextCall>);
        if let Some(Ok(call)) = call {
            let arguments = call.parameters.unwrap_or_else(|| json!({}));
            return Some(RawCall {
                name: call.tool,
                arguments: arguments.to_string(),
            });
        }
        rest = rest.get(1..)?;
    }
    None
}

/// The part of a text, starting at its first brace, up to the brace that closes it; braces in strings don't count.
fn balanced_object(text: &str) -> Option<&str> {
    let (mut depth, mut in_string, mut escaped) = (0_usize, false, false);
    for (at, byte) in text.bytes().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if in_string => escaped = true,
            b'"' => in_string = !in_string,
            b'{' if !in_string => depth += 1,
            b'}' if !in_string => {
                depth -= 1;
                if depth == 0 {
                    return text.get(..=at);
                }
            }
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests;
