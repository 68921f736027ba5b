//! Calls that stand in the text of a reply.

mod channel;
mod effort;
mod json;
mod marks;
mod mend;
mod object;
mod tags;
mod tokens;

use std::collections::BTreeSet;

use serde_json::Value;

pub(crate) use channel::{Channels, Ending, channels};
pub(crate) use effort::Effort;
pub(crate) use marks::{Beginning, is_begun};

use crate::{Form, Oddity, ReadCall};

/// How many printed calls of one reply are taken.
pub const PRINTED_CALLS_LIMIT: usize = 8;
/// The longest name of a tool that is looked for in a text, in bytes.
const NAME_LIMIT: usize = 128;

/// Whether something before a place in the text says that a call follows there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place {
    Bare,
    Marked,
}

/// How sure it is that something is a call, whatever tool it names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Certainty {
    /// Its form means nothing else.
    Explicit,
    /// It may be data that looks like a call.
    Likely,
}

/// A call in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Found {
    pub(crate) call: ReadCall,
    pub(crate) form: Form,
    pub(crate) certainty: Certainty,
    pub(crate) oddities: BTreeSet<Oddity>,
}

impl Found {
    fn new(name: &str, arguments: Option<&Value>, form: Form, certainty: Certainty) -> Self {
        let (arguments, encoding) = object::arguments(arguments);
        Self {
            call: ReadCall {
                id: None,
                name: name.to_owned(),
                arguments,
            },
            form,
            certainty,
            oddities: encoding.into_iter().collect(),
        }
    }

    fn mended(mut self, how: json::Syntax) -> Self {
        if how == json::Syntax::Mended {
            self.oddities.insert(Oddity::Mended);
        }
        self
    }
}

/// Calls and what stands behind them.
type Leading<'t> = (Vec<Found>, &'t str);

/// The calls of a text that holds nothing but calls, and what models put around them.
pub(crate) fn only_calls(text: &str, effort: &mut Effort) -> Option<Vec<Found>> {
    let mut all = Vec::new();
    let (mut rest, mut place) = marks::skip(text);
    while !rest.is_empty() {
        let (calls, behind) = leading_calls(rest, place, effort)?;
        let room = PRINTED_CALLS_LIMIT.saturating_sub(all.len());
        all.extend(calls.into_iter().take(room));
        (rest, place) = marks::skip_between(behind);
    }
    (!all.is_empty()).then_some(all)
}

/// The first call anywhere in a text that is `wanted`.
pub(crate) fn first_call(
    text: &str,
    effort: &mut Effort,
    wanted: &dyn Fn(&Found) -> bool,
) -> Option<Found> {
    let mut rest = text;
    while let Some(at) = rest.find(['{', '<', '[']) {
        effort.spend(at + 1)?;
        rest = rest.get(at..)?;
        let found = if rest.starts_with('{') {
            object::calls_within(rest, effort)
        } else {
            marked_calls(rest, effort)
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

/// Where to look on, where no call begins: behind all of the marks that stand here, since behind the next of them stands nothing else
/// than behind the first.
fn past_marks(text: &str) -> Option<&str> {
    match marks::skip(text) {
        (inner, _) if inner.len() < text.len() => Some(inner),
        _ => text.get(1..),
    }
}

/// The calls a text begins with, if a mark or a tag says that they are some.
fn marked_calls<'t>(text: &'t str, effort: &mut Effort) -> Option<Leading<'t>> {
    match marks::skip(text) {
        (inner, Place::Marked) => leading_calls(inner, Place::Marked, effort),
        _ if text.starts_with('<') => leading_calls(text, Place::Bare, effort),
        _ => None,
    }
}

/// The calls a text begins with.
fn leading_calls<'t>(text: &'t str, place: Place, effort: &mut Effort) -> Option<Leading<'t>> {
    match text.chars().next()? {
        '{' | '[' => object::leading(text, place, effort),
        '<' => {
            let call = tags::function(text, effort)
                .or_else(|| tags::invoke(text, effort))
                .or_else(|| tokens::leading(text, effort));
            call.map(|(found, behind)| (vec![found], behind))
        }
        _ if place == Place::Marked => {
            let call = tokens::named(text, effort).or_else(|| tags::arguments(text, effort));
            call.map(|(found, behind)| (vec![found], behind))
        }
        _ => None,
    }
}

/// The name a text begins with, in the letters names of tools have, and what stands behind it.
fn leading_name(text: &str) -> Option<(&str, &str)> {
    let end = text
        .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.')))
        .unwrap_or(text.len());
    ((1..=NAME_LIMIT).contains(&end)).then(|| text.split_at(end))
}

#[cfg(test)]
mod tests;
