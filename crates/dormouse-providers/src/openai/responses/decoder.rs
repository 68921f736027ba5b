//! From the events of OpenAI's Responses to the pieces of a reply.

use dormouse_contracts::FinishReason;
use dormouse_text::beginning;
use serde_json::Value;

use super::event::{Item, Response, ResponsesEvent};
use crate::{
    http::{Complaint, Failure},
    stream::{self, Counts, Decoder, Draft, Event},
};

/// Reads the events of a response. Each thing is told several times, in pieces, whole, and within the whole response at
/// the end; what has been told in pieces is not told again.
#[derive(Debug, Default)]
pub(in crate::openai) struct ResponsesDecoder {
    calls: Vec<Call>,
    /// Has any of the text come?
    has_text: bool,
}

/// A tool call that has begun.
#[derive(Debug)]
struct Call {
    output_index: Option<u64>,
    item_id: Option<String>,
    call_id: Option<String>,
    /// Has any of its arguments come?
    has_arguments: bool,
}

impl Decoder for ResponsesDecoder {
    fn take(&mut self, event: Event<'_>, draft: &mut Draft) -> Result<(), Failure> {
        if event.data == b"[DONE]" {
            draft.close();
            return Ok(());
        }
        let read = stream::read::<ResponsesEvent>(event.data);
        let read = read.map_err(|error| draft.unreadable(&error.to_string()))?;
        // Some name the event in the frame alone.
        let kind = if read.kind.is_empty() {
            event.name.to_owned()
        } else {
            read.kind.clone()
        };
        self.event(&kind, read, event.data, draft)
    }

    fn whole(&mut self, body: &[u8], draft: &mut Draft) -> Result<(), Failure> {
        let response = stream::read::<Response>(body);
        let response = response.map_err(|error| draft.unreadable(&error.to_string()))?;
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
                told_by(&event.response.unwrap_or_default(), draft);
                Ok(())
            }
            "response.completed"
            | "response.incomplete"
            | "response.failed"
            | "response.cancelled" => self.end(kind, event.response.unwrap_or_default(), draft),
            "error" => Err(Failure::BrokenOff(Complaint::read(data, draft.redact()))),
            "" => broken_off(data, draft),
            _ => Ok(()),
        }
    }

    fn text(&mut self, text: String, draft: &mut Draft) -> Result<(), Failure> {
        self.has_text |= !text.is_empty();
        draft.text(text)
    }

    /// The call that the item is, which begins with it unless it has begun.
    fn begin(
        &mut self,
        output_index: Option<u64>,
        item: &Item,
        draft: &mut Draft,
    ) -> Result<usize, Failure> {
        let (item_id, call_id) = (known(&item.id), known(&item.call_id));
        // Some give every call the same id: another place and another item make it another call.
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

    /// Which call an event is about: the one at its place in the output, or of its item, or else the last one.
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

    /// All of the arguments, which count where none of them has come in pieces.
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

    /// A whole item; what has not come of it in pieces comes now.
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
        told_by(&response, draft);
        if let Some(usage) = &response.usage {
            draft.count(counts(usage));
        }
        let status = known(&response.status);
        let status = status.as_deref().or_else(|| kind.strip_prefix("response."));
        if let Some("failed" | "cancelled") = status {
            let error = response.error.unwrap_or_default();
            return Err(Failure::BrokenOff(Complaint::from_json(
                &error,
                draft.redact(),
            )));
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
            (Some("incomplete"), Some(other)) => {
                FinishReason::Other(beginning(other, 64).to_owned())
            }
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

/// Are both known, and not the same?
fn differ<T: PartialEq>(one: Option<&T>, other: Option<&T>) -> bool {
    one.is_some() && other.is_some() && one != other
}

/// The text, unless there is none in it.
fn known(text: &Option<String>) -> Option<String> {
    text.clone().filter(|text| !text.is_empty())
}

fn told_by(response: &Response, draft: &mut Draft) {
    draft.served_by(response.model.as_deref().unwrap_or_default());
    draft.request_id(response.id.as_deref().unwrap_or_default());
}

/// An event of no kind that holds an error, as gateways put it.
fn broken_off(data: &[u8], draft: &Draft) -> Result<(), Failure> {
    let json: Value = serde_json::from_slice(data).unwrap_or_default();
    match json.get("error").filter(|error| !error.is_null()) {
        Some(error) => Err(Failure::BrokenOff(Complaint::from_json(
            error,
            draft.redact(),
        ))),
        None => Ok(()),
    }
}

fn counts(usage: &Value) -> Counts {
    let tokens = |path: &str| Counts::tokens(usage.pointer(path));
    Counts {
        prompt: tokens("/input_tokens"),
        completion: tokens("/output_tokens"),
        cached: tokens("/input_tokens_details/cached_tokens"),
        cache_write: tokens("/input_tokens_details/cache_write_tokens"),
        reasoning: tokens("/output_tokens_details/reasoning_tokens"),
        cost: Counts::dollars(usage.get("cost")),
    }
}

#[cfg(test)]
mod tests;
