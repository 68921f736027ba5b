//! Decodes the lines of Ollama's chat API into a reply.

use dormouse_contracts::FinishReason;
use serde_json::Value;

use crate::{
    http::Failure,
    stream::{self, Decoder, Draft, Event, Framing, TokenCounts},
};

/// Decodes the lines of a chat. It has no state, because each tool call arrives complete in one line.
#[derive(Debug)]
pub(super) struct ChatDecoder;

impl Decoder for ChatDecoder {
    const FRAMING: Framing = Framing::JsonLines;

    fn take(&mut self, event: Event<'_>, draft: &mut Draft) -> Result<(), Failure> {
        let line = draft.parse::<Value>(event.data)?;
        if !line.is_object() {
            return Err(draft.unreadable("a line is not an object"));
        }
        if line.get("error").is_some_and(|error| !error.is_null()) {
            return Err(draft.broken_off(&line));
        }
        draft.served_by(text(line.get("model")));
        if let Some(message) = line.get("message") {
            said(message, draft)?;
        }
        if line.get("done") == Some(&Value::Bool(true)) {
            finish(&line, draft);
        }
        Ok(())
    }
}

/// Reads the message of a line. Fields of an unexpected type count as absent.
fn said(message: &Value, draft: &mut Draft) -> Result<(), Failure> {
    // Compatible servers use the second name.
    let thoughts = ["thinking", "reasoning_content"];
    let thoughts = thoughts.iter().map(|name| text(message.get(name)));
    let thoughts = thoughts.into_iter().find(|text| !text.is_empty());
    draft.reasoning(thoughts.unwrap_or_default().to_owned())?;
    draft.text(text(message.get("content")).to_owned())?;
    let calls = message.get("tool_calls").and_then(Value::as_array);
    for call in calls.into_iter().flatten() {
        take_call(call, draft)?;
    }
    Ok(())
}

fn take_call(call: &Value, draft: &mut Draft) -> Result<(), Failure> {
    let name = text(call.pointer("/function/name"));
    let arguments = stream::json_text(call.pointer("/function/arguments"));
    if name.is_empty() {
        return Err(Failure::NamelessCall);
    }
    let index = draft.begin_call(text(call.get("id")), name.to_owned())?;
    draft.arguments(index, arguments)
}

fn finish(line: &Value, draft: &mut Draft) {
    draft.finish(match text(line.get("done_reason")) {
        // Ollama reports "stop" also after tool calls; old versions report nothing.
        "stop" | "" if draft.calls() > 0 => FinishReason::ToolCalls,
        "stop" | "" => FinishReason::Stop,
        "length" => FinishReason::Length,
        other => FinishReason::Other(other.to_owned()),
    });
    let tokens = |name| TokenCounts::tokens(line.get(name));
    draft.count(TokenCounts {
        prompt: tokens("prompt_eval_count"),
        completion: tokens("eval_count"),
        ..TokenCounts::default()
    });
    draft.close();
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
