//! Escapes for text that must not be printed unchanged.

use std::{borrow::Cow, fmt::Write};

use crate::is_hidden;

/// The text in printable form: line feeds stay, tabs become spaces, and every other [hidden](is_hidden) character is
/// escaped, as in `\u{1b}`. Text without hidden characters is returned unchanged.
#[must_use]
pub fn escape_hidden(text: &str) -> Cow<'_, str> {
    escape(text, is_hidden)
}

/// Like [`escape_hidden`], for the characters that `is_unsafe` selects. A text without such characters is returned
/// unchanged. Otherwise line feeds stay and tabs become spaces, even if `is_unsafe` selects them.
#[must_use]
pub fn escape(text: &str, is_unsafe: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(|c| c != '\n' && is_unsafe(c)) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\n' => safe.push('\n'),
            '\t' => safe.push(' '),
            unsafe_one if is_unsafe(unsafe_one) => safe.extend(unsafe_one.escape_unicode()),
            plain => safe.push(plain),
        }
    }
    Cow::Owned(safe)
}

/// Like [`escape_hidden`], for JSON text: [hidden](is_hidden) characters become `\u` escapes, so the parsed value stays
/// the same.
///
/// Outside of strings JSON contains no hidden characters except white space, which `json` must not contain.
#[must_use]
pub fn escape_hidden_json(json: &str) -> Cow<'_, str> {
    if !json.contains(is_hidden) {
        return Cow::Borrowed(json);
    }
    let mut safe = String::with_capacity(json.len() + 16);
    for character in json.chars() {
        if is_hidden(character) {
            for unit in character.encode_utf16(&mut [0; 2]) {
                // Writing into a string does not fail.
                write!(safe, "\\u{unit:04x}").ok();
            }
        } else {
            safe.push(character);
        }
    }
    Cow::Owned(safe)
}

/// An id in a form that no other id resembles: ASCII letters, digits and harmless marks stay, everything else is
/// escaped, as in `player:Ali\u{200d}ce`. Different ids have different forms. No form can end the line, brackets,
/// quotation or list that contains it, or add an item to that list.
#[must_use]
pub fn escape_id(id: &str) -> String {
    let mut shown = String::with_capacity(id.len());
    for character in id.chars() {
        if character.is_ascii_alphanumeric() || "!#$%&'*+-./:=?@^_|~".contains(character) {
            shown.push(character);
        } else {
            shown.extend(character.escape_unicode());
        }
    }
    shown
}

/// The inverse of [`escape_id`]: the id that has this form. Text that is not an escape stays as it is.
#[must_use]
pub fn unescape_id(shown: &str) -> String {
    let mut id = String::with_capacity(shown.len());
    let mut rest = shown;
    while let Some(at) = rest.find("\\u{") {
        let (before, escape) = rest.split_at(at);
        id.push_str(before);
        let code = escape
            .strip_prefix("\\u{")
            .and_then(|code| code.split_once('}'));
        let read = code.and_then(|(code, after)| {
            let code = u32::from_str_radix(code, 16).ok()?;
            Some((char::from_u32(code)?, after))
        });
        match read {
            Some((character, after)) => {
                id.push(character);
                rest = after;
            }
            None => {
                id.push('\\');
                rest = escape.strip_prefix('\\').unwrap_or_default();
            }
        }
    }
    id.push_str(rest);
    id
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn terminal_escapes_bidirectional_and_hidden_characters_are_escaped() {
        assert_eq!(
            escape_hidden("\u{1b}[2J\u{1b}]0;title\u{7}a\tb\r\u{202e}dlrow\u{9b}1m"),
            "\\u{1b}[2J\\u{1b}]0;title\\u{7}a b\\u{d}\\u{202e}dlrow\\u{9b}1m"
        );
        assert_eq!(
            escape_hidden("Ali\u{200d}ce \u{3164}"),
            "Ali\\u{200d}ce \\u{3164}"
        );
    }

    #[test]
    fn ordinary_text_of_any_script_is_unchanged() {
        for text in ["Grüße, 日本語, שלום", "two\nlines", "👩 and 🫖", "नमस्ते", ""]
        {
            let kept = matches!(escape_hidden(text), Cow::Borrowed(same) if same == text);
            assert!(kept, "{text:?}");
        }
    }

    #[test]
    fn what_is_no_escaped_character_is_read_as_it_is() {
        for text in [
            "player:alice",
            "\\",
            "\\u{",
            "\\u{zz}",
            "\\u{110000}",
            "a\\b",
        ] {
            assert_eq!(unescape_id(text), text);
        }
        assert_eq!(unescape_id("player:mary\\u{20}ann"), "player:mary ann");
    }

    #[test]
    fn an_escaped_id_shows_each_character() {
        for (id, shown) in [
            ("player:alice", "player:alice"),
            ("#12", "#12"),
            ("player:Ali\u{200d}ce", "player:Ali\\u{200d}ce"),
            (
                "a,b(c) \"d\"",
                "a\\u{2c}b\\u{28}c\\u{29}\\u{20}\\u{22}d\\u{22}",
            ),
            ("\\u{41}", "\\u{5c}u\\u{7b}41\\u{7d}"),
            ("а", "\\u{430}"),
        ] {
            assert_eq!(escape_id(id), shown);
        }
    }

    fn any_text() -> impl Strategy<Value = String> {
        let some =
            |codes: std::ops::Range<u32>| codes.prop_map(|c| char::from_u32(c).unwrap_or('x'));
        prop::collection::vec(
            prop_oneof![
                any::<char>(),
                some(0..0xa0),
                some(0x2000..0x2070),
                some(0xfe00..0xfe10)
            ],
            0..80,
        )
        .prop_map(|characters| characters.into_iter().collect())
    }

    #[test]
    fn every_hidden_character_is_escaped_and_no_other() {
        for character in '\0'..=char::MAX {
            let text = format!("a{character}b");
            let escaped = escape_hidden(&text);
            let is_safe = escaped.chars().all(|c| c == '\n' || !is_hidden(c));
            assert!(is_safe, "{character:?}");
            let is_kept = !is_hidden(character) || character == '\n';
            assert_eq!(escaped == text, is_kept, "{character:?}");
        }
    }

    proptest! {
        #[test]
        fn escaping_twice_changes_nothing_more(text in any_text()) {
            let once = escape_hidden(&text).into_owned();
            prop_assert!(once.chars().all(|c| c == '\n' || !is_hidden(c)), "{once:?}");
            prop_assert_eq!(escape_hidden(&once).into_owned(), once);
        }

        #[test]
        fn escaped_json_has_nothing_hidden_and_means_the_same(text in any_text()) {
            let json = serde_json::to_string(&text).unwrap();
            let safe = escape_hidden_json(&json);
            prop_assert!(!safe.contains(is_hidden), "{safe:?}");
            prop_assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
        }

        #[test]
        fn different_ids_always_display_differently(one in any_text(), other in any_text()) {
            prop_assert_eq!(escape_id(&one) == escape_id(&other), one == other);
            prop_assert!(escape_id(&one).bytes().all(|b| b.is_ascii_graphic()));
            prop_assert_eq!(unescape_id(&escape_id(&one)), one);
        }
    }
}
