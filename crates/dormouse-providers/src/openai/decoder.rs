//! From the events of OpenAI's chat completions to the pieces of a reply.

use dormouse_contracts::FinishReason;
use serde_json::Value;

use super::chunk::{CallPiece, Choice, Chunk};
use crate::{
    http::{Complaint, Failure},
    stream::{Counts, Decoder, Draft, Event},
};

/// Reads chunks of a chat completion.
#[derive(Debug, Default)]
pub(super) struct ChatDecoder {
    calls: Vec<Call>,
}

/// A tool call that has begun.
#[derive(Debug)]
struct Call {
    /// The server's index, where it gave one.
    index: Option<u64>,
    /// The server's id, where it gave one.
    id: Option<String>,
}

impl Decoder for ChatDecoder {
    fn take(&mut self, event: Event<'_>, draft: &mut Draft) -> Result<(), Failure> {
        if event.data == b"[DONE]" {
            draft.close();
            return Ok(());
        }
        let chunk = serde_json::from_slice(event.data);
        let chunk = chunk.map_err(|error| draft.unreadable(&error.to_string()))?;
        self.chunk(chunk, draft)
    }
}

impl ChatDecoder {
    fn chunk(&mut self, chunk: Chunk, draft: &mut Draft) -> Result<(), Failure> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            let complaint = Complaint::from_json(&error, draft.redact());
            return Err(Failure::BrokenOff(complaint));
        }
        draft.served_by(chunk.model.as_deref().unwrap_or_default());
        for choice in chunk.choices.into_iter().filter(|choice| choice.index == 0) {
            self.choice(choice, draft)?;
        }
        if let Some(usage) = &chunk.usage {
            draft.count(counts(usage));
        }
        Ok(())
    }

    fn choice(&mut self, choice: Choice, draft: &mut Draft) -> Result<(), Failure> {
        let delta = choice.delta;
        let thoughts = delta.reasoning_content.or(delta.reasoning);
        draft.reasoning(thoughts.unwrap_or_default())?;
        draft.text(delta.content.unwrap_or_default())?;
        draft.text(delta.refusal.unwrap_or_default())?;
        for piece in delta.tool_calls {
            self.call(piece, draft)?;
        }
        if let Some(reason) = choice.finish_reason.filter(|reason| !reason.is_empty()) {
            draft.finish(finish_reason(&reason));
        }
        Ok(())
    }

    fn call(&mut self, piece: CallPiece, draft: &mut Draft) -> Result<(), Failure> {
        let name = piece.function.name.clone().filter(|name| !name.is_empty());
        let fragment = arguments(piece.function.arguments.as_ref());
        let index = match (self.begun(&piece, name.is_some()), name) {
            (Some(index), _) => index,
            (None, Some(name)) => self.begin(piece, name, draft)?,
            (None, None) if fragment.is_empty() => return Ok(()),
            (None, None) => return Err(Failure::NamelessCall),
        };
        draft.arguments(index, fragment)
    }

    /// Which call the piece continues. Without an index it is the last one, unless a name begins another; with the
    /// index of a call that has another id it is another call, since some servers number all of them 0.
    fn begun(&self, piece: &CallPiece, named: bool) -> Option<usize> {
        let id = piece.id.as_ref().filter(|id| !id.is_empty());
        let continues = |call: &Call| {
            let same_index = match piece.index {
                Some(index) => call.index == Some(index),
                None => !named || (id.is_some() && call.id.as_ref() == id),
            };
            let other_id = named && id.is_some() && call.id.is_some() && call.id.as_ref() != id;
            same_index && !other_id
        };
        self.calls.iter().rposition(continues)
    }

    fn begin(
        &mut self,
        piece: CallPiece,
        name: String,
        draft: &mut Draft,
    ) -> Result<usize, Failure> {
        let id = piece.id.filter(|id| !id.is_empty());
        let index = draft.begin_call(id.as_deref().unwrap_or_default(), name)?;
        self.calls.push(Call {
            index: piece.index,
            id,
        });
        Ok(index)
    }
}

/// The next piece of JSON text; an object, as some servers send it, is written out.
fn arguments(value: Option<&Value>) -> String {
    match value {
        None | Some(Value::Null) => String::new(),
        Some(Value::String(text)) => text.clone(),
        Some(other) => other.to_string(),
    }
}

fn finish_reason(reason: &str) -> FinishReason {
    match reason {
        "stop" => FinishReason::Stop,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        other => FinishReason::Other(other.chars().take(64).collect()),
    }
}

/// What the server counted. OpenRouter also tells the price, in dollars.
fn counts(usage: &Value) -> Counts {
    let tokens = |path: &str| Counts::tokens(usage.pointer(path));
    Counts {
        prompt: tokens("/prompt_tokens"),
        completion: tokens("/completion_tokens"),
        cached: tokens("/prompt_tokens_details/cached_tokens"),
        cache_write: tokens("/prompt_tokens_details/cache_write_tokens"),
        reasoning: tokens("/completion_tokens_details/reasoning_tokens"),
        cost: Counts::dollars(usage.get("cost")),
    }
}

#[cfg(test)]
mod tests;
