//! Finds a key as an @mention in a text.

/// Whether `text` contains `@key` as a whole word.
///
/// ASCII case is ignored. No other folding takes place, so look-alike letters and the full-width `＠` do not match. The
/// word ends where a key cannot continue: `@dormouse,` and `@dormouse.` at the end of a sentence mention `dormouse`,
/// although keys may contain `.` and `-`. `@dormouse-x`, `@dormouse.x`, `@dormouse_` and `@dormouse2` are other names.
/// An e-mail address or handle (`x@dormouse`, `@dormouse@example.org`) and a doubled `@@dormouse` are not mentions.
///
/// Runs in time linear in the length of the text and allocates nothing.
///
/// ```
/// use dormouse_text::mentions;
///
/// assert!(mentions("Wake up, @Dormouse.", "dormouse"));
/// assert!(!mentions("Write to x@dormouse.", "dormouse"));
/// ```
#[must_use]
pub fn mentions(text: &str, key: &str) -> bool {
    text.match_indices('@').any(|(at, sign)| {
        let before = text.get(..at).unwrap_or_default();
        let after = text.get(at + sign.len()..).unwrap_or_default();
        may_begin_after(before) && begins_with_word(after, key)
    })
}

/// Whether an `@` after `before` starts a word. Otherwise it is part of an address or of another word.
///
/// An address may have these signs before its `@`, but then a letter, digit or dot precedes them; a dash or underscore
/// on its own is punctuation or markup. The signs do not include `@`, so the search never passes an earlier `@`, and
/// all calls for one text together visit each character at most once.
fn may_begin_after(before: &str) -> bool {
    let name = before.trim_end_matches(['_', '-', '+', '%']);
    let signs = before.len() > name.len();
    match name.chars().next_back() {
        None => true,
        Some('@') => signs,
        Some('.') => !signs,
        Some(last) => !continues_word(last),
    }
}

/// Whether `text` starts with `key` and the word ends there.
fn begins_with_word(text: &str, key: &str) -> bool {
    let Some((head, tail)) = text.split_at_checked(key.len()) else {
        return false;
    };
    head.eq_ignore_ascii_case(key) && word_ends_before(tail)
}

/// A dot or dash may continue a name or end a sentence; the character after it decides.
fn word_ends_before(tail: &str) -> bool {
    let rest = tail.trim_start_matches(['.', '-']);
    match rest.chars().next() {
        None => true,
        Some('@') => rest.len() < tail.len(),
        Some(next) => !continues_word(next),
    }
}

/// Letters and digits of any script, the underscore, and combining marks.
fn continues_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || matches!(c, '\u{300}'..='\u{36f}')
}

#[cfg(test)]
mod tests;
