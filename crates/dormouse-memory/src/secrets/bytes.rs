//! Looking at the bytes of a text without stepping out of it.

/// The byte at `index`; 0, which is in no secret, outside of the text.
pub(super) fn at(text: &str, index: usize) -> u8 {
    text.as_bytes().get(index).copied().unwrap_or(0)
}

/// The byte before `index`; 0 at the beginning.
pub(super) fn before(text: &str, index: usize) -> u8 {
    index.checked_sub(1).map_or(0, |index| at(text, index))
}

/// The text from `from` to `to`; empty if that is none.
pub(super) fn part(text: &str, from: usize, to: usize) -> &str {
    text.get(from..to).unwrap_or_default()
}

/// The first index from `from` on whose byte is not `wanted`.
pub(super) fn past(text: &str, from: usize, wanted: impl Fn(u8) -> bool) -> usize {
    let rest = text.as_bytes().get(from..).unwrap_or_default();
    rest.iter()
        .position(|byte| !wanted(*byte))
        .map_or(text.len().max(from), |at| from + at)
}

/// Whether `text` has `word` at `index`, whatever the case of its letters. `word` is in small letters.
pub(super) fn has_word(text: &str, index: usize, word: &str) -> bool {
    text.as_bytes()
        .get(index..index.saturating_add(word.len()))
        .is_some_and(|there| there.eq_ignore_ascii_case(word.as_bytes()))
}
