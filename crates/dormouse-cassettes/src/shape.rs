//! What keys and personal data look like.
//!
//! Recognition goes by shape and errs on the side of taking too much. Everything works on bytes, so that text which is not quite
//! UTF-8 hides nothing, and in time linear in the length of the text, whatever the text.

use std::ops::Range;

mod assigned;
mod bytes;
mod card;
mod keys;
mod network;
mod person;
mod phone;
mod random;

pub(crate) use assigned::{is_named_secret, parameters};
pub(crate) use random::random;

/// What something is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    Secret,
    Email,
    Phone,
    IpAddress,
    Card,
    User,
    Organisation,
    /// Nothing known, but too random to be words. Reported, never scrubbed: most of it is ids.
    Random,
}

impl Kind {
    /// Those that are scrubbed.
    pub(crate) const SCRUBBED: [Self; 7] = [
        Self::Secret,
        Self::Email,
        Self::Phone,
        Self::IpAddress,
        Self::Card,
        Self::User,
        Self::Organisation,
    ];

    /// How a placeholder calls it.
    pub(crate) const fn label(self) -> &'static str {
        match self {
            Self::Secret => "secret",
            Self::Email => "email",
            Self::Phone => "phone",
            Self::IpAddress => "ip",
            Self::Card => "card",
            Self::User => "user",
            Self::Organisation => "organisation",
            Self::Random => "random",
        }
    }
}

/// Where something stands in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
    /// Which of the known secrets it is, if it is one.
    pub(crate) literal: Option<usize>,
}

impl Span {
    pub(crate) fn shape(range: Range<usize>, kind: Kind) -> Self {
        Self {
            range,
            kind,
            literal: None,
        }
    }

    pub(crate) fn literal(range: Range<usize>, literal: usize) -> Self {
        Self {
            range,
            kind: Kind::Secret,
            literal: Some(literal),
        }
    }

    pub(crate) fn shifted(self, by: usize) -> Self {
        Self {
            range: self.range.start + by..self.range.end + by,
            ..self
        }
    }
}

/// Finds everything that has a shape, in no order.
pub(crate) fn shapes(text: &[u8], spans: &mut Vec<Span>) {
    keys::private_keys(text, spans);
    keys::address_passwords(text, spans);
    assigned::assigned(text, spans);
    keys::keys(text, spans);
    person::emails(text, spans);
    person::home_folders(text, spans);
    network::addresses(text, spans);
    card::cards(text, spans);
    phone::phones(text, spans);
}

/// The spans in order, those that overlap as one. It is a known secret if one of them is, else the most telling kind.
pub(crate) fn merged(mut spans: Vec<Span>) -> Vec<Span> {
    // The sort is stable: of two that begin together the one that was looked for first comes first.
    spans.sort_by_key(|span| span.range.start);
    let mut merged: Vec<Span> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
                if last.literal.is_none() && (span.literal.is_some() || span.kind == Kind::Secret) {
                    last.kind = span.kind;
                    last.literal = span.literal;
                }
            }
            Some(_) | None => merged.push(span),
        }
    }
    merged
}

#[cfg(test)]
mod tests;
