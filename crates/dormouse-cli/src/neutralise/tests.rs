use proptest::prelude::*;

use super::*;

#[test]
fn a_text_of_several_lines_cannot_pass_for_lines_of_the_program() {
    assert_eq!(
        indented("hi\nDormouse says: no"),
        "hi\n    Dormouse says: no"
    );
}

#[test]
fn neutralised_text_has_no_line_marker() {
    assert_eq!(neutralise("a ◉ b"), "a \\u{25c9} b");
    for sign in LineKind::ALL {
        let typed = format!("x{}y", sign.char());
        assert!(!neutralise(&typed).contains(sign.char()), "{sign:?}");
    }
}

proptest! {
    #[test]
    fn neutralised_text_has_no_hidden_character_except_line_feeds(text in any::<String>()) {
        let safe = neutralise(&text);
        prop_assert!(safe.chars().all(|c| c == '\n' || !is_hidden(c)), "{safe:?}");
        prop_assert_eq!(neutralise(&safe).into_owned(), safe.into_owned());
    }
}
