use proptest::prelude::*;

use super::*;

#[test]
fn a_short_text_is_kept_and_a_long_one_is_cut_and_marked() {
    assert_eq!(Excerpt::of("Tee für zwei").as_str(), "Tee für zwei");
    let long = Excerpt::of("é".repeat(1 << 20));
    assert!(long.as_str().len() <= Excerpt::LIMIT);
    assert!(long.as_str().ends_with("é…"));
}

#[test]
fn hidden_characters_are_escaped() {
    assert_eq!(
        Excerpt::of("a\u{1b}[2J\n\u{202e}b\0").as_str(),
        r"a\u{1b}[2J\n\u{202e}b\u{0}"
    );
}

proptest! {
    #[test]
    fn an_excerpt_is_never_longer_than_its_limit_and_never_holds_control_characters(
        text in prop::collection::vec(any::<char>(), 0..300),
    ) {
        let text: String = text.into_iter().collect();
        let excerpt = Excerpt::of(&text);
        prop_assert!(excerpt.as_str().len() <= Excerpt::LIMIT);
        prop_assert!(excerpt.as_str().chars().all(|c| !is_hidden(c)));
        prop_assert_eq!(Excerpt::of(&excerpt), excerpt);
    }
}
