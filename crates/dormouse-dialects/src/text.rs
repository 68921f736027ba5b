//! Finds printed calls in the text of a reply.

mod budget;
mod channel;
mod json;
mod marks;
mod mend;
mod object;
mod tags;
mod tokens;

use std::collections::BTreeSet;

use serde_json::Value;

pub(crate) use budget::ScanBudget;
pub(crate) use channel::{ChannelEnding, Channels, channels};
pub(crate) use marks::{TextStart, is_begun};

use crate::{Anomaly, CallFormat, ParsedCall};

/// The largest number of printed calls per reply. Further ones are left out, and counted in
/// [`ParsedReply::left_out`](crate::ParsedReply::left_out).
pub const PRINTED_CALLS_LIMIT: usize = 8;
/// The longest tool name, in bytes.
const NAME_LIMIT: usize = 128;

/// Whether a mark before this position says that a call follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum CallContext {
    Bare,
    Marked,
}

/// How certain it is that a text is a call, independent of the tool's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// The format is used for calls only.
    Explicit,
    /// It may be data that looks like a call.
    Likely,
}

/// A call found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct PrintedCall {
    pub(crate) call: ParsedCall,
    pub(crate) form: CallFormat,
    pub(crate) certainty: Certainty,
    pub(crate) anomalies: BTreeSet<Anomaly>,
}

impl PrintedCall {
    fn new(name: &str, arguments: Option<&Value>, form: CallFormat, certainty: Certainty) -> Self {
        let (arguments, encoding) = object::arguments(arguments);
        Self {
            call: ParsedCall {
                id: None,
                name: name.to_owned(),
                arguments,
            },
            form,
            certainty,
            anomalies: encoding.into_iter().collect(),
        }
    }

    fn mended(mut self, how: json::Syntax) -> Self {
        if how == json::Syntax::Mended {
            self.anomalies.insert(Anomaly::Mended);
        }
        self
    }
}

/// Calls, and the text after them.
type Leading<'t> = (Vec<PrintedCall>, &'t str);

/// The calls of a text that contains only calls and the marks around them.
pub(crate) fn only_calls(text: &str, budget: &mut ScanBudget) -> Option<Vec<PrintedCall>> {
    let mut all = Vec::new();
    let (mut rest, mut context) = marks::skip(text);
    while !rest.is_empty() {
        // The whole text must be calls: a single other word makes it prose that quotes a call.
        let (calls, behind) = leading_calls(rest, context, budget)?;
        all.extend(calls);
        (rest, context) = marks::skip_between(behind);
    }
    (!all.is_empty()).then_some(all)
}

/// The first call in a text for which `wanted` returns true.
pub(crate) fn first_call(
    text: &str,
    budget: &mut ScanBudget,
    wanted: &dyn Fn(&PrintedCall) -> bool,
) -> Option<PrintedCall> {
    let mut rest = text;
    // Every format starts with one of these characters, so the search can skip prose quickly.
    while let Some(at) = rest.find(['{', '<', '[']) {
        budget.spend(at + 1)?;
        rest = rest.get(at..)?;
        let found = if rest.starts_with('{') {
            // Objects are searched at any depth: models wrap calls in lists and envelopes of their own.
            object::calls_within(rest, budget)
        } else {
            marked_calls(rest, budget)
        };
        let (calls, behind) = match found {
            Some(found) => found,
            None => (Vec::new(), past_marks(rest)?),
        };
        if let Some(found) = calls.into_iter().find(|found| wanted(found)) {
            return Some(found);
        }
        rest = behind;
    }
    None
}

/// The rest of the text, from where the search continues after a failed attempt. All marks at this position are skipped
/// at once, because another attempt would parse the same text after them.
fn past_marks(text: &str) -> Option<&str> {
    match marks::skip(text) {
        (inner, _) if inner.len() < text.len() => Some(inner),
        // The text starts with an ASCII bracket, so 1 is a character boundary, and the search advances.
        _ => text.get(1..),
    }
}

/// The calls at the start of a text, if a mark or a tag is in front of them.
fn marked_calls<'t>(text: &'t str, budget: &mut ScanBudget) -> Option<Leading<'t>> {
    match marks::skip(text) {
        (inner, CallContext::Marked) => leading_calls(inner, CallContext::Marked, budget),
        _ if text.starts_with('<') => leading_calls(text, CallContext::Bare, budget),
        _ => None,
    }
}

/// The calls at the start of a text.
fn leading_calls<'t>(
    text: &'t str,
    context: CallContext,
    budget: &mut ScanBudget,
) -> Option<Leading<'t>> {
    match text.chars().next()? {
        '{' | '[' => object::leading(text, context, budget),
        '<' => {
            // Each of these parsers requires an opening tag of its own, so at most one of them matches.
            let call = tags::function(text, budget)
                .or_else(|| tags::invoke(text, budget))
                .or_else(|| tokens::leading(text, budget));
            call.map(|(found, behind)| (vec![found], behind))
        }
        // A bare name is a call only after a mark; otherwise every word would be one.
        _ if context == CallContext::Marked => {
            let call = tokens::named(text, budget).or_else(|| tags::arguments(text, budget));
            call.map(|(found, behind)| (vec![found], behind))
        }
        _ => None,
    }
}

/// The tool name at the start of a text, and the text after it.
fn leading_name(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .unwrap_or(text.len());
    ((1..=NAME_LIMIT).contains(&end)).then(|| text.split_at(end))
}

#[cfg(test)]
mod tests;
