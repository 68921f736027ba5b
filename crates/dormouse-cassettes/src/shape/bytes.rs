//! Reading bytes without ever reaching beyond them.

/// The byte at `at`; 0 beyond the end.
pub(super) fn at(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

/// The byte before `at`; 0 at the beginning.
pub(super) fn before(text: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |before| self::at(text, before))
}

/// The bytes from `from` to `to`; none if there are none.
pub(super) fn part(text: &[u8], from: usize, to: usize) -> &[u8] {
    text.get(from..to.min(text.len())).unwrap_or_default()
}

/// Where the run of bytes that begins at `from` ends, at most `longest` further on.
pub(super) fn past(text: &[u8], from: usize, longest: usize, is: impl Fn(u8) -> bool) -> usize {
    let run = part(text, from, from.saturating_add(longest));
    from + run.iter().take_while(|byte| is(**byte)).count()
}

/// Where the run of bytes that ends at `to` begins, at most `longest` further back.
pub(super) fn back(text: &[u8], to: usize, longest: usize, is: impl Fn(u8) -> bool) -> usize {
    let run = part(text, to.saturating_sub(longest), to);
    to - run.iter().rev().take_while(|byte| is(**byte)).count()
}

/// Where `what` stands at or after `from`.
pub(super) fn find(text: &[u8], from: usize, what: &[u8]) -> Option<usize> {
    let rest = text.get(from..)?;
    let at = rest.windows(what.len()).position(|there| there == what)?;
    Some(from + at)
}

/// Whether a word may begin at `at`: at the beginning, after a sign, and after what is a sign in an address (`%3D`) or in JSON
/// (`\n`).
pub(super) fn begins_word(text: &[u8], at: usize) -> bool {
    let before = self::before(text, at);
    if !before.is_ascii_alphanumeric() {
        return true;
    }
    let escaped = part(text, at.saturating_sub(3), at);
    let is_percent =
        matches!(escaped, [b'%', high, low] if high.is_ascii_hexdigit() && low.is_ascii_hexdigit());
    let is_json = matches!(escaped, [.., b'\\', b'n' | b'r' | b't']);
    is_percent || is_json
}

/// Whether a number may begin at `at`.
pub(super) fn begins_number(text: &[u8], at: usize) -> bool {
    let before = self::before(text, at);
    begins_word(text, at) && !matches!(before, b'.' | b'_') || is_after_escape(text, at)
}

fn is_after_escape(text: &[u8], at: usize) -> bool {
    before(text, at).is_ascii_alphabetic() && begins_word(text, at)
}
