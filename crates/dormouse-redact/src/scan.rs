//! Looking through a text in every way it may be read.

use std::{borrow::Cow, ops::Range};

use crate::{
    RedactionProfile, SensitiveKind, assigned, card, encoded, formats, phone, random, rules,
    view::{self, View},
};

/// A secret, or a piece of personal data, in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match {
    /// Its bytes. Never empty.
    pub range: Range<usize>,
    /// What it is.
    pub kind: SensitiveKind,
    /// Its number among the [`KnownSecrets`](crate::KnownSecrets), if it was found by them.
    pub known: Option<usize>,
}

impl Match {
    /// Something that was found by what it looks like.
    #[must_use]
    pub fn new(range: Range<usize>, kind: SensitiveKind) -> Self {
        Self {
            range,
            kind,
            known: None,
        }
    }

    pub(crate) fn known(range: Range<usize>, known: usize) -> Self {
        Self {
            range,
            kind: SensitiveKind::ApiKey,
            known: Some(known),
        }
    }
}

/// So often escapes are taken away: JSON within JSON, an address within an address.
const DECODED: usize = 2;
/// Without its neighbour, what stood beside a secret may be one by itself. So often it is looked again; each round takes
/// away something, and in practice the second finds nothing.
const ROUNDS: usize = 16;
/// The shortest text that anything is found in.
const SHORTEST: usize = 6;

/// The secrets and personal data of a text, in order and apart from each other.
///
/// The text is read as it stands; without its escapes (`\u0061`, `%61`) and hidden characters; with lines joined that were
/// wrapped within a key; and what it says in base64. Takes time in proportion to the length of the text, whatever the
/// text.
///
/// ```
/// use dormouse_redact::{RedactionProfile, SensitiveKind, scan};
///
/// let found = scan(b"The password for the gate is hunter2.", RedactionProfile::Memory);
/// assert_eq!(found.len(), 1);
/// assert_eq!(found[0].range, 29..36);
/// assert_eq!(found[0].kind, SensitiveKind::Password);
/// assert!(scan(b"The password is long.", RedactionProfile::Memory).is_empty());
/// ```
#[must_use]
pub fn scan(text: &[u8], profile: RedactionProfile) -> Vec<Match> {
    if text.len() < SHORTEST {
        return Vec::new();
    }
    let mut found = as_it_stands(text, profile);
    encoded::in_base64(text, profile, &mut found);
    let mut view = View::decoded(text);
    for _ in 0..DECODED {
        let Some(decoded) = view else { break };
        let inside = as_it_stands(decoded.text(), profile);
        decoded.translate(&inside, &mut found);
        view = decoded.decoded_again();
    }
    if let Some(joined) = view::joined(text) {
        let mut inside = Vec::new();
        formats::keys(joined.text(), profile, &mut inside);
        rules::patterns(joined.text(), profile, true, &mut inside);
        joined.translate(&inside, &mut found);
    }
    merged(found)
}

/// What is found without reading anything into the text, in no order.
pub(crate) fn as_it_stands(text: &[u8], profile: RedactionProfile) -> Vec<Match> {
    let mut found = Vec::new();
    // Of two that begin together the first one says what it is.
    rules::patterns(text, profile, false, &mut found);
    assigned::assigned(text, profile, &mut found);
    formats::keys(text, profile, &mut found);
    if profile.covers(SensitiveKind::CardNumber) {
        card::cards(text, profile, &mut found);
    }
    if profile.covers(SensitiveKind::Phone) {
        phone::phones(text, &mut found);
    }
    if profile.covers(SensitiveKind::RandomText) {
        random::random(text, profile, &mut found);
    }
    found
}

/// Puts matches in order and joins those that overlap. What was found as a known secret stays one, and a credential is
/// never called anything less.
#[must_use]
pub fn merged(mut found: Vec<Match>) -> Vec<Match> {
    // The sort is stable: of two that begin together the one that was found first comes first.
    found.sort_by_key(|one| one.range.start);
    let mut merged: Vec<Match> = Vec::with_capacity(found.len());
    for one in found {
        match merged.last_mut() {
            Some(last) if one.range.start < last.range.end => {
                last.range.end = last.range.end.max(one.range.end);
                let is_more =
                    one.known.is_some() || one.kind.is_credential() && !last.kind.is_credential();
                if last.known.is_none() && is_more {
                    last.kind = one.kind;
                    last.known = one.known;
                }
            }
            Some(_) | None => merged.push(one),
        }
    }
    merged
}

/// The text with a mask for everything that [`scan`] finds: `[secret: api key]`, in errors `***`. A text without any is not
/// copied. Masking a masked text changes nothing.
///
/// ```
/// use dormouse_redact::{RedactionProfile, mask};
///
/// assert_eq!(mask("password=hunter2", RedactionProfile::Memory), "password=[secret: password]");
/// assert_eq!(mask("Incorrect key: sk-abcd****wxyz", RedactionProfile::Errors), "Incorrect key: ***");
/// ```
#[must_use]
pub fn mask(text: &str, profile: RedactionProfile) -> Cow<'_, str> {
    let mut text = Cow::Borrowed(text);
    for _ in 0..ROUNDS {
        let found = scan(text.as_bytes(), profile);
        if found.is_empty() {
            break;
        }
        text = Cow::Owned(replaced(&text, &found, |kind| profile.mask(kind)));
    }
    text
}

/// The text with a mask for each match. A match that ends inside a character takes it whole.
pub(crate) fn replaced<'a>(
    text: &str,
    found: &[Match],
    mask: impl Fn(SensitiveKind) -> &'a str,
) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for one in found {
        let start = boundary(text, one.range.start, usize::saturating_sub).max(done);
        out.push_str(text.get(done..start).unwrap_or_default());
        out.push_str(mask(one.kind));
        done = boundary(text, one.range.end, usize::saturating_add);
    }
    out.push_str(text.get(done..).unwrap_or_default());
    out
}

/// The boundary of a character at `place`, or the next one in the direction of `step`.
fn boundary(text: &str, mut place: usize, step: fn(usize, usize) -> usize) -> usize {
    while !text.is_char_boundary(place) && place < text.len() {
        place = step(place, 1);
    }
    place.min(text.len())
}
