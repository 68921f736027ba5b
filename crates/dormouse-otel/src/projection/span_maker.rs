//! The span of one event, with its attributes.

use std::time::Duration;

use dormouse_contracts::{
    ChatReply, FinishReason, ModelErrorKind, ModelName, Seq, Timestamp, Usage,
};
use dormouse_text::beginning_bytes;
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::SpanContent;
use crate::span::{Life, Span, SpanValue};

/// The longest name, in bytes. A model may invent the name of a tool.
pub(super) const LONGEST_NAME: usize = 128;
/// The longest text of an attribute, in bytes.
const LONGEST_TEXT: usize = 1_024;
/// The longest content of an attribute, in bytes. Longer content is left out, because the beginning of a JSON text is not JSON.
const LONGEST_CONTENT: usize = 32 * 1024;

pub(super) const OPERATION: &str = "gen_ai.operation.name";
pub(super) const AGENT: &str = "gen_ai.agent.name";
/// The place in the log.
pub(super) const PLACE: &str = "dormouse.log.seq";

/// What is known about a call of a model.
#[derive(Default)]
pub(super) struct ModelCall<'a> {
    pub(super) model: Option<&'a ModelName>,
    /// What the provider counted.
    pub(super) usage: Option<&'a Usage>,
    /// What the engine counted: the prompt and the reply.
    pub(super) counted: Option<(u32, u32)>,
    pub(super) duration_ms: f64,
    pub(super) purpose: &'a str,
    pub(super) prompt_hash: Option<&'a str>,
}

/// Makes the span of one event.
pub(super) struct SpanMaker<'a> {
    pub(super) life: &'a Life,
    pub(super) content: SpanContent,
    pub(super) trace: [u8; 16],
    pub(super) parent: Option<[u8; 8]>,
    pub(super) earliest: Timestamp,
    pub(super) seq: Seq,
    pub(super) at: Timestamp,
}

impl SpanMaker<'_> {
    /// A span from this time to the event.
    pub(super) fn between(
        &self,
        since: Timestamp,
        operation: &'static str,
        name: &str,
        is_call: bool,
    ) -> Span {
        // The clock may have been set back.
        let began_at = since.max(self.earliest).min(self.at);
        let mut span = Span {
            trace: self.trace,
            id: self.life.span(self.seq, operation),
            parent: self.parent,
            name: name.to_owned(),
            is_call,
            began_at,
            ended_at: self.at,
            attributes: Vec::new(),
            error: None,
        };
        span.note(OPERATION, operation);
        span.note(AGENT, self.life.key.as_str());
        span.note(PLACE, self.seq.0);
        span
    }

    pub(super) fn tool(&self, since: Timestamp, tool: &str, call: &str) -> Span {
        let tool = beginning_bytes(tool, LONGEST_NAME);
        let name = format!("execute_tool {tool}");
        let mut span = self.between(since, "execute_tool", &name, false);
        span.note("gen_ai.tool.name", tool);
        span.note("gen_ai.tool.type", "function");
        span.note("gen_ai.tool.call.id", beginning_bytes(call, LONGEST_NAME));
        span
    }

    pub(super) fn failed(&self, call: &ModelCall<'_>, kind: ModelErrorKind) -> Span {
        let mut span = self.chat(call, None);
        span.fail(word(&kind));
        span
    }

    pub(super) fn chat(&self, call: &ModelCall<'_>, reply: Option<&ChatReply>) -> Span {
        let info = reply.and_then(|reply| reply.info.as_deref());
        let asked = info.map(|info| &info.model).or(call.model);
        let asked = asked.map(|model| beginning_bytes(model.as_str(), LONGEST_NAME));
        let name = asked.map_or("chat".to_owned(), |model| format!("chat {model}"));
        let mut span = self.between(before(self.at, call.duration_ms), "chat", &name, true);
        span.note("dormouse.purpose", call.purpose);
        if let Some(asked) = asked {
            span.note("gen_ai.request.model", asked);
        }
        if let Some(info) = info {
            span.note("gen_ai.provider.name", info.provider.as_str());
            if let Some(id) = &info.request_id {
                span.note("gen_ai.response.id", id.as_str());
            }
        }
        let served = info.and_then(|info| info.served_model.as_deref());
        if let Some(served) = served.or(call.model.map(ModelName::as_str)) {
            span.note("gen_ai.response.model", served);
        }
        let [prompt, output] = ["gen_ai.usage.input_tokens", "gen_ai.usage.output_tokens"];
        match (call.usage, call.counted) {
            (Some(usage), _) => {
                span.note(prompt, usage.prompt_tokens);
                span.note(output, usage.completion_tokens);
                let parts = [
                    ("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens),
                    (
                        "gen_ai.usage.cache_write.input_tokens",
                        usage.cache_write_tokens,
                    ),
                    (
                        "gen_ai.usage.reasoning.output_tokens",
                        usage.reasoning_tokens,
                    ),
                ];
                for (name, tokens) in parts.into_iter().filter(|(_, tokens)| *tokens > 0) {
                    span.note(name, tokens);
                }
                if let Some(cost) = usage.cost {
                    span.note("dormouse.cost_usd", SpanValue::Real(cost.dollars()));
                }
            }
            (None, Some((prompt_tokens, tokens))) => {
                span.note(prompt, prompt_tokens);
                span.note(output, tokens);
                span.note("dormouse.usage.is_estimated", SpanValue::Flag(true));
            }
            (None, None) => {}
        }
        if let Some(hash) = call.prompt_hash {
            span.note("dormouse.prompt_hash", hash);
        }
        if let Some(reply) = reply {
            let finish = finish_word(&reply.finish);
            span.note("dormouse.reply_digest", digest(reply));
            if self.content == SpanContent::Words {
                span.hold("gen_ai.output.messages", &messages(reply, &finish));
            }
            let reasons = SpanValue::Texts(vec![finish]);
            span.note("gen_ai.response.finish_reasons", reasons);
        }
        span
    }
}

impl Span {
    pub(super) fn note(&mut self, name: &'static str, value: impl Into<SpanValue>) {
        let value = match value.into() {
            SpanValue::Text(text) if text.len() > LONGEST_TEXT => {
                beginning_bytes(&text, LONGEST_TEXT).into()
            }
            value => value,
        };
        self.attributes.push((name, value));
    }

    /// Adds content, if it is not too long.
    pub(super) fn hold(&mut self, name: &'static str, content: &str) {
        match content.len() <= LONGEST_CONTENT {
            true => self.attributes.push((name, content.into())),
            false => self.note("dormouse.content.left_out", SpanValue::Flag(true)),
        }
    }

    pub(super) fn fail(&mut self, why: String) {
        self.note("error.type", why.as_str());
        self.error = Some(why);
    }
}

/// This many milliseconds earlier.
fn before(at: Timestamp, duration_ms: f64) -> Timestamp {
    let took = Duration::try_from_secs_f64(duration_ms / 1_000.0).unwrap_or_default();
    let took = i64::try_from(took.as_micros()).unwrap_or(i64::MAX);
    Timestamp::from_micros(at.as_micros().saturating_sub(took))
}

/// The first 16 hexadecimal digits of the SHA-256 of the words of a reply.
fn digest(reply: &ChatReply) -> String {
    let hash = Sha256::digest(reply.content.as_bytes());
    hash.iter()
        .take(8)
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// A reply in the form of the conventions.
fn messages(reply: &ChatReply, finish: &str) -> String {
    let text =
        (!reply.content.is_empty()).then(|| json!({"type": "text", "content": reply.content}));
    let calls = reply.tool_calls.iter().map(|call| {
        json!({"type": "tool_call", "id": call.id, "name": call.name, "arguments": call.arguments})
    });
    let parts: Vec<_> = text.into_iter().chain(calls).collect();
    json!([{"role": "assistant", "parts": parts, "finish_reason": finish}]).to_string()
}

fn finish_word(finish: &FinishReason) -> String {
    match finish {
        FinishReason::Stop => "stop".to_owned(),
        FinishReason::ToolCalls => "tool_calls".to_owned(),
        FinishReason::Length => "length".to_owned(),
        FinishReason::ContentFilter => "content_filter".to_owned(),
        FinishReason::Other(other) => beginning_bytes(other, LONGEST_NAME).to_owned(),
        // One that the contracts know and this crate does not.
        _ => "other".to_owned(),
    }
}

/// The word by which the log names the variant of a value, without the data in it.
pub(super) fn word(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        Ok(serde_json::Value::Object(fields)) => fields
            .into_iter()
            .next()
            .map_or("other".to_owned(), |(word, _)| word),
        _ => "other".to_owned(),
    }
}
