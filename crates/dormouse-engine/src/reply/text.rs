//! Calls that stand in the text of a reply.

use serde::Deserialize;
use serde_json::{Value, json};

use super::{CALLS_LIMIT, RawCall};

/// What models put around a call they print.
const WRAPPING: [&str; 5] = [
    "```json",
    "```tool_call",
    "```",
    "<tool_call>",
    "</tool_call>",
];

#[derive(Deserialize)]
struct TextCall {
    tool: String,
    #[serde(default, alias = "arguments")]
    parameters: Option<Value>,
}

impl From<TextCall> for RawCall {
    fn from(call: TextCall) -> Self {
        let arguments = call.parameters.unwrap_or_else(|| json!({}));
        Self {
            name: call.tool,
            arguments: arguments.to_string(),
        }
    }
}

/// The first JSON object in a text that has the form of a call.
pub(super) fn embedded_call(text: &str) -> Option<RawCall> {
    let mut rest = text;
    for _ in 0..CALLS_LIMIT {
        let start = rest.find('{')?;
        rest = rest.get(start..)?;
        if let Some((call, _)) = leading_call(rest) {
            return Some(call);
        }
        rest = rest.get(1..)?;
    }
    None
}

/// The calls of a text that holds nothing but calls, and what models put around them.
pub(super) fn printed_calls(text: &str) -> Option<Vec<RawCall>> {
    let mut calls = Vec::new();
    let mut rest = unwrapped(text);
    while !rest.is_empty() && calls.len() < CALLS_LIMIT {
        let (call, behind) = leading_call(rest)?;
        calls.push(call);
        rest = unwrapped(behind);
    }
    (!calls.is_empty()).then_some(calls)
}

/// Whether a text begins like one that holds nothing but calls.
pub(super) fn is_begun_call(text: &str) -> bool {
    unwrapped(text).starts_with('{') || WRAPPING.iter().any(|mark| mark.starts_with(text))
}

/// A text from the first character that is neither white space nor wrapping.
fn unwrapped(text: &str) -> &str {
    let mut rest = text.trim_start();
    while let Some(inner) = WRAPPING.iter().find_map(|mark| rest.strip_prefix(mark)) {
        rest = inner.trim_start();
    }
    rest
}

/// The call a text begins with, and what stands behind it.
fn leading_call(text: &str) -> Option<(RawCall, &str)> {
    let object = balanced_object(text)?;
    let call = serde_json::from_str::<TextCall>(object).ok()?;
    Some((call.into(), text.get(object.len()..)?))
}

/// The part of a text, if it starts with a brace, up to the brace that closes it; braces in strings don't count.
fn balanced_object(text: &str) -> Option<&str> {
    if !text.starts_with('{') {
        return None;
    }
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
