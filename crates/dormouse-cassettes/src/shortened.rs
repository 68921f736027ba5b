//! Cutting text without cutting a character.

/// The largest place up to `at` where the text may be cut.
pub(crate) fn boundary(text: &str, at: usize) -> usize {
    let mut at = at.min(text.len());
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}
