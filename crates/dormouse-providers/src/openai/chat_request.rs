//! A chat request in the format of OpenAI's chat completions.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_openai::types::chat::{
    ChatCompletionNamedToolChoice, ChatCompletionToolChoiceOption, FunctionName, ToolChoiceOptions,
};
use dormouse_contracts::{
    ChatRequest, Message, OutputFormat, ReasoningEffort, RequestField, ToolChoice, invariant,
};
use serde::Serialize;
use serde_json::Value;

use super::{
    chat_message::{ChatMessage, Offered},
    chat_reply::ChatDecoder,
};
use crate::{
    http::Failure,
    message_cache::MessageCache,
    server::{Api, WireRequest, WireRequestBuilder, written},
    tool_list_cache::ToolListCache,
};

/// The room for messages as JSON, in bytes.
const MESSAGES_ROOM: usize = 2 * 1024 * 1024;

/// The JSON of tools and messages that later requests repeat.
#[derive(Debug)]
pub(crate) struct WrittenParts {
    tools: ToolListCache<Arc<Vec<u8>>>,
    messages: MessageCache<Arc<[u8]>>,
}

impl Default for WrittenParts {
    fn default() -> Self {
        Self {
            tools: ToolListCache::default(),
            messages: MessageCache::within(MESSAGES_ROOM, |json| json.len()),
        }
    }
}

impl WrittenParts {
    fn messages(&self, request: &ChatRequest) -> Vec<u8> {
        // A kind of message that this version does not know is left out.
        let write = |message: &Message| match ChatMessage::of(message) {
            Some(message) => invariant!(serde_json::to_vec(&message), "a message is JSON").into(),
            None => Arc::default(),
        };
        let written = self.messages.of_each(request, write);
        let length = written.iter().map(|json| json.len() + 1).sum::<usize>() + 2;
        let mut list = Vec::with_capacity(length);
        list.push(b'[');
        for json in written.iter().filter(|json| !json.is_empty()) {
            if list.len() > 1 {
                list.push(b',');
            }
            list.extend_from_slice(json);
        }
        list.push(b']');
        list
    }
}

/// Chat completions at one server.
#[derive(Debug)]
pub(super) struct ChatCompletions {
    length: LearntLength,
    parts: WrittenParts,
}

impl ChatCompletions {
    pub(super) fn at(host: &str) -> Self {
        Self {
            length: LearntLength::begin(LengthField::at(host)),
            parts: WrittenParts::default(),
        }
    }
}

impl Api for ChatCompletions {
    type Decoder = ChatDecoder;

    fn write(&self, request: &ChatRequest, body: WireRequestBuilder<'_>) -> WireRequest {
        let dialect = Dialect::openai(self.length.field());
        let mut body = chat(request, dialect, &self.parts, body);
        body.extra(&request.extra);
        body.finish()
    }

    fn decoder(&self, _: &ChatRequest) -> ChatDecoder {
        ChatDecoder::default()
    }

    fn learns(&self, refusal: &Failure, refused: &WireRequest) -> bool {
        self.length.learns(refusal, refused)
    }
}

/// The differences between servers with chat completions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dialect {
    /// The name of the length limit.
    length_field: LengthField,
    /// The field that requests token counts.
    counting: (&'static str, &'static str),
    /// The form of the reasoning effort.
    effort: Effort,
}

/// The form of the reasoning effort in a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Effort {
    /// `reasoning_effort: "low"`.
    Plain,
    /// `reasoning: {"effort": "low"}`.
    Within,
}

impl Dialect {
    /// OpenAI's dialect, which most servers use.
    fn openai(length_field: LengthField) -> Self {
        Self {
            length_field,
            counting: ("stream_options", "include_usage"),
            effort: Effort::Plain,
        }
    }

    /// OpenRouter's dialect.
    pub(crate) fn openrouter() -> Self {
        Self {
            length_field: LengthField::MaxTokens,
            counting: ("usage", "include"),
            effort: Effort::Within,
        }
    }
}

/// Writes a streamed request that asks for token counts. Vendor fields are set after this and before
/// [`WireRequestBuilder::extra`].
pub(crate) fn chat<'a>(
    request: &ChatRequest,
    dialect: Dialect,
    parts: &WrittenParts,
    mut body: WireRequestBuilder<'a>,
) -> WireRequestBuilder<'a> {
    let (counting, include) = dialect.counting;
    body.set_written("messages", Arc::new(parts.messages(request)));
    body.set("stream", true).offer(
        counting,
        RequestField::StreamUsage,
        Some(serde_json::json!({include: true})),
    );
    if offers_tools(request, &body) {
        let tools = parts.tools.get(&request.tools, || {
            written(&request.tools.iter().map(Offered::of).collect::<Vec<_>>())
        });
        let choice = tool_choice(&request.tool_choice).map(|choice| json(&choice));
        body.offer_written("tools", RequestField::Tools, tools);
        if body.supports(&RequestField::Tools) {
            body.offer("tool_choice", RequestField::ToolChoice, choice);
        }
    }
    let effort = request.reasoning_effort.map(ReasoningEffort::as_str);
    let (effort_field, effort) = match dialect.effort {
        Effort::Plain => ("reasoning_effort", effort.map(Value::from)),
        Effort::Within => (
            "reasoning",
            effort.map(|effort| serde_json::json!({"effort": effort})),
        ),
    };
    body.offer_number(
        "temperature",
        RequestField::Temperature,
        request.temperature,
    )
    .offer_number("top_p", RequestField::TopP, request.top_p)
    .offer(
        dialect.length_field.name(),
        RequestField::MaxTokens,
        request.max_tokens,
    )
    .offer(effort_field, RequestField::ReasoningEffort, effort)
    .offer(
        "response_format",
        RequestField::Output,
        format(&request.output),
    );
    body
}

/// Whether tools are offered. If the request forbids calls and the server has no `tool_choice`, none are.
pub(super) fn offers_tools(request: &ChatRequest, body: &WireRequestBuilder<'_>) -> bool {
    let may_say = body.supports(&RequestField::ToolChoice);
    !request.tools.is_empty() && (may_say || request.tool_choice != ToolChoice::None)
}

/// Converts a value to JSON.
fn json(value: &impl Serialize) -> Value {
    invariant!(
        serde_json::to_value(value),
        "requests are made of texts, lists and numbers, which JSON has"
    )
}

fn format(output: &OutputFormat) -> Option<Value> {
    match output {
        OutputFormat::Json => Some(serde_json::json!({"type": "json_object"})),
        OutputFormat::Schema { name, schema } => {
            let mut described = serde_json::json!({"name": name, "schema": schema});
            if may_be_strict(schema)
                && let Some(described) = described.as_object_mut()
            {
                described.insert("strict".to_owned(), Value::Bool(true));
            }
            Some(serde_json::json!({"type": "json_schema", "json_schema": described}))
        }
        _ => None,
    }
}

/// Returns the choice, unless it is the server's default.
fn tool_choice(choice: &ToolChoice) -> Option<ChatCompletionToolChoiceOption> {
    match choice {
        ToolChoice::None => Some(ChatCompletionToolChoiceOption::Mode(
            ToolChoiceOptions::None,
        )),
        ToolChoice::Required => Some(ChatCompletionToolChoiceOption::Mode(
            ToolChoiceOptions::Required,
        )),
        ToolChoice::Tool(name) => Some(ChatCompletionToolChoiceOption::Function(
            ChatCompletionNamedToolChoice {
                function: FunctionName {
                    name: name.as_str().to_owned(),
                },
            },
        )),
        _ => None,
    }
}

/// A server's name for the length limit of a reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LengthField {
    /// `max_completion_tokens`: OpenAI, whose newer models reject the other name.
    MaxCompletionTokens,
    /// `max_tokens`: all others, some of which know only this name.
    MaxTokens,
}

impl LengthField {
    /// The expected name for the server at this host.
    fn at(host: &str) -> Self {
        let is = |domain: &str| host == domain || host.ends_with(&format!(".{domain}"));
        if is("openai.com") || is("openai.azure.com") {
            Self::MaxCompletionTokens
        } else {
            Self::MaxTokens
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::MaxCompletionTokens => "max_completion_tokens",
            Self::MaxTokens => "max_tokens",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::MaxCompletionTokens => Self::MaxTokens,
            Self::MaxTokens => Self::MaxCompletionTokens,
        }
    }
}

/// The name in use, and whether the server has rejected the other one.
#[derive(Debug)]
struct LearntLength(Mutex<(LengthField, Tried)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    One,
    Both,
}

impl LearntLength {
    /// Starts with this name.
    fn begin(field: LengthField) -> Self {
        Self(Mutex::new((field, Tried::One)))
    }

    /// Returns the name in use.
    fn field(&self) -> LengthField {
        self.known().0
    }

    /// Learns from a rejection and returns whether to repeat the request with another name. The name changes once: if the
    /// server knows neither, the limit is left out. Concurrent requests with the old name are repeated too.
    fn learns(&self, refusal: &Failure, refused: &WireRequest) -> bool {
        if refusal.unknown_field(&refused.optional) != Some(RequestField::MaxTokens) {
            return false;
        }
        let mut known = self.known();
        let (field, tried) = *known;
        if !refused.body.contains_key(field.name()) {
            return true;
        }
        *known = (field.other(), Tried::Both);
        if tried == Tried::Both {
            // Both names were rejected: the caller leaves the limit out.
            return false;
        }
        tracing::info!(
            from = field.name(),
            to = field.other().name(),
            "the server uses another name for the length limit"
        );
        true
    }

    fn known(&self) -> MutexGuard<'_, (LengthField, Tried)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The keywords that a strict schema may have.
const KNOWN: [&str; 14] = [
    "type",
    "title",
    "description",
    "enum",
    "const",
    "properties",
    "required",
    "additionalProperties",
    "items",
    "anyOf",
    "$ref",
    "$defs",
    "definitions",
    "$schema",
];

/// The maximum depth of a strict schema.
const DEPTH: usize = 5;

/// Whether the server can enforce the schema strictly. Every object must require all of its properties and allow no
/// others, and only keywords that servers accept may occur. If in doubt, the result is `false`: the schema then only
/// guides the model, and the request does not fail.
pub(super) fn may_be_strict(schema: &Value) -> bool {
    schema.get("type").is_some_and(|kind| kind == "object") && is_strict(schema, DEPTH)
}

fn is_strict(schema: &Value, depth: usize) -> bool {
    let (Some(fields), Some(depth)) = (schema.as_object(), depth.checked_sub(1)) else {
        return false;
    };
    let all = |name: &str| match fields.get(name) {
        None => true,
        Some(Value::Object(parts)) => parts.values().all(|part| is_strict(part, depth)),
        Some(Value::Array(parts)) => parts.iter().all(|part| is_strict(part, depth)),
        Some(_) => false,
    };
    fields.keys().all(|name| KNOWN.contains(&name.as_str()))
        && ["properties", "anyOf", "$defs", "definitions"]
            .into_iter()
            .all(all)
        && fields
            .get("items")
            .is_none_or(|items| is_strict(items, depth))
        && (!is_object(schema) || is_closed(schema))
}

fn is_object(schema: &Value) -> bool {
    let is = |kind: &Value| kind == "object";
    let kind = schema.get("type");
    kind.is_some_and(|kind| is(kind) || kind.as_array().is_some_and(|kinds| kinds.iter().any(is)))
        || schema.get("properties").is_some()
}

fn is_closed(schema: &Value) -> bool {
    let properties = schema.get("properties").and_then(Value::as_object);
    let required = schema.get("required").and_then(Value::as_array);
    let is_required =
        |name: &String| required.is_some_and(|names| names.iter().any(|one| one == name));
    schema.get("additionalProperties") == Some(&Value::Bool(false))
        && properties.is_none_or(|properties| properties.keys().all(is_required))
}

#[cfg(test)]
mod tests;
