//! What a text without native calls holds.

use dormouse_contracts::FinishReason;

use super::{Reader, note_form};
use crate::{
    Oddity, Signs, ToolCalling,
    text::{self, Effort, Found},
    thoughts::{self, Opening},
};

/// What is known of the text of a reply before it is decided what the reply is.
pub(super) struct Text {
    pub(super) said: String,
    pub(super) thoughts: String,
    pub(super) calls: Vec<Found>,
    /// Whether the text begins as one that is nothing but calls.
    pub(super) beginning: Beginning,
}

/// What is to be made of a text without a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Beginning {
    /// It is to be heard.
    Words,
    /// As far as it goes it may have become a call.
    Call,
    /// It is the ruins of a call, and nobody should hear that.
    Ruins,
}

impl Reader<'_> {
    pub(super) fn plain(&self, effort: &mut Effort, signs: &mut Signs) -> Text {
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
        if found.beginning != Beginning::Call || found.said.is_empty() {
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

    pub(super) fn channelled(&self, channels: text::Channels, signs: &mut Signs) -> Text {
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

    pub(super) fn look_into_thoughts(&self, printed: &str, signs: &mut Signs) {
        let is_call = |found: &Found| (self.offered)(&found.call.name);
        let holds_call = |thoughts: &str| {
            text::first_call(thoughts, &mut Effort::on(thoughts), &is_call).is_some()
        };
        if holds_call(printed) || holds_call(&self.reply.reasoning) {
            signs.add(Oddity::CallInThoughts);
        }
    }
}
