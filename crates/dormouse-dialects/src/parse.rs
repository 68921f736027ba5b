//! Parses a reply.

mod printed;

use dormouse_contracts::{ChatReply, FinishReason, RequestField, ToolCall};
use serde_json::Value;

use crate::{
    Anomaly, Content, ParsedCall, ParsedReply, Signs, ToolCalling,
    text::{self, PRINTED_CALLS_LIMIT, PrintedCall, ScanBudget},
    thoughts::{self, Opening},
};
use printed::{PlainTextKind, PrintedText};

/// The largest number of native calls per reply. Each of them gets a result, executed or not. Further ones are left
/// out, and counted in [`ParsedReply::left_out`].
pub const NATIVE_CALLS_LIMIT: usize = 128;

/// Parses a reply. `offered` says whether a tool of that name was offered to the model, natively or in the text.
///
/// Native calls come first, even of unknown tools. Without native calls, the text may contain printed calls:
///
/// - With [`ToolCalling::Native`], calls are accepted only if the text contains nothing but calls and the marks around
///   them, and if all of them name offered tools. Calls that such a model quotes or thinks about are never executed.
///
/// - With [`ToolCalling::Fallback`], which asks for calls in the text, the first call in the text is accepted, or all
///   calls if the text contains nothing else. A call in an unambiguous format may name any tool; a call in another
///   format must name an offered one.
///
/// Pure. Runs in time linear in the length of the reply, for any reply, with a recursion depth of at most 128.
#[must_use]
pub fn parse_reply(
    reply: &ChatReply,
    calling: ToolCalling,
    offered: impl Fn(&str) -> bool,
) -> ParsedReply {
    let reader = ReplyParser {
        reply,
        calling,
        offered: &offered,
    };
    let mut signs = Signs::default();
    let left_out = reply.info.iter().flat_map(|info| &info.left_out);
    if left_out
        .into_iter()
        .any(|field| *field == RequestField::Tools)
    {
        signs.add(Anomaly::ToolsLeftOut);
    }
    if reply.tool_calls.is_empty() {
        reader.text(signs)
    } else {
        reader.native(signs)
    }
}

/// Parses the first printed call among other words, in a reply of a model that was offered its tools natively. `None`
/// without such a call, and also if the reply was cut off or contains thoughts, because the call may be part of the
/// thoughts.
///
/// Such a call may be a quotation. Before a caller executes it, the caller must be sure that nobody wrote this call to
/// the model.
#[must_use]
pub fn call_among_words(reply: &ChatReply, offered: impl Fn(&str) -> bool) -> Option<ParsedReply> {
    let signs = parse_reply(reply, ToolCalling::Native, &offered).signs;
    let is_whole = matches!(reply.finish, FinishReason::Stop | FinishReason::ToolCalls);
    if !signs.has(Anomaly::QuotedCall) || signs.has(Anomaly::PrintedThoughts) || !is_whole {
        return None;
    }
    let read = parse_reply(reply, ToolCalling::Fallback, &offered);
    let is_offered = |call: &ParsedCall| offered(&call.name);
    match &read.content {
        Content::Calls(calls) if calls.iter().all(is_offered) => {
            let mut read = read;
            signs
                .anomalies
                .into_iter()
                .for_each(|it| read.signs.add(it));
            Some(read)
        }
        _ => None,
    }
}

struct ReplyParser<'r> {
    reply: &'r ChatReply,
    calling: ToolCalling,
    offered: &'r dyn Fn(&str) -> bool,
}

impl ReplyParser<'_> {
    fn native(&self, mut signs: Signs) -> ParsedReply {
        let calls = self.reply.tool_calls.iter().take(NATIVE_CALLS_LIMIT);
        let calls: Vec<_> = calls
            .map(|call| self.native_call(call, &mut signs))
            .collect();
        signs.native = self.reply.tool_calls.len();
        if calls.len() > 1 {
            signs.add(Anomaly::SeveralCalls);
        }
        let split = thoughts::split(&self.reply.content);
        if split.opening == Opening::Tagged {
            signs.add(Anomaly::PrintedThoughts);
        }
        ParsedReply {
            left_out: self.reply.tool_calls.len().saturating_sub(calls.len()),
            content: Content::Calls(calls),
            // Without an opening tag, the text before the closing one may be an answer that quotes the tag.
            thoughts: match split.opening {
                Opening::Tagged => split.thoughts.to_owned(),
                Opening::None | Opening::Missing => String::new(),
            },
            signs,
        }
    }

    fn native_call(&self, call: &ToolCall, signs: &mut Signs) -> ParsedCall {
        let arguments = match serde_json::from_str::<Value>(&call.arguments) {
            Ok(Value::String(inner)) if is_object(&inner) => {
                signs.add(Anomaly::DoubleEncoded);
                inner
            }
            Err(error) if error.is_eof() && !call.arguments.trim().is_empty() => {
                signs.add(Anomaly::CutArguments);
                call.arguments.clone()
            }
            Ok(_) | Err(_) => call.arguments.clone(),
        };
        ParsedCall {
            id: Some(call.id.clone()),
            name: self.name(&call.name, signs),
            arguments,
        }
    }

    /// The name of the called tool. Remains of the model's own format are removed if only the name without them was
    /// offered.
    fn name(&self, name: &str, signs: &mut Signs) -> String {
        if (self.offered)(name) {
            return name.to_owned();
        }
        let bare = name.split_once("<|").map_or(name, |(bare, _)| bare).trim();
        let bare = bare.strip_prefix("functions.").unwrap_or(bare);
        if bare != name && (self.offered)(bare) {
            signs.add(Anomaly::MendedName);
            return bare.to_owned();
        }
        name.to_owned()
    }

    fn text(&self, mut signs: Signs) -> ParsedReply {
        let mut budget = ScanBudget::on(&self.reply.content);
        let mut text = match text::channels(&self.reply.content, &mut budget) {
            Some(channels) => self.channelled(channels, &mut signs),
            None => self.plain(&mut budget, &mut signs),
        };
        if text.calls.is_empty() {
            self.look_into_thoughts(&text.thoughts, &mut signs);
        }
        // The text beyond the limit was parsed, too: prose there can turn all calls into quotations.
        let left_out = text.calls.len().saturating_sub(PRINTED_CALLS_LIMIT);
        text.calls.truncate(PRINTED_CALLS_LIMIT);
        let content = self.content(&text, &mut signs);
        ParsedReply {
            content,
            left_out,
            thoughts: text.thoughts,
            signs,
        }
    }

    fn content(&self, text: &PrintedText, signs: &mut Signs) -> Content {
        if !text.calls.is_empty() {
            return Content::Calls(self.printed(&text.calls, signs));
        }
        let is_empty = text.said.is_empty() && text.kind != PlainTextKind::BrokenCall;
        let is_fallback = self.calling == ToolCalling::Fallback;
        let is_begun = is_fallback || is_empty || text.kind != PlainTextKind::Words;
        let has_thoughts = !text.thoughts.is_empty() || !self.reply.reasoning.trim().is_empty();
        match self.reply.finish {
            FinishReason::ContentFilter if is_begun => Content::Filtered,
            FinishReason::Length if is_begun => Content::CutOff,
            _ if is_empty && has_thoughts => Content::ThoughtsOnly,
            _ if is_empty => Content::Empty,
            _ if is_fallback || text.kind == PlainTextKind::BrokenCall => Content::Unreadable,
            FinishReason::Length | FinishReason::ContentFilter => {
                Content::ClippedText(text.said.clone())
            }
            _ => Content::Text(text.said.clone()),
        }
    }

    fn printed(&self, calls: &[PrintedCall], signs: &mut Signs) -> Vec<ParsedCall> {
        note_form(calls, signs);
        signs.printed = calls.len();
        if calls.len() > 1 {
            signs.add(Anomaly::SeveralCalls);
        }
        let calls = calls.iter().map(|found| {
            found
                .anomalies
                .iter()
                .for_each(|anomaly| signs.add(*anomaly));
            let mut call = found.call.clone();
            call.name = self.name(&call.name, signs);
            call
        });
        calls.collect()
    }
}

fn note_form(calls: &[PrintedCall], signs: &mut Signs) {
    signs.form = signs.form.or(calls.first().map(|found| found.form));
}

fn is_object(text: &str) -> bool {
    matches!(serde_json::from_str::<Value>(text), Ok(Value::Object(_)))
}
