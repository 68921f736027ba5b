//! From the events of OpenAI's chat completions to the pieces of a reply.

use dormouse_contracts::FinishReason;
use dormouse_text::beginning;
use serde_json::Value;

use super::{
    chunk::{CallPiece, Choice, Chunk},
    ordinary::{Ordinary, OrdinaryCall},
};
use crate::{
    http::{Complaint, Failure},
    stream::{self, Counts, Decoder, Draft, Event},
};

/// Reads chunks of a chat completion.
#[derive(Debug, Default)]
pub(crate) struct ChatDecoder {
    calls: Vec<Call>,
    /// Is it told in the log whom OpenRouter has asked?
    is_upstream_told: bool,
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
        match serde_json::from_slice::<Ordinary<'_>>(event.data) {
            Ok(chunk) => self.ordinary(chunk, draft),
            Err(_) => self.unusual(event.data, draft),
        }
    }

    fn whole(&mut self, body: &[u8], draft: &mut Draft) -> Result<(), Failure> {
        let completion = stream::read::<Value>(body);
        let mut completion = completion.map_err(|error| draft.unreadable(&error.to_string()))?;
        if !has_message(&mut completion) && completion.get("error").is_none_or(Value::is_null) {
            return Err(stream::no_reply(body, draft));
        }
        let chunk = serde_json::from_value(completion);
        self.chunk(
            chunk.map_err(|error| draft.unreadable(&error.to_string()))?,
            draft,
        )?;
        let reason = match draft.calls() {
            0 => FinishReason::Stop,
            _ => FinishReason::ToolCalls,
        };
        draft.finish(reason);
        draft.close();
        Ok(())
    }
}

/// Has a completion a message? It becomes what is new, as in a stream.
fn has_message(completion: &mut Value) -> bool {
    let choices = completion.get_mut("choices").and_then(Value::as_array_mut);
    let choices = choices.into_iter().flatten();
    let messages = choices.filter_map(|choice| {
        let choice = choice.as_object_mut()?;
        let message = choice.remove("message").filter(Value::is_object)?;
        choice.insert("delta".to_owned(), message);
        Some(())
    });
    messages.count() > 0
}

impl ChatDecoder {
    fn ordinary(&mut self, chunk: Ordinary<'_>, draft: &mut Draft) -> Result<(), Failure> {
        self.told_by(
            chunk.id.as_deref(),
            chunk.model.as_deref(),
            chunk.provider.as_deref(),
            draft,
        );
        let [choice] = chunk.choices;
        if choice.index != 0 {
            return Ok(());
        }
        let delta = choice.delta;
        draft.reasoning(delta.reasoning_content.unwrap_or_default().into_owned())?;
        draft.text(delta.content.unwrap_or_default().into_owned())?;
        if let Some([call]) = delta.tool_calls {
            self.more_arguments(call, draft)?;
        }
        let native = choice.native_finish_reason;
        finish(choice.finish_reason.as_deref(), native.as_deref(), draft)
    }

    fn more_arguments(&mut self, call: OrdinaryCall<'_>, draft: &mut Draft) -> Result<(), Failure> {
        let continues = |begun: &Call| begun.index == Some(call.index);
        let arguments = call.function.arguments;
        match self.calls.iter().rposition(continues) {
            Some(index) => draft.arguments(index, arguments.into_owned()),
            None if arguments.is_empty() => Ok(()),
            None => Err(Failure::NamelessCall),
        }
    }

    fn unusual(&mut self, data: &[u8], draft: &mut Draft) -> Result<(), Failure> {
        let chunk = stream::read(data);
        let chunk = chunk.map_err(|error| draft.unreadable(&error.to_string()))?;
        self.chunk(chunk, draft)
    }

    fn chunk(&mut self, chunk: Chunk, draft: &mut Draft) -> Result<(), Failure> {
        if let Some(usage) = chunk.usage() {
            draft.count(counts(usage));
        }
        broken_off(chunk.error, draft)?;
        self.told_by(
            chunk.id.as_deref(),
            chunk.model.as_deref(),
            chunk.provider.as_deref(),
            draft,
        );
        for choice in chunk.choices.into_iter().filter(|choice| choice.index == 0) {
            self.choice(choice, draft)?;
        }
        Ok(())
    }

    /// The server's names for the reply, for the model and for whom it has asked itself.
    fn told_by(
        &mut self,
        id: Option<&str>,
        model: Option<&str>,
        upstream: Option<&str>,
        draft: &mut Draft,
    ) {
        draft.served_by(model.unwrap_or_default());
        draft.request_id(id.unwrap_or_default());
        if let Some(upstream) = upstream.filter(|_| !self.is_upstream_told) {
            self.is_upstream_told = true;
            let upstream = draft.redact().line(upstream);
            tracing::debug!(upstream, "the reply is passed on from another provider");
        }
    }

    fn choice(&mut self, choice: Choice, draft: &mut Draft) -> Result<(), Failure> {
        broken_off(choice.error, draft)?;
        let delta = choice.delta;
        draft.reasoning(delta.thoughts())?;
        draft.text(delta.text())?;
        draft.text(delta.refusal.unwrap_or_default())?;
        let older = delta.function_call.filter(|_| delta.tool_calls.is_empty());
        let older = older.map(|function| CallPiece {
            index: Some(0),
            id: None,
            function,
        });
        for piece in delta.tool_calls.into_iter().chain(older) {
            self.call(piece, draft)?;
        }
        let native = choice.native_finish_reason;
        finish(choice.finish_reason.as_deref(), native.as_deref(), draft)
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

/// What the server itself says went wrong.
fn broken_off(error: Option<Value>, draft: &Draft) -> Result<(), Failure> {
    match error.filter(|error| !error.is_null()) {
        Some(error) => {
            let complaint = Complaint::from_json(&error, draft.redact());
            Err(Failure::BrokenOff(complaint))
        }
        None => Ok(()),
    }
}

/// The model stopped, if there is a reason; `native` is the reason in the words of whom the server has asked itself.
fn finish(reason: Option<&str>, native: Option<&str>, draft: &mut Draft) -> Result<(), Failure> {
    let Some(reason) = reason.filter(|reason| !reason.is_empty()) else {
        return Ok(());
    };
    let other = |reason: &str| FinishReason::Other(beginning(reason, 64).to_owned());
    draft.finish(match reason {
        "stop" => FinishReason::Stop,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        // It is no end of a reply, although OpenRouter calls it one.
        "error" => {
            let native = native.unwrap_or("nothing more");
            let complaint = Complaint::of(&format!("error: {native}"), draft.redact());
            return Err(Failure::BrokenOff(complaint));
        }
        reason => other(reason),
    });
    Ok(())
}

/// What the server counted. OpenRouter also tells the price, in dollars.
fn counts(usage: &Value) -> Counts {
    let tokens = |path: &str| Counts::tokens(usage.pointer(path));
    Counts {
        prompt: tokens("/prompt_tokens"),
        completion: tokens("/completion_tokens"),
        // The second is DeepSeek's.
        cached: tokens("/prompt_tokens_details/cached_tokens")
            .or_else(|| tokens("/prompt_cache_hit_tokens")),
        cache_write: tokens("/prompt_tokens_details/cache_write_tokens"),
        reasoning: tokens("/completion_tokens_details/reasoning_tokens"),
        cost: Counts::dollars(usage.get("cost")),
    }
}

#[cfg(test)]
mod tests;
