//! Cuts texts between characters, and joins the lines of a text into one.

use std::borrow::Cow;

use crate::is_hidden;

/// The first `characters` characters of a text.
#[must_use]
pub fn beginning(text: &str, characters: usize) -> &str {
    match text.char_indices().nth(characters) {
        Some((end, _)) => text.get(..end).unwrap_or(text),
        None => text,
    }
}

/// The largest byte position up to `at` that is a character boundary of the text. The standard library has this
/// function since Rust 1.91.
#[must_use]
pub fn floor_char_boundary(text: &str, at: usize) -> usize {
    let at = at.min(text.len());
    // A character has at most four bytes, so it starts at most three bytes before `at`.
    let places = (at.saturating_sub(3)..=at).rev();
    places
        .into_iter()
        .find(|place| text.is_char_boundary(*place))
        .unwrap_or(0)
}

/// The first `bytes` bytes of a text, or fewer: a character that would be cut in two is left out.
#[must_use]
pub fn beginning_bytes(text: &str, bytes: usize) -> &str {
    text.get(..floor_char_boundary(text, bytes)).unwrap_or(text)
}

/// The text if it has at most `characters` characters, otherwise its start with `…` as the last character.
#[must_use]
pub fn shortened(text: &str, characters: usize) -> Cow<'_, str> {
    let fitting = beginning(text, characters);
    if fitting.len() == text.len() {
        return Cow::Borrowed(text);
    }
    if characters == 0 {
        return Cow::Borrowed("");
    }
    let kept = beginning(text, characters - 1);
    Cow::Owned(format!("{}…", kept.trim_end()))
}

/// The text in one line: white space and control characters become single spaces; other [hidden](is_hidden) characters
/// are removed.
#[must_use]
pub fn one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for word in text.split(|c: char| c.is_whitespace() || c.is_control()) {
        let begins_at = line.len();
        line.extend(word.chars().filter(|c| !is_hidden(*c)));
        if begins_at > 0 && line.len() > begins_at {
            line.insert(begins_at, ' ');
        }
    }
    line
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn a_truncated_text_ends_with_a_mark() {
        assert_eq!(beginning("žluť", 2), "žl");
        assert_eq!(shortened("žluť", 4), "žluť");
        assert_eq!(shortened("žluť kůň", 6), "žluť…");
        assert_eq!(
            (shortened("ab", 1), shortened("ab", 0)),
            ("…".into(), "".into())
        );
    }

    #[test]
    fn one_line_has_single_spaces_and_nothing_hidden() {
        assert_eq!(
            one_line(" a\r\n\tb\u{200b}c \u{3164} d\u{2028}e\u{a0}"),
            "a bc d e"
        );
        assert_eq!(one_line("\u{200b} \n"), "");
    }

    proptest! {
        #[test]
        fn shortened_text_always_fits_and_one_line_is_idempotent(text in any::<String>(), limit in 0_usize..40) {
            prop_assert!(shortened(&text, limit).chars().count() <= limit);
            prop_assert!(text.starts_with(beginning(&text, limit)));
            let bytes = beginning_bytes(&text, limit);
            prop_assert!(text.starts_with(bytes) && bytes.len() <= limit);
            let next = text.chars().nth(bytes.chars().count());
            prop_assert!(next.is_none_or(|next| bytes.len() + next.len_utf8() > limit));
            let line = one_line(&text);
            prop_assert!(!line.chars().any(is_hidden));
            prop_assert_eq!(one_line(&line), line.clone());
            prop_assert_eq!(line.trim(), line.as_str());
        }
    }
}
