use proptest::prelude::*;

use super::*;

/// The longest message that the contracts accept, in bytes.
const LONGEST: usize = 64 * 1024;

fn find_for(key: &str, text: &str) -> bool {
    mentions(text, key)
}

fn find(text: &str) -> bool {
    find_for("dormouse", text)
}

#[test]
fn a_whole_word_in_any_case_is_a_mention() {
    for text in [
        "@dormouse",
        "@Dormouse: hi",
        "hi, @DORMOUSE, come",
        "(@dormouse)",
        "\"@dormouse\"",
        "wake up @dormouse.",
        "wake up @dormouse...",
        "wake up @dormouse - now",
        "@dormouse-",
        "@dormouse's tea",
        "Hello.@dormouse",
        "- @dormouse",
        "-@dormouse",
        "*@dormouse*",
        "茶。@dormouse。",
        "@dormouse\nsecond line",
        "@dormous @dormouse2 x@dormouse @dormouse!",
        "@alice/@dormouse",
        "@dormouse.@alice",
    ] {
        assert!(find(text), "{text}");
    }
}

#[test]
fn a_part_of_an_address_or_a_longer_word_is_not_a_mention() {
    for text in [
        "dormouse",
        "@ dormouse",
        "@dormous",
        "@dormouse2",
        "@dormouse-x",
        "@dormouse.x",
        "@dormouse--please",
        "@dormouse_",
        "@dormouse_x",
        "@dormouseé",
        "@dormouse\u{301}",
        "@dormouse茶",
        "x@dormouse",
        "é@dormouse",
        "x-@dormouse",
        "x.y_@dormouse",
        "a.-@dormouse",
        "x+%@dormouse",
        "mail x@dormouse.",
        "@dormouse@example.org",
        "@@dormouse",
        "＠dormouse",
        "@d\u{131}rmouse",
        "@dor\u{200b}mouse",
    ] {
        assert!(!find(text), "{text}");
    }
}

#[test]
fn a_key_may_contain_dots_and_dashes() {
    assert!(find_for("mr.d-2", "ask @Mr.D-2."));
    assert!(!find_for("mr.d-2", "ask @mr.d"));
    assert!(!find_for("mr", "ask @mr.d-2"));
    assert!(find_for("mr.", "ask @mr."));
    assert!(
        find_for("k", "@K") && !find_for("k", "@\u{212a}"),
        "only ASCII is folded"
    );
}

#[test]
fn hostile_texts_of_maximum_length_take_linear_work() {
    for piece in [
        "@",
        "-@",
        "@-",
        "_",
        "@dormous",
        "@dormouse-x",
        "@dormouse.a",
        "é@",
        "\u{301}",
    ] {
        let filler = piece.repeat((LONGEST - 11) / piece.len());
        assert!(!find(&format!("{filler}2")), "{piece}");
        assert!(find(&format!("{filler}2 @dormouse")), "{piece}");
    }
}

proptest! {
    #[test]
    fn a_mention_between_spaces_is_always_found(before in ".{0,40}", after in ".{0,40}") {
        let text = format!("{before} @dormouse {after}");
        prop_assert!(find(&text), "{}", text);
    }

    #[test]
    fn a_text_without_the_key_after_an_at_sign_never_mentions(text in "[@dormuse .-]{1,40}x") {
        prop_assume!(!text.contains("@dormouse"));
        prop_assert!(!find(&text));
    }

    #[test]
    fn a_neighbouring_letter_or_digit_always_makes_another_word(
        word in r"[\p{L}\p{N}]{1,5}",
        sign in "[-.]{0,2}",
    ) {
        let before = format!("{word}@dormouse");
        let after = format!("@dormouse{sign}{word}");
        prop_assert!(!find(&before), "{}", before);
        prop_assert!(!find(&after), "{}", after);
    }

    #[test]
    fn ascii_case_never_matters(text in "[@a-zA-Z.,_ -]{0,20}@[dD]ormouse[.,:_x -]{0,3}") {
        prop_assert_eq!(find(&text), find(&text.to_ascii_uppercase()));
        prop_assert_eq!(find(&text), find_for("DORMOUSE", &text));
    }
}
