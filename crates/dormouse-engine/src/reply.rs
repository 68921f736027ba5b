//! Reading tool calls out of a model's reply.

mod text;

use dormouse_contracts::{ChatReply, FinishReason, SourceKind};
use serde_json::{Value, json};

use crate::{config::ToolCalling, event::NOOP, state::Heard};

/// How many calls are looked for in a text.
const CALLS_LIMIT: usize = 8;
/// How many native calls of one reply are taken; every one of them is answered, made or not.
const NATIVE_CALLS_LIMIT: usize = 128;
/// What stands behind words that go on, though nobody knows how.
const CUT_OFF: &str = " …";

/// A call as it stood in a reply.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawCall {
    pub(crate) name: String,
    pub(crate) arguments: String,
}

/// What a reply holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Calls, in order.
    Calls(Vec<RawCall>),
    /// Nothing that can be acted on; the note tells the model why.
    Unreadable(&'static str),
}

const EMPTY: &str =
    "Your last reply was empty. Call one of the tools; call noop if there is nothing to do.";
const NO_OBJECT: &str = "Your last reply held no tool call. Reply with nothing but one JSON object of the form \
                         {\"tool\": \"…\", \"parameters\": {…}, \"reasoning\": \"…\"}.";
const TOO_LONG: &str = "Your last reply reached the greatest length a reply may have before it held a whole call. \
                        Be brief.";
const FILTERED: &str = "Your last reply was taken away by a content filter, and nobody heard it. Say something else, \
                        or call noop.";

/// Reads the calls of a reply. `is_tool` tells whether there is a tool of that name.
///
/// Native calls come first. Where there are none, a JSON object in the text that names a tool is a call: anywhere in
/// the text for models without tool calling, which are asked for it, and as the whole text for others, some of which
/// print their calls now and then; what they only quote is none. Other plain text of a model with native tool calling
/// is taken as said, by the way it was spoken to.
pub(crate) fn read(
    reply: &ChatReply,
    form: ToolCalling,
    trigger: &Heard,
    is_tool: impl Fn(&str) -> bool,
) -> Reading {
    if !reply.tool_calls.is_empty() {
        let calls = reply.tool_calls.iter().take(NATIVE_CALLS_LIMIT);
        let calls = calls.map(|call| RawCall {
            name: call.name.clone(),
            arguments: call.arguments.clone(),
        });
        return Reading::Calls(calls.collect());
    }
    let text = reply.content.trim();
    let printed = match form {
        ToolCalling::Fallback => text::embedded_call(text).map(|call| vec![call]),
        ToolCalling::Native => {
            text::printed_calls(text).filter(|calls| calls.iter().all(|call| is_tool(&call.name)))
        }
    };
    let is_begun = form == ToolCalling::Fallback || text.is_empty() || text::is_begun_call(text);
    match (printed, &reply.finish) {
        (Some(calls), _) => Reading::Calls(calls),
        (None, FinishReason::ContentFilter) if is_begun => Reading::Unreadable(FILTERED),
        (None, FinishReason::Length) if is_begun => Reading::Unreadable(TOO_LONG),
        (None, _) if text.is_empty() => Reading::Unreadable(EMPTY),
        (None, _) if form == ToolCalling::Fallback => Reading::Unreadable(NO_OBJECT),
        (None, FinishReason::Length | FinishReason::ContentFilter) => {
            let text = format!("{text}{CUT_OFF}");
            Reading::Calls(vec![spoken(&text, trigger, is_tool)])
        }
        (None, _) => Reading::Calls(vec![spoken(text, trigger, is_tool)]),
    }
}

/// Plain text as the call that says it by the way the assistant was spoken to.
///
/// What was said in private is never answered aloud, even where the world has no such tool: then the model is told
/// that there is none. What was said on a channel is for those on the channel; where nothing speaks there, nothing is
/// said, and the turn is at its end, since the model has given its answer and could not give it better.
fn spoken(text: &str, trigger: &Heard, is_tool: impl Fn(&str) -> bool) -> RawCall {
    let attested = &trigger.perception.attested;
    let to = attested.sender.name();
    match &attested.source {
        SourceKind::Whisper => call("whisper", &json!({"to": to, "message": text})),
        SourceKind::Page => call("page", &json!({"to": to, "message": text})),
        SourceKind::Channel(channel) if is_tool("channel") => call(
            "channel",
            &json!({"channel": channel.as_str(), "message": text}),
        ),
        SourceKind::Addressed
        | SourceKind::Say
        | SourceKind::Pose
        | SourceKind::Emit
        | SourceKind::CommandOutput => call("say", &json!({"message": text})),
        // Who hears an answer to a kind of source this version does not know cannot be told.
        _ => call(
            NOOP,
            &json!({"reason": "not said: there is no tool that speaks the way I was spoken to"}),
        ),
    }
}

fn call(name: &str, arguments: &Value) -> RawCall {
    RawCall {
        name: name.to_owned(),
        arguments: arguments.to_string(),
    }
}

#[cfg(test)]
mod tests;
