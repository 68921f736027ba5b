//! From the events of a stream to the pieces of a reply.

use dormouse_contracts::{CallId, ChatDelta, FinishReason, Usage};
use serde_json::Value;

use super::chunk::{CallPiece, Choice, Chunk, Spent};
use crate::http::{Complaint, Failure, Redact};

/// The most that a reply may say, texts, names and arguments together, in bytes. Some 60 000 tokens: more than models
/// write at once, and little enough to be kept, counted and shown again.
pub(super) const REPLY_LIMIT: usize = 256 * 1024;

/// The most tool calls of one reply.
const CALL_LIMIT: usize = 128;

/// A reply in the making. It knows no network: events in, deltas out.
#[derive(Debug)]
pub(super) struct Reply {
    /// Made part of ids that the server leaves out, so that those of two replies differ.
    place: usize,
    calls: Vec<Call>,
    bytes: usize,
    finished: bool,
    redact: Redact,
}

/// A tool call that has begun.
#[derive(Debug)]
struct Call {
    /// The server's index, where it gave one.
    index: Option<u64>,
    /// The server's id, where it gave one.
    id: Option<String>,
}

impl Reply {
    /// The reply to a conversation of `place` messages.
    pub(super) fn new(place: usize, redact: Redact) -> Self {
        Self {
            place,
            calls: Vec::new(),
            bytes: 0,
            finished: false,
            redact,
        }
    }

    /// Has the server said that the reply is finished?
    pub(super) fn is_finished(&self) -> bool {
        self.finished
    }

    /// Takes the next event and tells what is new in it.
    pub(super) fn take(&mut self, chunk: Chunk) -> Result<Vec<ChatDelta>, Failure> {
        if let Some(error) = chunk.error.filter(|error| !error.is_null()) {
            return Err(Failure::BrokenOff(Complaint::from_json(
                &error,
                &self.redact,
            )));
        }
        let mut deltas = Vec::new();
        for choice in chunk.choices.into_iter().filter(|choice| choice.index == 0) {
            self.take_choice(choice, &mut deltas)?;
        }
        deltas.extend(chunk.usage.as_ref().map(usage));
        Ok(deltas)
    }

    fn take_choice(&mut self, choice: Choice, deltas: &mut Vec<ChatDelta>) -> Result<(), Failure> {
        let texts = [choice.delta.content, choice.delta.refusal];
        for text in texts.into_iter().flatten().filter(|text| !text.is_empty()) {
            self.weigh(text.len())?;
            deltas.push(ChatDelta::Text(text));
        }
        for piece in choice.delta.tool_calls {
            self.take_call(piece, deltas)?;
        }
        let reason = choice.finish_reason.filter(|reason| !reason.is_empty());
        if let Some(reason) = reason.filter(|_| !self.finished) {
            self.finished = true;
            deltas.push(ChatDelta::Finished(finish_reason(&reason)));
        }
        Ok(())
    }

    fn take_call(&mut self, piece: CallPiece, deltas: &mut Vec<ChatDelta>) -> Result<(), Failure> {
        let name = piece.function.name.clone().filter(|name| !name.is_empty());
        let fragment = arguments(piece.function.arguments.as_ref());
        let index = match (self.begun(&piece, name.is_some()), name) {
            (Some(index), _) => index,
            (None, Some(name)) => self.begin(piece, name, deltas)?,
            (None, None) if fragment.is_empty() => return Ok(()),
            (None, None) => return Err(Failure::NamelessCall),
        };
        if !fragment.is_empty() {
            self.weigh(fragment.len())?;
            deltas.push(ChatDelta::CallArguments { index, fragment });
        }
        Ok(())
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
        deltas: &mut Vec<ChatDelta>,
    ) -> Result<usize, Failure> {
        let index = self.calls.len();
        if index >= CALL_LIMIT {
            return Err(Failure::TooMuch {
                what: "tool calls",
                limit: CALL_LIMIT,
            });
        }
        self.weigh(name.len())?;
        let given = piece.id.filter(|id| !id.is_empty());
        let id = match given.clone().map(CallId::try_new) {
            Some(Ok(id)) => id,
            // No id, or one that cannot be kept: the result is tied to ours instead.
            _ => CallId::try_new(format!("call_{}_{index}", self.place)).map_err(|error| {
                Failure::Unreadable(Complaint::of(&error.to_string(), &self.redact))
            })?,
        };
        self.calls.push(Call {
            index: piece.index,
            id: given,
        });
        deltas.push(ChatDelta::CallStart { index, id, name });
        Ok(index)
    }

    fn weigh(&mut self, bytes: usize) -> Result<(), Failure> {
        self.bytes = self.bytes.saturating_add(bytes);
        if self.bytes > REPLY_LIMIT {
            return Err(Failure::TooMuch {
                what: "bytes",
                limit: REPLY_LIMIT,
            });
        }
        Ok(())
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

fn usage(spent: &Spent) -> ChatDelta {
    let tokens = |count| u32::try_from(count).unwrap_or(u32::MAX);
    ChatDelta::Usage(Usage {
        prompt_tokens: tokens(spent.prompt_tokens),
        completion_tokens: tokens(spent.completion_tokens),
        ..Usage::default()
    })
}

#[cfg(test)]
mod tests;
