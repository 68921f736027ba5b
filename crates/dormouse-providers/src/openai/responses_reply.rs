//! Decodes OpenAI's Responses events into a reply.
//!
//! Fields of an unexpected type count as absent.

use dormouse_contracts::FinishReason;
use serde::Deserialize;
use serde_json::Value;

use crate::{
    http::{ErrorBody, Failure},
    stream::{self, Decoder, Draft, Event, TokenCounts, or_default},
};

/// Decodes the events of a response. The API repeats content: in fragments, as a whole item, and in the whole response
/// at the end. Content that arrived in fragments is not passed on again.
#[derive(Debug, Default)]
pub(super) struct ResponsesDecoder {
    calls: Vec<Call>,
    /// Whether any text has arrived.
    has_text: bool,
}

/// A tool call that has begun.
#[derive(Debug)]
struct Call {
    output_index: Option<u64>,
    item_id: Option<String>,
    call_id: Option<String>,
    /// Whether any of its arguments have arrived.
    has_arguments: bool,
}

impl Decoder for ResponsesDecoder {
    fn take(&mut self, event: Event<'_>, draft: &mut Draft) -> Result<(), Failure> {
        if event.data == b"[DONE]" {
            draft.close();
            return Ok(());
        }
        let read = draft.parse::<ResponsesEvent>(event.data)?;
        // Some servers name the event only in the `event:` line, and not in the data.
        let kind = if read.kind.is_empty() {
            event.name.to_owned()
        } else {
            read.kind.clone()
        };
        self.event(&kind, read, event.data, draft)
    }

    fn whole(&mut self, body: &[u8], draft: &mut Draft) -> Result<(), Failure> {
        let response = draft.parse::<Response>(body)?;
        let is_failure = matches!(response.status.as_deref(), Some("failed" | "cancelled"));
        if response.output.is_empty() && !is_failure {
            broken_off(body, draft)?;
            return Err(stream::no_reply(body, draft));
        }
        self.end("response.completed", response, draft)
    }
}

impl ResponsesDecoder {
    fn event(
        &mut self,
        kind: &str,
        event: ResponsesEvent,
        data: &[u8],
        draft: &mut Draft,
    ) -> Result<(), Failure> {
        match kind {
            "response.output_text.delta" | "response.refusal.delta" => {
                self.text(event.delta.unwrap_or_default(), draft)
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                draft.reasoning(event.delta.unwrap_or_default())
            }
            "response.output_item.added" => match event.item.filter(Item::is_call) {
                Some(item) => self.begin(event.output_index, &item, draft).map(drop),
                None => Ok(()),
            },
            "response.function_call_arguments.delta" => self.arguments(&event, draft),
            "response.function_call_arguments.done" => self.whole_arguments(&event, draft),
            "response.output_item.done" => match event.item {
                Some(item) => self.item(event.output_index, item, draft),
                None => Ok(()),
            },
            "response.created" | "response.in_progress" | "response.queued" => {
                identify(&event.response.unwrap_or_default(), draft);
                Ok(())
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => self.end(kind, event.response.unwrap_or_default(), draft),
            "error" => Err(Failure::BrokenOff(ErrorBody::read(data, draft.redact()))),
            "" => broken_off(data, draft),
            _ => Ok(()),
        }
    }

    fn text(&mut self, text: String, draft: &mut Draft) -> Result<(), Failure> {
        self.has_text |= !text.is_empty();
        draft.text(text)
    }

    /// Returns the call of an item, and starts it if it is new.
    fn begin(
        &mut self,
        output_index: Option<u64>,
        item: &Item,
        draft: &mut Draft,
    ) -> Result<usize, Failure> {
        let (item_id, call_id) = (known(&item.id), known(&item.call_id));
        // Some servers give every call the same id: a different place and item make it a different call.
        let is_elsewhere = |call: &Call| {
            differ(call.output_index.as_ref(), output_index.as_ref())
                && differ(call.item_id.as_ref(), item_id.as_ref())
        };
        let is_it = |call: &Call| {
            (call_id.is_some() && call.call_id == call_id && !is_elsewhere(call))
                || (call_id.is_none() || call.call_id.is_none())
                    && (call.output_index.is_some() && call.output_index == output_index
                        || call.item_id.is_some() && call.item_id == item_id)
        };
        if let Some(index) = self.calls.iter().position(is_it) {
            return Ok(index);
        }
        let name = known(&item.name).ok_or(Failure::NamelessCall)?;
        let id = call_id.clone().or_else(|| item_id.clone());
        let index = draft.begin_call(id.as_deref().unwrap_or_default(), name)?;
        self.calls.push(Call {
            output_index,
            item_id,
            call_id,
            has_arguments: false,
        });
        Ok(index)
    }

    /// Returns the call of an event: by its item, by its place in the output, or the last one if the event names neither.
    fn call(&self, event: &ResponsesEvent) -> Option<usize> {
        let item_id = known(&event.item_id);
        let by_item =
            |call: &Call| item_id.is_some() && (call.item_id == item_id || call.call_id == item_id);
        let by_place =
            |call: &Call| event.output_index.is_some() && call.output_index == event.output_index;
        let found = self.calls.iter().rposition(by_item);
        let found = found.or_else(|| self.calls.iter().rposition(by_place));
        let says_nothing = item_id.is_none() && event.output_index.is_none();
        found.or_else(|| self.calls.len().checked_sub(1).filter(|_| says_nothing))
    }

    fn arguments(&mut self, event: &ResponsesEvent, draft: &mut Draft) -> Result<(), Failure> {
        let fragment = event.delta.clone().unwrap_or_default();
        if fragment.is_empty() {
            return Ok(());
        }
        let index = self.call(event).ok_or(Failure::NamelessCall)?;
        self.fragment(index, fragment, draft)
    }

    /// Reads the complete arguments, which count only if no fragment arrived before.
    fn whole_arguments(
        &mut self,
        event: &ResponsesEvent,
        draft: &mut Draft,
    ) -> Result<(), Failure> {
        match self.call(event) {
            Some(index) => self.all_arguments(index, event.arguments.clone(), draft),
            None => Ok(()),
        }
    }

    fn all_arguments(
        &mut self,
        index: usize,
        arguments: Option<String>,
        draft: &mut Draft,
    ) -> Result<(), Failure> {
        let has_arguments = self.calls.get(index).is_some_and(|call| call.has_arguments);
        match arguments.filter(|_| !has_arguments) {
            Some(arguments) => self.fragment(index, arguments, draft),
            None => Ok(()),
        }
    }

    fn fragment(
        &mut self,
        index: usize,
        fragment: String,
        draft: &mut Draft,
    ) -> Result<(), Failure> {
        if let Some(call) = self.calls.get_mut(index) {
            call.has_arguments |= !fragment.is_empty();
        }
        draft.arguments(index, fragment)
    }

    /// Reads a complete item, and passes on what has not arrived in fragments.
    fn item(
        &mut self,
        output_index: Option<u64>,
        item: Item,
        draft: &mut Draft,
    ) -> Result<(), Failure> {
        if item.is_call() {
            let index = self.begin(output_index, &item, draft)?;
            return self.all_arguments(index, item.arguments, draft);
        }
        if item.kind != "message" || self.has_text {
            return Ok(());
        }
        let parts = item.content.into_iter();
        let texts = parts.flat_map(|part| [part.text, part.refusal]).flatten();
        self.text(texts.collect(), draft)
    }

    fn end(&mut self, kind: &str, response: Response, draft: &mut Draft) -> Result<(), Failure> {
        identify(&response, draft);
        if let Some(usage) = &response.usage {
            draft.count(counts(usage));
        }
        let status = known(&response.status);
        let status = status.as_deref().or_else(|| kind.strip_prefix("response."));
        if let Some("failed" | "cancelled") = status {
            return Err(draft.broken_off(&response.error.unwrap_or_default()));
        }
        for (place, item) in (0..).zip(response.output) {
            self.item(Some(place), item, draft)?;
        }
        draft.finish(self.reason(status, response.incomplete_details.as_ref()));
        draft.close();
        Ok(())
    }

    fn reason(&self, status: Option<&str>, details: Option<&Value>) -> FinishReason {
        let details = details.and_then(|details| details.get("reason"));
        match (status, details.and_then(Value::as_str)) {
            (Some("incomplete"), Some("content_filter")) => FinishReason::ContentFilter,
            (Some("incomplete"), Some("max_output_tokens") | None) => FinishReason::Length,
            (Some("incomplete"), Some(other)) => FinishReason::Other(other.to_owned()),
            _ if self.calls.is_empty() => FinishReason::Stop,
            _ => FinishReason::ToolCalls,
        }
    }
}

impl Item {
    fn is_call(&self) -> bool {
        self.kind == "function_call"
    }
}

/// Whether both are known and different.
fn differ<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
    one.is_some() && other.is_some() && one != other
}

/// Returns the text if it is not empty.
fn known(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.is_empty())
}

fn identify(response: &Response, draft: &mut Draft) {
    draft.served_by(response.model.as_deref().unwrap_or_default());
    draft.request_id(response.id.as_deref().unwrap_or_default());
}

/// Returns the error in an event without a type, as gateways send it.
fn broken_off(data: &[u8], draft: &Draft) -> Result<(), Failure> {
    let json: Value = serde_json::from_slice(data).unwrap_or_default();
    match json.get("error").filter(|error| !error.is_null()) {
        Some(error) => Err(draft.broken_off(error)),
        None => Ok(()),
    }
}

fn counts(usage: &Value) -> TokenCounts {
    let tokens = |path: &str| TokenCounts::tokens(usage.pointer(path));
    TokenCounts {
        prompt: tokens("/input_tokens"),
        completion: tokens("/output_tokens"),
        cached: tokens("/input_tokens_details/cached_tokens"),
        cache_write: tokens("/input_tokens_details/cache_write_tokens"),
        reasoning: tokens("/output_tokens_details/reasoning_tokens"),
        cost: TokenCounts::dollars(usage.get("cost")),
    }
}

/// One event.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ResponsesEvent {
    #[serde(rename = "type", deserialize_with = "or_default")]
    kind: String,
    #[serde(deserialize_with = "or_default")]
    output_index: Option<u64>,
    #[serde(deserialize_with = "or_default")]
    item_id: Option<String>,
    /// A fragment of a text or of arguments.
    #[serde(deserialize_with = "or_default")]
    delta: Option<String>,
    /// The complete arguments.
    #[serde(deserialize_with = "or_default")]
    arguments: Option<String>,
    #[serde(deserialize_with = "or_default")]
    item: Option<Item>,
    #[serde(deserialize_with = "or_default")]
    response: Option<Response>,
}

/// An item of the output.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Item {
    #[serde(rename = "type", deserialize_with = "or_default")]
    kind: String,
    #[serde(deserialize_with = "or_default")]
    id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    call_id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    name: Option<String>,
    #[serde(deserialize_with = "or_default")]
    arguments: Option<String>,
    #[serde(deserialize_with = "or_default")]
    content: Vec<Part>,
}

/// A part of a message.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Part {
    #[serde(deserialize_with = "or_default")]
    text: Option<String>,
    #[serde(deserialize_with = "or_default")]
    refusal: Option<String>,
}

/// The response as a whole.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Response {
    #[serde(deserialize_with = "or_default")]
    id: Option<String>,
    #[serde(deserialize_with = "or_default")]
    model: Option<String>,
    #[serde(deserialize_with = "or_default")]
    status: Option<String>,
    #[serde(deserialize_with = "or_default")]
    usage: Option<Value>,
    error: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    incomplete_details: Option<Value>,
    #[serde(deserialize_with = "or_default")]
    output: Vec<Item>,
}

#[cfg(test)]
mod tests;
