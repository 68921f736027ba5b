//! What a model's reply means to the assistant: calls, words to say, or nothing that it can act on.
//!
//! `dormouse-dialects` reads the content of a reply; this module decides where words go.

mod parts;
mod speech;

use dormouse_contracts::{ChatReply, SourceKind, ToolSpec};
use dormouse_dialects::{Anomaly, Content, ParsedCall, call_among_words, parse_reply};

use crate::{config::ToolCalling, state::Trigger};
use parts::CUT_OFF;
pub(crate) use speech::{in_parts, spoken};

/// A call as the reply contained it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RawCall {
    pub(crate) name: String,
    pub(crate) arguments: String,
    /// Whether it continues the speech of the call before it.
    pub(crate) continues: bool,
}

/// What a reply holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// Calls, in order, and how many more were left out.
    Calls {
        calls: Vec<RawCall>,
        left_out: usize,
    },
    /// Nothing that the assistant can act on; the note tells the model why.
    Unreadable(&'static str),
    /// Words for people on a channel that no tool can speak on. Asking the model again would not help.
    Unsayable,
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

const WRAPPED: &str = "Your last reply held a tool call among other words. Nothing was done, and nobody heard it. Call the \
                       tool itself, without words around the call.";
const NO_WAY: &str = "Nobody heard your last reply: no tool speaks the way you were spoken to. Call one of the tools.";

/// The note for a model whose reply held more calls than one reply may hold.
pub(crate) fn left_out_note(left_out: u32) -> String {
    format!(
        "({left_out} more calls of this reply were not done: one reply may not hold so many. Make those that are still \
         needed in your next reply.)"
    )
}

/// Reads the calls of a reply. `is_tool` says whether a tool has that name; `tools` are the tools that speak; `was_shown` says
/// whether somebody wrote this in what the model was shown.
///
/// [`dormouse_dialects::parse_reply`] decides what counts as a call. If a model with native tool calling repeats a call
/// word for word from the message it answers, that call is ignored. A call among other words is made, without the
/// words, if nobody wrote it to the model. If somebody other than the sender wrote it, the model is asked again. Other
/// plain text of such a model is said in the way it was spoken to, unless it contains the JSON of one of its tools.
pub(crate) fn read(
    reply: &ChatReply,
    form: ToolCalling,
    trigger: &Trigger,
    is_tool: impl Fn(&str) -> bool,
    tools: &[&ToolSpec],
    was_shown: impl Fn(&str) -> bool,
) -> Reading {
    let said = |text: &str| match speech::answer(text, trigger, tools) {
        Some(call) => Reading::Calls {
            calls: vec![call],
            left_out: 0,
        },
        None if is_on_channel(trigger) => Reading::Unsayable,
        None => Reading::Unreadable(NO_WAY),
    };
    let message = trigger.message().map_or("", |_| trigger.words());
    let repeated = || repeats(&reply.content, message);
    let read = parse_reply(reply, form, &is_tool);
    let is_wrapped = |text: &str| {
        read.signs.has(Anomaly::QuotedCall) && !repeats(between_brackets(text), message)
    };
    match &read.content {
        Content::Calls(_)
            if form == ToolCalling::Native && reply.tool_calls.is_empty() && repeated() =>
        {
            said(reply.content.trim())
        }
        Content::Calls(calls) => made(calls, read.left_out),
        Content::Text(text) | Content::ClippedText(text) if is_wrapped(text) => {
            among_words(reply, text, is_tool, was_shown)
        }
        Content::Text(text) if read.signs.has(Anomaly::BrokenCall) && names_a_tool(text, tools) => {
            Reading::Unreadable(BROKEN)
        }
        Content::Text(text) => said(text),
        Content::ClippedText(text) => said(&format!("{text}{CUT_OFF}")),
        Content::ThoughtsOnly => Reading::Unreadable(ONLY_THOUGHTS),
        Content::Empty => Reading::Unreadable(EMPTY),
        Content::CutOff => Reading::Unreadable(TOO_LONG),
        Content::Filtered => Reading::Unreadable(FILTERED),
        _ if form == ToolCalling::Fallback => Reading::Unreadable(NO_OBJECT),
        _ => Reading::Unreadable(BROKEN),
    }
}

fn made(calls: &[ParsedCall], left_out: usize) -> Reading {
    let calls = calls.iter().map(|call| RawCall {
        name: call.name.clone(),
        arguments: call.arguments.clone(),
        continues: false,
    });
    Reading::Calls {
        calls: calls.collect(),
        left_out,
    }
}

/// A call among other words. It is made, unless somebody wrote it, or its arguments, to the model.
fn among_words(
    reply: &ChatReply,
    text: &str,
    is_tool: impl Fn(&str) -> bool,
    was_shown: impl Fn(&str) -> bool,
) -> Reading {
    let Some(read) = call_among_words(reply, is_tool) else {
        return Reading::Unreadable(WRAPPED);
    };
    let is_quoted = |call: &ParsedCall| call.arguments.len() > 2 && was_shown(&call.arguments);
    match &read.content {
        Content::Calls(calls)
            if !was_shown(between_brackets(text)) && !calls.iter().any(is_quoted) =>
        {
            made(calls, read.left_out)
        }
        _ => Reading::Unreadable(WRAPPED),
    }
}

/// Whether a text contains the name of a tool as a JSON string.
fn names_a_tool(text: &str, tools: &[&ToolSpec]) -> bool {
    let names = tools.iter().map(|tool| format!("\"{}\"", tool.name));
    names.into_iter().any(|name| text.contains(&name))
}

/// Whether `other` contains `text`. White space and quotation marks are ignored.
pub(crate) fn is_written_in(text: &str, other: &str) -> bool {
    let letters = |text: &str| -> String {
        let letters = text.chars();
        letters
            .filter(|c| !c.is_whitespace() && !matches!(c, '>' | '\\'))
            .collect()
    };
    letters(other).contains(&letters(text))
}

fn is_on_channel(trigger: &Trigger) -> bool {
    let source = trigger.message().map(|it| &it.perception.attested.source);
    matches!(source, Some(SourceKind::Channel(_)))
}

/// The text from the first bracket to the last: the calls in it, and everything between them.
fn between_brackets(text: &str) -> &str {
    let start = text.find(['{', '[', '<']).unwrap_or(0);
    let end = text.rfind(['}', ']', '>']).map_or(text.len(), |at| at + 1);
    text.get(start..end).unwrap_or(text)
}

/// Whether a reply only repeats a part of the message it answers. White space is ignored.
fn repeats(reply: &str, message: &str) -> bool {
    let letters = |text: &str| -> String { text.split_whitespace().collect() };
    letters(message).contains(&letters(reply))
}

#[cfg(test)]
mod tests;
