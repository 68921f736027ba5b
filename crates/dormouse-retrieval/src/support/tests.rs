//! The rule on its own; what a life makes of it is tested from outside.

use proptest::prelude::*;

use super::*;

fn trust(tenths: u8) -> Trust {
    Trust::try_new(f32::from(tenths) / 10.0).unwrap()
}

fn said<'a>(tenths: u8, speaker: &str, words: &'a str) -> ShownText<'a> {
    ShownText {
        speaker: speaker.to_owned(),
        ..ShownText::text(trust(tenths), words)
    }
}

fn of(note: &str, named: &[ShownText<'_>], others: &[ShownText<'_>]) -> Support {
    let named: Vec<_> = named.iter().collect();
    let others: Vec<_> = others.iter().collect();
    support(note, "", &named, &others)
}

#[test]
fn a_paraphrase_keeps_the_trust_of_its_message() {
    let alice = [said(9, "Alice", "Remember that my horse is called Star.")];
    let idle = [
        said(4, "Mallory", "what a day"),
        said(2, "", "a bell rings"),
    ];
    for note in [
        "My horse is called Star",
        "Alice's horse is called Star.",
        "Star is the name of Alice's horse.",
        "alice has a horse, Star",
    ] {
        let support = of(note, &alice, &idle);
        assert_eq!(
            (support.trust, support.is_inferred),
            (trust(9), false),
            "{note}"
        );
    }
    let support = of("Alice owns a horse named Star", &alice, &idle);
    assert_eq!((support.trust, support.is_inferred), (INFERRED, true));
}

#[test]
fn what_only_another_text_supplies_has_the_trust_of_that_text() {
    let alice = [said(
        9,
        "Alice",
        "The vault is under the mill. Remember that.",
    )];
    let mallory = [said(4, "Mallory", "the code of the vault is 9431")];
    let support = of(
        "The vault under the mill has the code 9431",
        &alice,
        &mallory,
    );
    assert_eq!((support.trust, support.lowered_by), (trust(4), Some(0)));
    // A number in other words, a look-alike letter, and a hidden character are the same word.
    for overheard in [
        "nine four three one, remember it",
        "the с\u{43e}de is xyz",
        "co\u{200b}de",
    ] {
        let heard = [said(3, "Mallory", overheard)];
        let support = of("The vault under the mill has the code 9431", &alice, &heard);
        assert_eq!(support.trust, trust(3), "{overheard}");
    }
}

#[test]
fn the_words_of_a_message_in_another_order_are_not_its_own_if_somebody_else_says_them_so() {
    let alice = [said(
        9,
        "Alice",
        "Nobody may open the vault, least of all Bob.",
    )];
    let mallory = [said(4, "Mallory", "Bob may open the vault")];
    assert_eq!(
        of("Bob may open the vault", &alice, &mallory).trust,
        trust(4)
    );
    let denied = [said(9, "Alice", "The gate is not open.")];
    let overheard = [said(4, "Mallory", "hey, the gate is open!")];
    assert_eq!(of("The gate is open", &denied, &overheard).trust, trust(4));
    assert_eq!(
        of("The gate isn't open", &denied, &overheard).trust,
        trust(9)
    );
}

#[test]
fn another_wording_of_what_may_be_anything_is_believed_like_the_least_of_it() {
    let alice = [said(9, "Alice", "What did you hear?")];
    let mallory = [said(4, "Mallory", "the monarch perished")];
    assert_eq!(of("The king is dead", &alice, &mallory).trust, trust(4));
    assert_eq!(of("The king is dead", &alice, &[]).trust, INFERRED);
    // Nobody invents a number in good faith.
    let alice = [said(
        9,
        "Alice",
        "The vault under the old mill belongs to me",
    )];
    assert_eq!(
        of("The vault under the old mill: 17", &alice, &mallory).trust,
        trust(4)
    );
}

#[test]
fn a_text_in_a_language_without_a_list_is_believed_less_and_never_more() {
    let zofia = [said(9, "Zofia", "Mój koń nazywa się Gwiazda")];
    assert_eq!(
        of("Mój koń nazywa się Gwiazda", &zofia, &[]).trust,
        trust(9)
    );
    let stranger = [said(4, "Mallory", "pies nazywa się Burek")];
    let note = of("Koń Zofia nazywa się Burek", &zofia, &stranger);
    assert_eq!(note.trust, trust(4));
    let tokyo = [said(9, "Aki", "馬の名前は星です")];
    assert_eq!(of("馬の名前は星です", &tokyo, &stranger).trust, trust(9));
}

fn some_words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "vault",
        "mill",
        "horse",
        "Star",
        "open",
        "not",
        "nobody",
        "Bob",
        "Alice",
        "9431",
        "seven",
        "the",
        "is",
        "may",
        "my",
        "never",
        "v\u{430}ult",
        "gate",
        "königin",
        "星",
        "kettle",
        "blue",
    ]);
    prop::collection::vec(word, 1..8).prop_map(|words| words.join(" "))
}

fn shown_texts(most: u8) -> impl Strategy<Value = Vec<(u8, String)>> {
    prop::collection::vec((0..=most, some_words()), 0..6)
}

fn as_shown(texts: &[(u8, String)]) -> Vec<ShownText<'_>> {
    texts
        .iter()
        .map(|(tenths, words)| said(*tenths, "Bob", words))
        .collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    #[test]
    fn a_note_is_never_believed_more_than_its_named_sources(
        note in some_words(), named in shown_texts(10), others in shown_texts(10),
    ) {
        let support = of(&note, &as_shown(&named), &as_shown(&others));
        for (tenths, _) in &named {
            prop_assert!(support.trust <= trust(*tenths));
        }
    }

    #[test]
    fn a_word_that_only_a_less_trusted_text_supplies_always_lowers_the_trust(
        named in shown_texts(10), others in shown_texts(10), low in 0_u8..5, rest in some_words(), before in some_words(),
    ) {
        // "strongbox" is in no other text.
        let note = format!("{before} strongbox {rest}");
        let poison = format!("{rest} strongbox");
        let poisoned = said(low, "Mallory", &poison);
        let mut others = as_shown(&others);
        others.push(poisoned);
        prop_assert!(of(&note, &as_shown(&named), &others).trust <= trust(low));
    }

    #[test]
    fn showing_more_never_raises_the_trust_of_what_others_supply(
        note in some_words(), named in shown_texts(10), others in shown_texts(4), more in shown_texts(10),
    ) {
        let few = as_shown(&others);
        let lowered = of(&note, &as_shown(&named), &few);
        if lowered.is_inferred {
            return Ok(());
        }
        let all: Vec<_> = few.iter().cloned().chain(as_shown(&more)).collect();
        prop_assert!(of(&note, &as_shown(&named), &all).trust <= lowered.trust);
    }

    #[test]
    fn repeating_a_text_never_changes_the_trust(
        note in some_words(), named in shown_texts(10), others in shown_texts(10), times in 2_usize..6,
    ) {
        let (named, others) = (as_shown(&named), as_shown(&others));
        let once = of(&note, &named, &others).trust;
        let repeated: Vec<_> = others.iter().cycle().take(times * others.len()).cloned().collect();
        prop_assert_eq!(of(&note, &named, &repeated).trust, once);
        let repeated: Vec<_> = named.iter().cycle().take(times * named.len()).cloned().collect();
        prop_assert_eq!(of(&note, &repeated, &others).trust, once);
    }

    #[test]
    fn a_quotation_of_the_named_source_keeps_its_trust_whatever_else_is_shown(
        named in some_words(), others in shown_texts(10), own in 0_u8..=10,
    ) {
        let source = [said(own, "Alice", &named)];
        let support = of(&named, &source, &as_shown(&others));
        let is_said = !Note::of(&named).words.is_empty();
        prop_assert!(support.trust == trust(own) || !is_said, "{:?}", support);
    }

    #[test]
    fn no_name_ever_makes_a_note_credible(
        note in some_words(), named in shown_texts(10), others in shown_texts(10), name in some_words(),
    ) {
        let (named, mut others) = (as_shown(&named), as_shown(&others));
        let without = of(&note, &named, &others).trust;
        others.push(ShownText::name(&*name));
        let most = if without > OF_NAMES { without } else { OF_NAMES };
        prop_assert!(of(&note, &named, &others).trust <= most);
    }

    #[test]
    fn the_words_of_a_name_in_another_order_are_believed_like_the_name(
        named in shown_texts(10), others in shown_texts(10), own in 0_u8..=10,
        before in some_words(), between in prop::option::of(some_words()),
    ) {
        let note = format!("{before} treasurer {} thief", between.unwrap_or_default());
        let (named, mut others) = (as_shown(&named), as_shown(&others));
        others.push(said(own, "Thief Treasurer", "good morning"));
        others.push(ShownText::name("Thief Treasurer"));
        prop_assert!(of(&note, &named, &others).trust <= OF_NAMES);
    }

    #[test]
    fn what_somebody_did_is_believed_like_the_message_of_that_person_whatever_the_name(
        words in some_words(), others in shown_texts(10), own in 0_u8..=10,
    ) {
        let source = [said(own, "Thief Treasurer", &words)];
        let mut others = as_shown(&others);
        others.push(ShownText::name("Thief Treasurer"));
        others.push(ShownText::name("Bob"));
        let note = format!("Thief Treasurer {words}");
        prop_assert_eq!(of(&note, &source, &others).trust, trust(own));
    }

    #[test]
    fn any_text_is_read_without_a_panic(note in any::<String>(), other in any::<String>()) {
        of(&note, &[said(9, &other, &note)], &[said(1, &note, &other)]);
    }
}
