use super::{irregular, stop, terms};

#[test]
fn the_tables_are_sorted_so_that_each_entry_is_found() {
    assert!(irregular::forms().is_sorted());
    assert!(
        irregular::forms()
            .windows(2)
            .all(|pair| pair[0].0 != pair[1].0)
    );
    for (form, base) in irregular::forms() {
        assert_eq!(irregular::base_form(form), Some(*base));
    }
    assert!(stop::stop_words().is_sorted_by(|a, b| a < b));
    assert!(
        stop::stop_words()
            .iter()
            .all(|word| stop::is_stop_word(word))
    );
}

#[test]
fn forms_of_a_word_are_one_term() {
    for (a, b) in [
        ("kettles", "kettle"),
        ("bought", "buying"),
        ("Children", "child's"),
        ("naïve", "NAIVE"),
        ("Ｔｅａ", "tea"),
        ("didn't go", "went"),
        ("cafe\u{301}", "café"),
    ] {
        assert_eq!(terms(a), terms(b), "{a} / {b}");
    }
}

#[test]
fn scripts_without_spaces_become_pairs_of_characters() {
    assert_eq!(terms("東京都 大"), ["東京", "京都", "大"]);
    assert_eq!(terms("茶tea茶"), ["茶", "tea", "茶"]);
    assert_eq!(terms("ที่นี่").len(), 5);
}

#[test]
fn an_emoji_is_one_term_in_every_skin_tone_and_style() {
    assert_eq!(terms("👍🏽 ❤\u{fe0f}"), ["👍", "❤"]);
    assert_eq!(terms("🇫🇷🇯🇵"), ["🇫🇷", "🇯🇵"]);
}

#[test]
fn words_of_other_alphabets_stay_whole() {
    assert_eq!(terms("Чайник हिन्दी"), ["чайник", "हिन्दी"]);
}

#[test]
fn numbers_are_words() {
    assert_eq!(
        terms("in 2023, 7:30 pm, $40"),
        ["2023", "7", "30", "pm", "40"]
    );
}

#[test]
fn an_endless_word_is_cut() {
    assert_eq!(terms(&"x".repeat(1_000_000)).concat().len(), 64);
}
