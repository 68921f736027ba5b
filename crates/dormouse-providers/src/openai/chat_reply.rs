//! Decodes OpenAI's chat completion events into a reply.
//!
//! Servers differ: content that is null or a list of parts, missing indices and ids, usage in an event without choices,
//! arguments as an object, unknown fields. Fields of an unexpected type count as absent.

use std::borrow::Cow;

use dormouse_contracts::FinishReason;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    http::{ErrorBody, Failure},
    stream::{self, Decoder, Draft, Event, TokenCounts, or_default},
};

/// Decodes the chunks of a chat completion.
#[derive(Debug, Default)]
pub(crate) struct ChatDecoder {
    calls: Vec<Call>,
    /// Whether the provider behind OpenRouter was logged already.
    upstream_logged: bool,
}

/// A tool call that has begun.
#[derive(Debug)]
struct Call {
    /// The server's index, if it sent one.
    index: Option<u64>,
    /// The server's id, if it sent one.
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
        let mut completion = draft.parse::<Value>(body)?;
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

/// Moves the message of a whole completion to `delta`, where a streamed event has it. Returns whether there is a
/// message.
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
        self.identify(
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
        self.chunk(draft.parse(data)?, draft)
    }

    fn chunk(&mut self, chunk: Chunk, draft: &mut Draft) -> Result<(), Failure> {
        if let Some(usage) = chunk.usage() {
            draft.count(counts(usage));
        }
        broken_off(chunk.error, draft)?;
        self.identify(
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

    /// Records the server's names for the reply, the model and the provider behind it.
    fn identify(
        &mut self,
        id: Option<&str>,
        model: Option<&str>,
        upstream: Option<&str>,
        draft: &mut Draft,
    ) {
        draft.served_by(model.unwrap_or_default());
        draft.request_id(id.unwrap_or_default());
        if let Some(upstream) = upstream.filter(|_| !self.upstream_logged) {
            self.upstream_logged = true;
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
        let fragment = stream::json_text(piece.function.arguments.as_ref());
        let index = match (self.begun(&piece, name.is_some()), name) {
            (Some(index), _) => index,
            (None, Some(name)) => self.begin(piece, name, draft)?,
            (None, None) if fragment.is_empty() => return Ok(()),
            (None, None) => return Err(Failure::NamelessCall),
        };
        draft.arguments(index, fragment)
    }

    /// Returns the call that a piece continues. Without an index, it is the last one, unless a name starts a new call. A known
    /// index with another id starts a new call, since some servers number all calls 0.
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

/// Returns the error that the server reported, if any.
fn broken_off(error: Option<Value>, draft: &Draft) -> Result<(), Failure> {
    match error.filter(|error| !error.is_null()) {
        Some(error) => Err(draft.broken_off(&error)),
        None => Ok(()),
    }
}

/// Finishes the reply if there is a reason; `native` is the reason of the provider behind OpenRouter.
fn finish(reason: Option<&str>, native: Option<&str>, draft: &mut Draft) -> Result<(), Failure> {
    let Some(reason) = reason.filter(|reason| !reason.is_empty()) else {
        return Ok(());
    };
    draft.finish(match reason {
        "stop" => FinishReason::Stop,
        "tool_calls" | "function_call" => FinishReason::ToolCalls,
        "length" => FinishReason::Length,
        "content_filter" => FinishReason::ContentFilter,
        // OpenRouter reports an error during a reply as a finish reason.
        "error" => {
            let native = native.unwrap_or("nothing more");
            let error_body = ErrorBody::of(&format!("error: {native}"), draft.redact());
            return Err(Failure::BrokenOff(error_body));
        }
        other => FinishReason::Other(other.to_owned()),
    });
    Ok(())
}

/// Reads the token counts. OpenRouter also reports the price in dollars.
fn counts(usage: &Value) -> TokenCounts {
    let tokens = |path: &str| TokenCounts::tokens(usage.pointer(path));
    TokenCounts {
        prompt: tokens("/prompt_tokens"),
        completion: tokens("/completion_tokens"),
        // The second name is DeepSeek's.
        cached: tokens("/prompt_tokens_details/cached_tokens")
            .or_else(|| tokens("/prompt_cache_hit_tokens")),
        cache_write: tokens("/prompt_tokens_details/cache_write_tokens"),
        reasoning: tokens("/completion_tokens_details/reasoning_tokens"),
        cost: TokenCounts::dollars(usage.get("cost")),
    }
}

/// One event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Chunk {
    #[serde(deserialize_with = "or_default")]
    choices: Vec<Choice>,
    #[serde(deserialize_with = "or_default")]
    usage: Option<Value>,
    /// Groq reports the usage in this field.
    #[serde(deserialize_with = "or_default")]
    x_groq: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    model: Option<String>,
    /// The provider behind OpenRouter.
    #[serde(deserialize_with = "or_default")]
    provider: Option<String>,
    error: Option<Value>,
}

impl Chunk {
    /// Returns the usage, at the place of either server.
    fn usage(&self) -> Option<&Value> {
        let of_groq = self.x_groq.as_ref().and_then(|groq| groq.get("usage"));
        self.usage.as_ref().or(of_groq)
    }
}

/// One of the streamed replies; only the first was requested.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Choice {
    #[serde(deserialize_with = "or_default")]
    index: u64,
    #[serde(deserialize_with = "or_default")]
    delta: Delta,
    #[serde(deserialize_with = "or_default")]
    finish_reason: Option<String>,
    /// The finish reason of the provider behind OpenRouter.
    #[serde(deserialize_with = "or_default")]
    native_finish_reason: Option<String>,
    error: Option<Value>,
}

/// The new content.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Delta {
    content: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    refusal: Option<String>,
    /// The name for thoughts of llama-server and others.
    #[serde(deserialize_with = "or_default")]
    reasoning_content: Option<String>,
    /// OpenRouter's name for thoughts.
    #[serde(deserialize_with = "or_default")]
    reasoning: Option<String>,
    /// OpenRouter's thoughts in parts.
    #[serde(deserialize_with = "or_default")]
    reasoning_details: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    tool_calls: Vec<CallPiece>,
    /// The single call of older servers.
    #[serde(deserialize_with = "or_default")]
    function_call: Option<FunctionPiece>,
}

impl Delta {
    /// Returns the thoughts. Only the first non-empty name counts, since servers that use several repeat the text.
    fn thoughts(&self) -> String {
        let named = [&self.reasoning_content, &self.reasoning];
        let mut named = named.into_iter().flatten().filter(|text| !text.is_empty());
        if let Some(text) = named.next() {
            return text.clone();
        }
        let in_details = texts(self.reasoning_details.as_ref(), &["text", "summary"]);
        let in_content = match &self.content {
            Some(Value::Array(parts)) => parts
                .iter()
                .map(|part| texts(part.get("thinking"), &["text"]))
                .collect(),
            _ => String::new(),
        };
        in_details + &in_content
    }

    /// Returns the text: a string, or the texts of a list of parts.
    fn text(&self) -> String {
        match &self.content {
            Some(Value::String(text)) => text.clone(),
            Some(parts @ Value::Array(_)) => texts(Some(parts), &["text"]),
            _ => String::new(),
        }
    }
}

/// Returns the text of each part, under the first of these names that it has.
fn texts(parts: Option<&Value>, names: &[&str]) -> String {
    let text_of = |part: &Value| {
        let mut texts = names
            .iter()
            .filter_map(|name| part.get(name)?.as_str().map(str::to_owned));
        texts.next()
    };
    match parts {
        Some(Value::Array(parts)) => parts.iter().filter_map(text_of).collect(),
        Some(Value::String(text)) => text.clone(),
        _ => String::new(),
    }
}

/// A piece of a tool call.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct CallPiece {
    #[serde(deserialize_with = "or_default")]
    index: Option<u64>,
    #[serde(deserialize_with = "or_default")]
    id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    function: FunctionPiece,
}

/// The name, or a fragment of the arguments.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct FunctionPiece {
    #[serde(deserialize_with = "or_default")]
    name: Option<String>,
    arguments: Option<Value>,
}

/// For fields that must be absent or null.
type Nothing = ();

/// An event with one piece of one reply, read without allocation.
///
/// Nearly every event of a reply is one piece of text, one fragment of arguments, or nothing. These are parsed into
/// borrowed texts. Any other event fails to parse here and is parsed as a [`Chunk`]. Every field that `Chunk` reads is
/// named here too; otherwise the fast parser would ignore it.
#[derive(Debug, Deserialize)]
struct Ordinary<'a> {
    #[serde(borrow)]
    choices: [OrdinaryChoice<'a>; 1],
    #[serde(borrow, default)]
    model: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    provider: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    id: Option<Cow<'a, str>>,
    #[serde(default, rename = "usage")]
    _usage: Nothing,
    #[serde(default, rename = "error")]
    _error: Nothing,
    #[serde(default, rename = "x_groq")]
    _x_groq: Nothing,
}

/// The only choice of the event.
#[derive(Debug, Deserialize)]
struct OrdinaryChoice<'a> {
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: OrdinaryDelta<'a>,
    #[serde(borrow, default)]
    finish_reason: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    native_finish_reason: Option<Cow<'a, str>>,
    #[serde(default, rename = "error")]
    _error: Nothing,
}

/// New content.
#[derive(Debug, Deserialize)]
struct OrdinaryDelta<'a> {
    #[serde(borrow, default)]
    content: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    reasoning_content: Option<Cow<'a, str>>,
    #[serde(default, rename = "refusal")]
    _refusal: Nothing,
    #[serde(default, rename = "reasoning")]
    _reasoning: Nothing,
    #[serde(default, rename = "reasoning_details")]
    _reasoning_details: Nothing,
    #[serde(borrow, default)]
    tool_calls: Option<[OrdinaryCall<'a>; 1]>,
    #[serde(default, rename = "function_call")]
    _function_call: Nothing,
}

/// A fragment of the arguments of a call that has begun.
#[derive(Debug, Deserialize)]
struct OrdinaryCall<'a> {
    index: u64,
    #[serde(default, rename = "id")]
    _id: Nothing,
    #[serde(borrow)]
    function: OrdinaryFunction<'a>,
}

/// The fragment.
#[derive(Debug, Deserialize)]
struct OrdinaryFunction<'a> {
    #[serde(default, rename = "name")]
    _name: Nothing,
    #[serde(borrow)]
    arguments: Cow<'a, str>,
}

#[cfg(test)]
mod tests;
