use proptest::prelude::*;

use super::*;

#[test]
fn terminal_escapes_and_turned_writing_are_shown_and_not_obeyed() {
    assert_eq!(
        neutralise("\u{1b}[2J\u{1b}]0;title\u{7}a\tb\r\u{202e}dlrow\u{9b}1m"),
        "\\u{1b}[2J\\u{1b}]0;title\\u{7}a b\\u{d}\\u{202e}dlrow\\u{9b}1m"
    );
}

#[test]
fn ordinary_text_of_any_script_is_left_as_it_is() {
    for text in ["Grüße, 日本語, שלום", "two\nlines", "👩‍👩‍👧 and 🫖", ""] {
        assert!(
            matches!(neutralise(text), Cow::Borrowed(same) if same == text),
            "{text:?}"
        );
    }
}

#[test]
fn a_text_of_several_lines_cannot_pass_for_lines_of_the_program() {
    assert_eq!(
        indented("hi\nDormouse says: no"),
        "hi\n    Dormouse says: no"
    );
}

fn any_text() -> impl Strategy<Value = String> {
    prop::collection::vec(
        prop_oneof![
            any::<char>(),
            (0_u32..0xa0).prop_map(|c| char::from_u32(c).unwrap_or('x')),
            (0x2000_u32..0x2070).prop_map(|c| char::from_u32(c).unwrap_or('x'))
        ],
        0..80,
    )
    .prop_map(|characters| characters.into_iter().collect())
}

proptest! {
    #[test]
    fn whatever_goes_in_nothing_active_but_line_feeds_comes_out(text in any_text()) {
        let safe = neutralise(&text);
        prop_assert!(safe.chars().all(|c| c == '\n' || (!c.is_control() && !is_active(c))), "{safe:?}");
    }

    #[test]
    fn neutralising_twice_changes_nothing_more(text in any_text()) {
        let once = neutralise(&text).into_owned();
        prop_assert_eq!(neutralise(&once).into_owned(), once);
    }

    #[test]
    fn escaped_json_has_nothing_active_and_means_the_same(text in any_text()) {
        let json = serde_json::to_string(&text).unwrap();
        let safe = escape_json(&json);
        prop_assert!(!safe.contains(is_active), "{safe:?}");
        prop_assert_eq!(serde_json::from_str::<String>(&safe).unwrap(), text);
    }
}
