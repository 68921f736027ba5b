//! From the lines of Ollama's chat to the pieces of a reply.

use dormouse_contracts::FinishReason;
use dormouse_text::beginning;
use serde_json::Value;

use crate::{
    http::{Complaint, Failure},
    stream::{self, Counts, Decoder, Draft, Event},
};

/// Reads the lines of a chat. Each call is whole in one of them, so that nothing is remembered.
#[derive(Debug)]
pub(super) struct ChatDecoder;

impl Decoder for ChatDecoder {
    fn take(&mut self, event: Event<'_>, draft: &mut Draft) -> Result<(), Failure> {
        let line = stream::read::<Value>(event.data);
        let line = line.map_err(|error| draft.unreadable(&error.to_string()))?;
        if !line.is_object() {
            return Err(draft.unreadable("a line that is no object"));
        }
        if line.get("error").is_some_and(|error| !error.is_null()) {
            let complaint = Complaint::from_json(&line, draft.redact());
            return Err(Failure::BrokenOff(complaint));
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

/// Takes what the model says, with as few expectations as possible: what has another type than expected counts as absent.
fn said(message: &Value, draft: &mut Draft) -> Result<(), Failure> {
    // Ollama's name for thoughts, and that of servers that speak like it.
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
    let arguments = match call.pointer("/function/arguments") {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    };
    if name.is_empty() {
        return Err(Failure::NamelessCall);
    }
    let index = draft.begin_call(text(call.get("id")), name.to_owned())?;
    draft.arguments(index, arguments)
}

fn finish(line: &Value, draft: &mut Draft) {
    draft.finish(match text(line.get("done_reason")) {
        // The reason is the same where the model called tools; old versions give none.
        "stop" | "" if draft.calls() > 0 => FinishReason::ToolCalls,
        "stop" | "" => FinishReason::Stop,
        "length" => FinishReason::Length,
        other => FinishReason::Other(beginning(other, 64).to_owned()),
    });
    let tokens = |name| Counts::tokens(line.get(name));
    draft.count(Counts {
        prompt: tokens("prompt_eval_count"),
        completion: tokens("eval_count"),
        ..Counts::default()
    });
    draft.close();
}

fn text(value: Option<&Value>) -> &str {
    value.and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
mod tests;
