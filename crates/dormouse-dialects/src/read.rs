//! From a reply to what it holds.

mod printed;

use dormouse_contracts::{ChatReply, FinishReason, RequestField, ToolCall};
use serde_json::Value;

use crate::{
    Content, Oddity, ReadCall, Reading, Signs, ToolCalling,
    text::{self, Effort, Found},
    thoughts::{self, Opening},
};
use printed::{Beginning, Text};

/// How many native calls of one reply are taken; every one of them is answered, made or not.
pub const NATIVE_CALLS_LIMIT: usize = 128;

/// Reads a reply. `offered` tells whether a tool of that name was offered to the model, in whatever way.
///
/// Native calls come first, whatever they name. Where there are none, a call may stand in the text:
///
/// - With [`ToolCalling::Native`] only in a text that is nothing but calls and what models put around them, and only
///   if all of them name tools that were offered. What such a model quotes is never a call, nor is what it thinks.
/// - With [`ToolCalling::Fallback`], which asks for calls in the text, the first one anywhere in it; all of them where it
///   is nothing but calls. A form that means nothing else may name any tool, others only one that was offered.
///
/// Pure. Takes time in proportion to the length of the reply, whatever is in it, and nests no deeper than JSON is read
/// (128 levels).
#[must_use]
pub fn read(reply: &ChatReply, calling: ToolCalling, offered: impl Fn(&str) -> bool) -> Reading {
    let reader = Reader {
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
        signs.add(Oddity::ToolsLeftOut);
    }
    if reply.tool_calls.is_empty() {
        reader.text(signs)
    } else {
        reader.native(signs)
    }
}

struct Reader<'r> {
    reply: &'r ChatReply,
    calling: ToolCalling,
    offered: &'r dyn Fn(&str) -> bool,
}

impl Reader<'_> {
    fn native(&self, mut signs: Signs) -> Reading {
        let calls = self.reply.tool_calls.iter().take(NATIVE_CALLS_LIMIT);
        let calls: Vec<_> = calls
            .map(|call| self.native_call(call, &mut signs))
            .collect();
        signs.native = self.reply.tool_calls.len();
        if calls.len() > 1 {
            signs.add(Oddity::SeveralCalls);
        }
        let split = thoughts::split(&self.reply.content);
        if split.opening == Opening::Tagged {
            signs.add(Oddity::PrintedThoughts);
        }
        Reading {
            content: Content::Calls(calls),
            thoughts: match split.opening {
                Opening::Tagged => split.thoughts.to_owned(),
                Opening::None | Opening::Missing => String::new(),
            },
            signs,
        }
    }

    fn native_call(&self, call: &ToolCall, signs: &mut Signs) -> ReadCall {
        let arguments = match serde_json::from_str::<Value>(&call.arguments) {
            Ok(Value::String(inner)) if is_object(&inner) => {
                signs.add(Oddity::DoubleEncoded);
                inner
            }
            Err(error) if error.is_eof() && !call.arguments.trim().is_empty() => {
                signs.add(Oddity::CutArguments);
                call.arguments.clone()
            }
            Ok(_) | Err(_) => call.arguments.clone(),
        };
        ReadCall {
            id: Some(call.id.clone()),
            name: self.name(&call.name, signs),
            arguments,
        }
    }

    /// The name of a tool without what a model's own format leaves around it, if there is such a tool only then.
    fn name(&self, name: &str, signs: &mut Signs) -> String {
        if (self.offered)(name) {
            return name.to_owned();
        }
        let bare = name.split_once("<|").map_or(name, |(bare, _)| bare).trim();
        let bare = bare.strip_prefix("functions.").unwrap_or(bare);
        if bare != name && (self.offered)(bare) {
            signs.add(Oddity::MendedName);
            return bare.to_owned();
        }
        name.to_owned()
    }

    fn text(&self, mut signs: Signs) -> Reading {
        let mut effort = Effort::on(&self.reply.content);
        let text = match text::channels(&self.reply.content, &mut effort) {
            Some(channels) => self.channelled(channels, &mut signs),
            None => self.plain(&mut effort, &mut signs),
        };
        if text.calls.is_empty() {
            self.look_into_thoughts(&text.thoughts, &mut signs);
        }
        let content = self.content(&text, &mut signs);
        Reading {
            content,
            thoughts: text.thoughts,
            signs,
        }
    }

    fn content(&self, text: &Text, signs: &mut Signs) -> Content {
        if !text.calls.is_empty() {
            return Content::Calls(self.printed(&text.calls, signs));
        }
        let is_empty = text.said.is_empty() && text.beginning != Beginning::Ruins;
        let is_fallback = self.calling == ToolCalling::Fallback;
        let is_begun = is_fallback || is_empty || text.beginning != Beginning::Words;
        let has_thoughts = !text.thoughts.is_empty() || !self.reply.reasoning.trim().is_empty();
        match self.reply.finish {
            FinishReason::ContentFilter if is_begun => Content::Filtered,
            FinishReason::Length if is_begun => Content::CutOff,
            _ if is_empty && has_thoughts => Content::ThoughtsOnly,
            _ if is_empty => Content::Empty,
            _ if is_fallback || text.beginning == Beginning::Ruins => Content::Unreadable,
            FinishReason::Length | FinishReason::ContentFilter => {
                Content::ClippedText(text.said.clone())
            }
            _ => Content::Text(text.said.clone()),
        }
    }

    fn printed(&self, calls: &[Found], signs: &mut Signs) -> Vec<ReadCall> {
        note_form(calls, signs);
        signs.printed = calls.len();
        if calls.len() > 1 {
            signs.add(Oddity::SeveralCalls);
        }
        let calls = calls.iter().map(|found| {
            found.oddities.iter().for_each(|oddity| signs.add(*oddity));
            let mut call = found.call.clone();
            call.name = self.name(&call.name, signs);
            call
        });
        calls.collect()
    }
}

fn note_form(calls: &[Found], signs: &mut Signs) {
    signs.form = signs.form.or(calls.first().map(|found| found.form));
}

fn is_object(text: &str) -> bool {
    matches!(serde_json::from_str::<Value>(text), Ok(Value::Object(_)))
}
