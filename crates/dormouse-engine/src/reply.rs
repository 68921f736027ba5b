//! What a model's reply is to the assistant: calls, words to be said, or nothing that can be acted on.
//!
//! What a reply holds is read by `dormouse-dialects`; here is decided where words go.

use dormouse_contracts::{ChatReply, SourceKind};
use dormouse_dialects::{Content, read as read_reply};
use serde_json::{Value, json};

use crate::{config::ToolCalling, event::NOOP, state::Heard};

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
const ONLY_THOUGHTS: &str = "Your last reply held nothing but thoughts, which nobody hears, and nothing of what you thought of \
                             was done. Call one of the tools; call noop if there is nothing to do.";
const NO_OBJECT: &str = "Your last reply held no tool call. Reply with nothing but one JSON object of the form \
                         {\"tool\": \"…\", \"parameters\": {…}, \"reasoning\": \"…\"}.";
const BROKEN: &str = "Your last reply held a tool call that could not be read, and nothing was done. Call the tool once more.";
const TOO_LONG: &str = "Your last reply reached the greatest length a reply may have before it held a whole call. \
                        Be brief.";
const FILTERED: &str = "Your last reply was taken away by a content filter, and nobody heard it. Say something else, \
                        or call noop.";

/// Reads the calls of a reply. `is_tool` tells whether there is a tool of that name.
///
/// What is a call is decided by [`dormouse_dialects::read()`]: what a model with native tool calling only quotes is none, and
/// neither is what it was made to repeat, word for word, by the message it answers. Other plain text of such a model is taken as
/// said, by the way it was spoken to.
pub(crate) fn read(
    reply: &ChatReply,
    form: ToolCalling,
    trigger: &Heard,
    is_tool: impl Fn(&str) -> bool,
) -> Reading {
    let said = |text: &str| Reading::Calls(vec![spoken(text, trigger, &is_tool)]);
    let repeated = || repeats(&reply.content, trigger.perception.words.as_claimed());
    match read_reply(reply, form, &is_tool).content {
        Content::Calls(_)
            if form == ToolCalling::Native && reply.tool_calls.is_empty() && repeated() =>
        {
            said(reply.content.trim())
        }
        Content::Calls(calls) => {
            let calls = calls.into_iter().map(|call| RawCall {
                name: call.name,
                arguments: call.arguments,
            });
            Reading::Calls(calls.collect())
        }
        Content::Text(text) => said(&text),
        Content::ClippedText(text) => said(&format!("{text}{CUT_OFF}")),
        Content::ThoughtsOnly => Reading::Unreadable(ONLY_THOUGHTS),
        Content::Empty => Reading::Unreadable(EMPTY),
        Content::CutOff => Reading::Unreadable(TOO_LONG),
        Content::Filtered => Reading::Unreadable(FILTERED),
        _ if form == ToolCalling::Fallback => Reading::Unreadable(NO_OBJECT),
        _ => Reading::Unreadable(BROKEN),
    }
}

/// Does a reply say nothing but what stands in the message it answers? White space does not count.
fn repeats(reply: &str, message: &str) -> bool {
    let letters = |text: &str| -> String { text.split_whitespace().collect() };
    letters(message).contains(&letters(reply))
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
