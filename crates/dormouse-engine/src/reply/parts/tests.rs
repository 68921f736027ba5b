use proptest::prelude::*;

use super::*;

#[test]
fn a_text_that_fits_is_one_part() {
    assert_eq!(parts(" Hello. ", 6, 8), ["Hello."]);
    assert_eq!(parts("", 6, 8), Vec::<String>::new());
}

#[test]
fn a_long_text_is_divided_at_sentences_then_words_then_characters() {
    let text = "One two. Three four! Five?";
    assert_eq!(parts(text, 20, 8), ["One two. Three four!", "Five?"]);
    assert_eq!(parts(text, 12, 8), ["One two.", "Three four!", "Five?"]);
    assert_eq!(parts("one two three", 8, 8), ["one two", "three"]);
    assert_eq!(parts("žžžžž", 2, 8), ["žž", "žž", "ž"]);
    assert_eq!(
        parts("He said \"no.\" Then", 15, 8),
        ["He said \"no.\"", "Then"]
    );
    assert_eq!(parts("好。好好好", 3, 8), ["好。", "好好好"]);
    assert_eq!(parts("1.5 litres of tea", 12, 8), ["1.5 litres", "of tea"]);
}

#[test]
fn what_needs_too_many_parts_is_cut_at_a_sentence_and_says_so() {
    let text = "All is well. ".repeat(100);
    let said = parts(&text, 200, 2);
    assert_eq!(said.len(), 2);
    assert!(said[0].ends_with("well."));
    assert!(said[1].ends_with("well. … (There is more, but it is too long to say.)"));
    assert!(said[1].chars().count() <= 200);
}

proptest! {
    #[test]
    fn parts_are_never_blank_too_long_or_too_many(text in "[a-z .!?\\nž。]{0,400}", longest in 1_usize..80, most in 1_usize..6) {
        let said = parts(&text, longest, most);
        prop_assert!(said.len() <= most);
        prop_assert_eq!(said.is_empty(), text.trim().is_empty());
        for part in &said {
            prop_assert!(!part.trim().is_empty() && part.chars().count() <= longest);
        }
    }

    #[test]
    fn nothing_is_lost_where_there_are_parts_enough(text in "\\PC{0,300}", longest in 1_usize..80) {
        let letters = |text: &str| -> String { text.split_whitespace().collect() };
        prop_assert_eq!(letters(&parts(&text, longest, 1_000).concat()), letters(&text));
    }
}
