//! What must not be remembered: keys, tokens, passwords and card numbers.
//!
//! Recognition goes by shape, so it errs in both directions. These are the rules; every threshold is a constant beside
//! its rule.
//!
//! | what | recognised by |
//! | --- | --- |
//! | keys of known providers | their prefix, and a rest that is long and random enough |
//! | signed tokens (JWT) | `eyJ`, and three parts between dots |
//! | private keys | a PEM block; one without an end reaches to the end of the text |
//! | passwords in addresses | `scheme://user:password@host` |
//! | what is called a password, key, token or secret | `password: …`, `api_key=…`, `the password for the gate is …` |
//! | other random text | 24 characters or more of mixed classes; 32 of letters and digits; 48 of hexadecimal digits |
//! | card numbers | the lengths, beginnings and check digit of the large schemes |
//!
//! Left alone are UUIDs, hashes of up to 40 hexadecimal digits or announced as hashes, dates, ids, and prose about
//! passwords that does not say one. A plain word told in prose ("the password is swordfish") is left alone, too: no
//! shape tells it from "the password is long".
//!
//! Every scan takes time linear in the length of the text, whatever the text.

mod assigned;
mod blocks;
mod bytes;
mod card;
mod opaque;
mod provider;

use std::{borrow::Cow, ops::Range};

use serde::{Deserialize, Serialize};

use crate::note::Note;

/// What kind of secret it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum SecretKind {
    /// The key of a provider, or what is called one.
    ApiKey,
    /// A token that lets its bearer in.
    Token,
    /// A private key.
    PrivateKey,
    /// A password, or what is called one.
    Password,
    /// The number of a payment card.
    CardNumber,
    /// Text too random to be anything but a key.
    RandomKey,
}

impl SecretKind {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::ApiKey,
        Self::Token,
        Self::PrivateKey,
        Self::Password,
        Self::CardNumber,
        Self::RandomKey,
    ];

    /// The words for it.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::ApiKey => "api key",
            Self::Token => "token",
            Self::PrivateKey => "private key",
            Self::Password => "password",
            Self::CardNumber => "card number",
            Self::RandomKey => "random key",
        }
    }

    /// What stands in its place in a masked text.
    #[must_use]
    pub const fn mask(self) -> &'static str {
        match self {
            Self::ApiKey => "[secret: api key]",
            Self::Token => "[secret: token]",
            Self::PrivateKey => "[secret: private key]",
            Self::Password => "[secret: password]",
            Self::CardNumber => "[secret: card number]",
            Self::RandomKey => "[secret: random key]",
        }
    }
}

/// Where a secret stands in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SecretSpan {
    /// Its bytes; the ends are boundaries of characters.
    pub range: Range<usize>,
    /// What it is.
    pub kind: SecretKind,
}

/// The secrets of a text: in order, not empty, and apart from each other.
///
/// ```
/// use dormouse_memory::secrets::{SecretKind, find};
///
/// let found = find("The password for the gate is hunter2.");
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].range, 29..36);
/// assert_eq!(found[0].kind, SecretKind::Password);
/// assert!(find("The password is long.").is_empty());
/// ```
#[must_use]
pub fn find(text: &str) -> Vec<SecretSpan> {
    let mut spans = Vec::new();
    blocks::private_keys(text, &mut spans);
    blocks::address_passwords(text, &mut spans);
    assigned::assigned(text, &mut spans);
    opaque::runs(text, &mut spans);
    card::cards(text, &mut spans);
    merged(spans)
}

/// The text with every secret replaced by what it is (`[secret: api key]`). A text without secrets is not copied. A
/// masked text holds no secret any more, so that masking it again changes nothing.
///
/// ```
/// use dormouse_memory::secrets::mask;
///
/// assert_eq!(mask("password=hunter2"), "password=[secret: password]");
/// ```
#[must_use]
pub fn mask(text: &str) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    loop {
        // Without its neighbour, what stood beside a secret may be one by itself. Every round takes away something
        // that no mask contains, so there is a last one.
        let found = find(&text);
        if found.is_empty() {
            return text;
        }
        text = Cow::Owned(replaced(&text, &found));
    }
}

/// The note without its secrets: those of its text and its tags.
pub(crate) fn masked(mut note: Note) -> Note {
    if let Cow::Owned(text) = mask(&note.text) {
        note.text = text;
    }
    if note.tags.iter().any(|tag| !find(tag).is_empty()) {
        let tags = std::mem::take(&mut note.tags).into_iter();
        note.tags = tags.map(|tag| mask(&tag).into_owned()).collect();
    }
    note
}

fn replaced(text: &str, spans: &[SecretSpan]) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for span in spans {
        out.push_str(text.get(done..span.range.start).unwrap_or_default());
        out.push_str(span.kind.mask());
        done = span.range.end;
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// The spans in order; those that overlap as one, of the kind that was found first.
fn merged(mut spans: Vec<SecretSpan>) -> Vec<SecretSpan> {
    // The sort is stable: of two that begin together, the more telling rule comes first.
    spans.sort_by_key(|span| span.range.start);
    let mut merged: Vec<SecretSpan> = Vec::with_capacity(spans.len());
    for span in spans {
        match merged.last_mut() {
            Some(last) if span.range.start < last.range.end => {
                last.range.end = last.range.end.max(span.range.end);
            }
            Some(_) | None => merged.push(span),
        }
    }
    merged
}

/// The length of the mask that stands at the beginning of `text`, if one does.
fn mask_at(text: &str) -> Option<usize> {
    if !text.starts_with("[secret: ") {
        return None;
    }
    let masks = SecretKind::ALL.into_iter().map(SecretKind::mask);
    masks
        .into_iter()
        .find(|mask| text.starts_with(mask))
        .map(str::len)
}

#[cfg(test)]
mod tests;
