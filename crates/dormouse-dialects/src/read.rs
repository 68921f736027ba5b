//! From a reply to what it holds.

use dormouse_contracts::{ChatReply, FinishReason, RequestField, ToolCall};
use serde_json::Value;

use crate::{
    Content, Oddity, ReadCall, Reading, Signs, ToolCalling,
    text::{self, Effort, Found},
    thoughts::{self, Opening},
};

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

/// What is known of the text of a reply before it is decided what the reply is.
struct Text {
    said: String,
    thoughts: String,
    calls: Vec<Found>,
    /// Whether the text begins as one that is nothing but calls.
    beginning: Beginning,
}

/// What is to be made of a text without a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Beginning {
    /// It is to be heard.
    Words,
    /// As far as it goes it may have become a call.
    Call,
    /// It is the ruins of a call, and nobody should hear that.
    Ruins,
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

    fn plain(&self, effort: &mut Effort, signs: &mut Signs) -> Text {
        let split = thoughts::split(&self.reply.content);
        if split.opening != Opening::None {
            signs.add(Oddity::PrintedThoughts);
        }
        let only = text::only_calls(split.text, effort);
        let beginning = match text::is_begun(split.text) {
            text::Beginning::Words => Beginning::Words,
            text::Beginning::Call | text::Beginning::MarkedCall => Beginning::Call,
        };
        let mut found = Text {
            said: split.text.to_owned(),
            thoughts: split.thoughts.to_owned(),
            calls: Vec::new(),
            beginning,
        };
        let is_all = only.is_some();
        match only {
            Some(calls) if calls.iter().all(|call| self.takes(call)) => {
                if self.may_act_behind(split.opening) {
                    found.calls = calls;
                } else {
                    found.beginning = Beginning::Ruins;
                }
                return found;
            }
            Some(calls) => note_form(&calls, signs),
            None => {}
        }
        let first = text::first_call(split.text, &mut Effort::on(split.text), &|found| {
            self.takes(found)
        });
        match (self.calling, first) {
            (ToolCalling::Fallback, Some(first)) => found.calls = vec![first],
            (ToolCalling::Native, Some(first)) => {
                signs.add(Oddity::QuotedCall);
                note_form(&[first], signs);
            }
            (_, None) if is_all => signs.add(Oddity::NotOffered),
            (_, None) => self.note_ruins(&mut found, signs),
        }
        found
    }

    /// A text that begins with the mark of a call and holds none is not for anybody's ears.
    fn note_ruins(&self, found: &mut Text, signs: &mut Signs) {
        if found.beginning != Beginning::Call {
            return;
        }
        let any = text::first_call(&found.said, &mut Effort::on(&found.said), &|_| true);
        if any.is_none() {
            signs.add(Oddity::BrokenCall);
            if text::is_begun(&found.said) == text::Beginning::MarkedCall {
                found.beginning = Beginning::Ruins;
            }
        }
    }

    /// Whether a call behind printed thoughts may be taken. Where these have no beginning, or the reply was cut off,
    /// what looks like their end may have been quoted in them.
    fn may_act_behind(&self, opening: Opening) -> bool {
        let is_whole = !matches!(
            self.reply.finish,
            FinishReason::Length | FinishReason::ContentFilter
        );
        match (self.calling, opening) {
            (ToolCalling::Fallback, _) | (_, Opening::None) => true,
            (ToolCalling::Native, Opening::Tagged) => is_whole,
            (ToolCalling::Native, Opening::Missing) => false,
        }
    }

    fn channelled(&self, channels: text::Channels, signs: &mut Signs) -> Text {
        let text::Channels {
            text: said,
            thoughts,
            calls,
            ending,
        } = channels;
        if !thoughts.is_empty() {
            signs.add(Oddity::PrintedThoughts);
        }
        let are_taken = match self.calling {
            ToolCalling::Native => ending == text::Ending::Call && said.is_empty(),
            ToolCalling::Fallback => true,
        };
        let mut beginning = Beginning::Words;
        let mut taken = Vec::new();
        if are_taken && !calls.is_empty() && calls.iter().all(|call| self.takes(call)) {
            taken = calls;
            taken.truncate(text::PRINTED_CALLS_LIMIT);
        } else {
            note_form(&calls, signs);
            if ending == text::Ending::Broken {
                signs.add(Oddity::BrokenCall);
                beginning = Beginning::Ruins;
            } else if !calls.is_empty() {
                let oddity = if said.is_empty() {
                    Oddity::NotOffered
                } else {
                    Oddity::QuotedCall
                };
                signs.add(oddity);
                beginning = if said.is_empty() {
                    Beginning::Ruins
                } else {
                    Beginning::Words
                };
            }
        }
        Text {
            said,
            thoughts,
            calls: taken,
            beginning,
        }
    }

    /// Whether a printed call is one that this model may make.
    fn takes(&self, found: &Found) -> bool {
        let name = found.call.name.as_str();
        let bare = name.strip_prefix("functions.").unwrap_or(name);
        let is_offered = (self.offered)(name) || (self.offered)(bare);
        match self.calling {
            ToolCalling::Native => is_offered,
            ToolCalling::Fallback => is_offered || found.certainty == text::Certainty::Explicit,
        }
    }

    fn look_into_thoughts(&self, printed: &str, signs: &mut Signs) {
        let is_call = |found: &Found| (self.offered)(&found.call.name);
        let holds_call = |thoughts: &str| {
            text::first_call(thoughts, &mut Effort::on(thoughts), &is_call).is_some()
        };
        if holds_call(printed) || holds_call(&self.reply.reasoning) {
            signs.add(Oddity::CallInThoughts);
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
