//! Scans a text as it is and in its decoded forms.

use std::borrow::Cow;

use crate::{
    Match, RedactionProfile, SensitiveKind, assigned, card, encoded, formats,
    matches::merged,
    phone, random, rules,
    view::{self, View},
};

/// How many levels of escapes are decoded: JSON within JSON, a URL within a URL.
const DECODED: usize = 2;
/// The maximum number of scans of one text. Masked text is scanned again, because a mask may reveal another match next
/// to it.
/// In practice the second scan finds nothing.
const ROUNDS: usize = 16;
/// Shorter texts contain no match.
const SHORTEST: usize = 6;

/// Finds the secrets and personal data of a text, in order and without overlaps.
///
/// The text is scanned in several forms: as it is; without escapes (`\u0061`, `%61`) and hidden characters; with
/// wrapped keys joined; and with base64 decoded. The time is linear in the length of any text.
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
    encoded::in_base64(text, |text| as_it_stands(text, profile), &mut found);
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

/// Scans the text without decoding it. The matches are unordered.
fn as_it_stands(text: &[u8], profile: RedactionProfile) -> Vec<Match> {
    let mut found = Vec::new();
    // If two matches start at the same place, the one found first determines the kind. So the order of these calls matters.
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

/// Replaces everything that [`scan`] finds with a mask such as `[secret: api key]`, or `***` with
/// [`RedactionProfile::Errors`]. A text without matches is not copied. Masking is idempotent.
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

/// Replaces each match with a mask. If a match starts or ends inside a character, the whole character is replaced.
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

/// Returns the character boundary at `place`, or the next one in the direction of `step`.
fn boundary(text: &str, mut place: usize, step: fn(usize, usize) -> usize) -> usize {
    while !text.is_char_boundary(place) && place < text.len() {
        place = step(place, 1);
    }
    place.min(text.len())
}
