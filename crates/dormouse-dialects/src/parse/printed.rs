//! Analyses the text of a reply without native calls.

use dormouse_contracts::FinishReason;

use super::{ReplyParser, note_form};
use crate::{
    Anomaly, Signs, ToolCalling,
    text::{self, PrintedCall, ScanBudget},
    thoughts::{self, Opening},
};

/// The analysis of a text, before the reply is classified.
pub(super) struct PrintedText {
    pub(super) said: String,
    pub(super) thoughts: String,
    pub(super) calls: Vec<PrintedCall>,
    /// The kind of the text if it contains no accepted call.
    pub(super) kind: PlainTextKind,
}

/// The kind of a text without an accepted call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PlainTextKind {
    /// Text to be shown.
    Words,
    /// Text that may be the start of a call.
    Call,
    /// The remains of a call, which must not be shown.
    BrokenCall,
}

impl ReplyParser<'_> {
    pub(super) fn plain(&self, budget: &mut ScanBudget, signs: &mut Signs) -> PrintedText {
        let split = thoughts::split(&self.reply.content);
        if split.opening != Opening::None {
            signs.add(Anomaly::PrintedThoughts);
        }
        let only = text::only_calls(split.text, budget);
        let kind = match text::is_begun(split.text) {
            text::TextStart::Words => PlainTextKind::Words,
            text::TextStart::Call | text::TextStart::MarkedCall => PlainTextKind::Call,
        };
        let mut found = PrintedText {
            said: split.text.to_owned(),
            thoughts: split.thoughts.to_owned(),
            calls: Vec::new(),
            kind,
        };
        let is_all = only.is_some();
        match only {
            // All calls must be allowed, because executing some of them would be a different action.
            Some(calls) if calls.iter().all(|call| self.takes(call)) => {
                if self.may_act_behind(split.opening) {
                    found.calls = calls;
                } else {
                    found.kind = PlainTextKind::BrokenCall;
                }
                return found;
            }
            Some(calls) => note_form(&calls, signs),
            None => {}
        }
        // A fresh budget: a failed attempt at the whole text must not hide a call from this search.
        let first = text::first_call(split.text, &mut ScanBudget::on(split.text), &|found| {
            self.takes(found)
        });
        match (self.calling, first) {
            (ToolCalling::Fallback, Some(first)) => found.calls = vec![first],
            (ToolCalling::Native, Some(first)) => {
                signs.add(Anomaly::QuotedCall);
                note_form(&[first], signs);
            }
            (_, None) if is_all => signs.add(Anomaly::NotOffered),
            (_, None) => self.note_ruins(&mut found, signs),
        }
        found
    }

    /// Records an anomaly for a text that starts like a call but contains none. If it starts with the mark of a call,
    /// it is the remains of one.
    fn note_ruins(&self, found: &mut PrintedText, signs: &mut Signs) {
        if found.kind != PlainTextKind::Call || found.said.is_empty() {
            return;
        }
        let any = text::first_call(&found.said, &mut ScanBudget::on(&found.said), &|_| true);
        if any.is_none() {
            signs.add(Anomaly::BrokenCall);
            if text::is_begun(&found.said) == text::TextStart::MarkedCall {
                found.kind = PlainTextKind::BrokenCall;
            }
        }
    }

    /// Whether a call after printed thoughts may be executed. If the opening tag is missing, or the reply was cut off,
    /// the apparent end of the thoughts may have been quoted within them.
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

    pub(super) fn channelled(&self, channels: text::Channels, signs: &mut Signs) -> PrintedText {
        let text::Channels {
            text: said,
            thoughts,
            calls,
            ending,
        } = channels;
        if !thoughts.is_empty() {
            signs.add(Anomaly::PrintedThoughts);
        }
        let are_taken = match self.calling {
            ToolCalling::Native => ending == text::ChannelEnding::Call && said.is_empty(),
            ToolCalling::Fallback => true,
        };
        let mut kind = PlainTextKind::Words;
        let mut taken = Vec::new();
        if are_taken && !calls.is_empty() && calls.iter().all(|call| self.takes(call)) {
            taken = calls;
        } else {
            note_form(&calls, signs);
            if ending == text::ChannelEnding::Broken {
                signs.add(Anomaly::BrokenCall);
                kind = PlainTextKind::BrokenCall;
            } else if !calls.is_empty() {
                let anomaly = if said.is_empty() {
                    Anomaly::NotOffered
                } else {
                    Anomaly::QuotedCall
                };
                signs.add(anomaly);
                kind = if said.is_empty() {
                    PlainTextKind::BrokenCall
                } else {
                    PlainTextKind::Words
                };
            }
        }
        PrintedText {
            said,
            thoughts,
            calls: taken,
            kind,
        }
    }

    /// Whether the model may make this printed call.
    fn takes(&self, found: &PrintedCall) -> bool {
        let name = found.call.name.as_str();
        let bare = name.strip_prefix("functions.").unwrap_or(name);
        let is_offered = (self.offered)(name) || (self.offered)(bare);
        match self.calling {
            ToolCalling::Native => is_offered,
            ToolCalling::Fallback => is_offered || found.certainty == text::Certainty::Explicit,
        }
    }

    pub(super) fn look_into_thoughts(&self, printed: &str, signs: &mut Signs) {
        let is_call = |found: &PrintedCall| (self.offered)(&found.call.name);
        let holds_call = |thoughts: &str| {
            text::first_call(thoughts, &mut ScanBudget::on(thoughts), &is_call).is_some()
        };
        if holds_call(printed) || holds_call(&self.reply.reasoning) {
            signs.add(Anomaly::CallInThoughts);
        }
    }
}
