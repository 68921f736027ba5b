//! Reads bytes within the bounds of a text.

/// Returns the byte at `at`; 0 beyond the end.
pub(crate) fn at(text: &[u8], at: usize) -> u8 {
    text.get(at).copied().unwrap_or(0)
}

/// Returns the byte before `at`; 0 at the start.
pub(crate) fn before(text: &[u8], at: usize) -> u8 {
    at.checked_sub(1).map_or(0, |before| self::at(text, before))
}

/// Returns the bytes from `from` to `to`; empty outside of the text.
pub(crate) fn part(text: &[u8], from: usize, to: usize) -> &[u8] {
    text.get(from..to.min(text.len())).unwrap_or_default()
}

/// Returns the end of the run of bytes that starts at `from` and for which `is` holds. The run has at most `longest`
/// bytes.
pub(crate) fn past(text: &[u8], from: usize, longest: usize, is: impl Fn(u8) -> bool) -> usize {
    let run = part(text, from, from.saturating_add(longest));
    from + run.iter().take_while(|byte| is(**byte)).count()
}

/// Whether a number may start at `at`: not inside a word, and not after the point of another number.
pub(crate) fn begins_number(text: &[u8], at: usize) -> bool {
    let before = self::before(text, at);
    !before.is_ascii_alphanumeric() && !matches!(before, b'.' | b'_')
}

/// Returns the length of the placeholder at the start of `text`: `[secret: api key]`, `[email-2]`.
pub(crate) fn placeholder(text: &[u8]) -> Option<usize> {
    let inside = text.strip_prefix(b"[")?;
    let word = past(inside, 0, 16, |byte| byte.is_ascii_lowercase());
    let end = match at(inside, word) {
        b':' if part(inside, 0, word) == b"secret" => past(inside, word + 1, 24, |byte| {
            byte.is_ascii_lowercase() || byte == b' '
        }),
        b'-' => {
            let end = past(inside, word + 1, 20, |byte| byte.is_ascii_digit());
            (end > word + 1).then_some(end)?
        }
        _ => return None,
    };
    (word > 0 && at(inside, end) == b']').then_some(end + 2)
}
