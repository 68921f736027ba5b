//! The rule on its own; what a life makes of it is tested from outside.

use proptest::prelude::*;

use super::{
    function_words::meanings,
    words::{is_number, spelled_words},
    *,
};

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
    let analysed = |texts: &[ShownText<'_>]| -> Vec<_> {
        let texts = texts.iter().map(owned);
        texts.map(AnalysedText::from).collect()
    };
    let (named, others) = (analysed(named), analysed(others));
    let named: Vec<_> = named.iter().collect();
    let others: Vec<_> = others.iter().collect();
    let first = support(note, "", &named, &others);
    // What was found out the first time is used again.
    assert_eq!(support(note, "", &named, &others), first);
    first
}

fn owned(text: &ShownText<'_>) -> ShownText<'static> {
    ShownText {
        trust: text.trust,
        speaker: text.speaker.clone(),
        channel: text.channel.clone(),
        around: text.around.clone(),
        words: text.words.clone().into_owned().into(),
        is_name: text.is_name,
    }
}

/// What a text supplies, as sets of words: what the smaller form must agree with.
#[derive(Default)]
struct Plain {
    words: BTreeSet<String>,
    pairs: BTreeSet<(String, String)>,
    runs: BTreeSet<Vec<String>>,
}

impl Plain {
    fn of(language: Language, shown: &ShownText<'_>, run: usize) -> Self {
        let (words, speaker) = (spelled_words(&shown.words), spelled_words(&shown.speaker));
        let written = Self::content(&words, language, &[]);
        let pairs = |words: &[String]| -> Vec<_> {
            let pairs = words.windows(2);
            pairs.map(|it| (it[0].clone(), it[1].clone())).collect()
        };
        let around = spelled_words(&shown.around);
        let mut plain = Self::default();
        plain.pairs.extend(pairs(&written));
        plain
            .pairs
            .extend(pairs(&Self::content(&words, language, &speaker)));
        plain.words.extend(written);
        plain
            .words
            .extend(around.iter().map(|word| crate::base_form(word)));
        for speaker in [&[], &*speaker] {
            let raw = Self::raw(&words, language, speaker);
            plain.runs.extend(raw.windows(run).map(<[String]>::to_vec));
        }
        plain
    }

    fn content(words: &[String], language: Language, speaker: &[String]) -> Vec<String> {
        let mut content: Vec<(String, bool)> = Vec::new();
        for word in words {
            let (is_number, meanings) = (is_number(word), meanings(word));
            if language.denies(meanings) {
                content.push((NOT.to_owned(), false));
            } else if language.is_myself(meanings) {
                content.extend(speaker.iter().map(|name| (crate::base_form(name), true)));
            } else if !language.is_function(meanings) {
                content.push((crate::base_form(word), is_number));
            }
        }
        content.dedup();
        content.into_iter().map(|(word, _)| word).collect()
    }

    fn raw(words: &[String], language: Language, speaker: &[String]) -> Vec<String> {
        let mut raw = Vec::new();
        for word in words {
            if language.denies(meanings(word)) {
                raw.push(NOT.to_owned());
            } else if language.is_myself(meanings(word)) && !speaker.is_empty() {
                raw.extend(speaker.iter().map(|name| crate::base_form(name)));
            } else {
                raw.push(crate::base_form(word));
            }
        }
        raw
    }
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
fn every_text_that_supplies_a_word_is_a_source() {
    let alice = [said(6, "Alice", "The vault is under the mill.")];
    let others = [
        said(9, "Bob", "the code is 9431"),
        said(4, "Carol", "what a day"),
        said(4, "Dora", "under the mill it is dark"),
        said(7, "Eve", "9431 is my lucky number"),
    ];
    let support = of(
        "The vault under the mill has the code 9431",
        &alice,
        &others,
    );
    assert_eq!(support.sources, BTreeSet::from([0, 3]));
    assert_eq!((support.trust, support.lowered_by), (trust(6), None));
    let support = of("The vault under the mill is dark", &alice, &others);
    assert_eq!(support.sources, BTreeSet::from([2]));
    assert_eq!((support.trust, support.lowered_by), (trust(4), Some(2)));
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

/// Whether a text of [`some_words`] has a word besides small words, denials and the names of this one and of Bob, who says
/// the other texts.
fn says_more_than(text: &str, name: &str) -> bool {
    let said =
        |word: &str| !["the", "is", "my", "not", "nobody", "never", "Bob", name].contains(&word);
    text.split(' ').any(said)
}

#[test]
fn words_that_mean_something_are_not_small() {
    let alice = [said(9, "Alice", "The alarm is on after the night.")];
    for (note, overheard) in [
        ("The alarm is off after the night", "off with it"),
        ("The alarm is on before the night", "before noon"),
        ("The alarm must be on after the night", "you must"),
    ] {
        let heard = [said(4, "Mallory", overheard)];
        assert_eq!(of(note, &alice, &heard).trust, trust(4), "{note}");
        assert_eq!(of(note, &alice, &[]).trust, INFERRED, "{note}");
    }
}

#[test]
fn a_denial_in_any_language_is_a_word() {
    for (denied, without) in [
        ("Der Tee ist ohne Gift", "Der Tee ist mit Gift"),
        ("Le thé est sans poison", "Le thé est avec du poison"),
        ("El té está sin veneno", "El té está con veneno"),
        ("O chá está sem veneno", "O chá está com veneno"),
        ("Il tè è senza veleno", "Il tè è con veleno"),
        ("De thee is zonder gif", "De thee is met gif"),
        ("The tea is without poison", "The tea is with poison"),
    ] {
        let alice = [said(9, "Alice", denied)];
        let mallory = [said(4, "Mallory", without)];
        assert_eq!(of(without, &alice, &mallory).trust, trust(4), "{without}");
        assert_eq!(of(denied, &alice, &mallory).trust, trust(9), "{denied}");
    }
}

#[test]
fn a_run_of_any_three_words_that_only_another_text_has_lowers_the_trust() {
    let alice = [said(9, "Alice", "The treasurer robbed Bob")];
    let mallory = [said(4, "Mallory", "so the treasurer was robbed by Bob")];
    let note = "The treasurer was robbed by Bob";
    assert_eq!(of(note, &alice, &mallory).trust, trust(4));
    // The name of the speaker is in front of many lines.
    let long = "Bob the Elder";
    let source = [said(9, long, "my horse is called Star")];
    let other = [said(4, "Mallory", "I saw Bob the Elder")];
    assert_eq!(
        of("Bob the Elder has the horse Star", &source, &other).trust,
        trust(9)
    );
}

#[test]
fn a_note_without_a_word_that_says_something_is_never_believed_like_a_message() {
    let alice = [said(9, "Alice", "They are not what she is. No, not that.")];
    let note = "They are not to be what she is";
    assert_eq!(of(note, &alice, &[]).trust, INFERRED);
    let mallory = [said(4, "Mallory", "hey, what she is!")];
    assert_eq!(of(note, &alice, &mallory).trust, trust(4));
    assert!(of("no", &alice, &[]).is_inferred);
    assert!(of("Alice is not you", &alice, &[]).is_inferred);
}

#[test]
fn a_number_below_zero_is_another_number() {
    let alice = [said(9, "Alice", "Bob owes 500 to the bank.")];
    for (note, kept) in [
        ("Bob owes -500 to the bank", false),
        ("Bob owes \u{2212}500 to the bank", false),
        ("Bob owes -$500 to the bank", false),
        ("Bob owes minus 500 to the bank", false),
        ("Bob owes 500 to the bank", true),
    ] {
        assert_eq!(of(note, &alice, &[]).trust == trust(9), kept, "{note}");
    }
    let debt = [said(9, "Alice", "The balance is minus five hundred.")];
    let note = of("The balance is -500", &debt, &[]);
    let same = of("The balance is minus five hundred", &debt, &[]);
    assert_eq!((same.trust, note.is_inferred), (trust(9), true));
    let dash = [said(9, "Alice", "Room 3-17 is free on 2026-11-23.")];
    assert_eq!(
        of("Room 3-17 is free on 2026-11-23", &dash, &[]).trust,
        trust(9)
    );
    assert_eq!(of("Room 3 17 is free", &dash, &[]).trust, trust(9));
}

#[test]
fn a_question_asserts_nothing() {
    let claim = "The treasurer Bob is a thief";
    let mallory = [said(4, "Mallory", claim)];
    for asked in [
        "Is the treasurer Bob a thief, as she says?",
        "Hello! Is it true that the treasurer Bob is a thief?! Tell me.",
        "\u{ab}The treasurer Bob is a thief?\u{bb}",
        "Is the treasurer Bob a thief ?",
    ] {
        let alice = [said(9, "Alice", asked)];
        assert_eq!(of(claim, &alice, &mallory).trust, trust(4), "{asked}");
        assert_eq!(of(claim, &alice, &[]).trust, INFERRED, "{asked}");
        // What a stranger only asks is no better than what he claims.
        let asked = [said(4, "Mallory", asked)];
        let alice = [said(9, "Alice", "What did you hear of Bob?")];
        assert_eq!(of(claim, &alice, &asked).trust, trust(4));
    }
    let alice = [said(
        9,
        "Alice",
        "The treasurer Bob is a thief. Did you know?",
    )];
    assert_eq!(of(claim, &alice, &mallory).trust, trust(9));
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
    fn the_trust_is_the_lowest_of_the_sources(
        note in some_words(), named in shown_texts(10), others in shown_texts(10),
    ) {
        let (named, others) = (as_shown(&named), as_shown(&others));
        let support = of(&note, &named, &others);
        let sources = support.sources.iter().map(|place| others[*place].trust);
        let of_sources = named.iter().map(|text| text.trust).chain(sources);
        let lowest = of_sources.fold(Trust::FULL, Trust::lowest);
        let expected = if support.is_inferred { lowest.lowest(INFERRED) } else { lowest };
        prop_assert_eq!(support.trust, expected);
        // Each text that says a word which the named ones lack is a source, however far it is believed.
        let says = |text: &ShownText<'_>| says_all(&note, "", &AnalysedText::from(owned(text)));
        let said_by_named = named.iter().any(says);
        for (place, text) in others.iter().enumerate() {
            prop_assert!(said_by_named || !says(text) || support.sources.contains(&place) || text.trust >= support.trust);
        }
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
        prop_assert!(support.trust == trust(own) || !says_more_than(&named, "Alice"), "{:?}", support);
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
        let is_said = says_more_than(&words, "");
        prop_assert!(of(&note, &source, &others).trust == trust(own) || !is_said);
    }

    #[test]
    fn a_text_supplies_the_same_in_its_small_form_as_in_sets_of_words(
        note in some_words(), words in some_words(), speaker in some_words(), around in some_words(),
    ) {
        let shown = ShownText { around, ..said(9, &speaker, &words) };
        let read = Note::of(&note);
        let run = RUN.min(read.raw.len());
        let supplied = Supplied::new(read.language, &shown);
        let plain = Plain::of(read.language, &shown, run);
        for (at, word) in read.words.iter().enumerate() {
            prop_assert_eq!(read.is_in(at, &supplied), plain.words.contains(&word.text));
        }
        for (at, pair) in read.words.windows(2).enumerate() {
            let pair = (pair[0].text.clone(), pair[1].text.clone());
            prop_assert_eq!(read.has_pair(at, &supplied), plain.pairs.contains(&pair));
        }
        let runs = read.runs(&BTreeSet::new());
        for (sought, run) in runs.iter().zip(read.raw.windows(run)) {
            prop_assert_eq!(supplied.has_run(sought), plain.runs.contains(run));
        }
    }

    #[test]
    fn any_text_is_read_without_a_panic(note in any::<String>(), other in any::<String>()) {
        of(&note, &[said(9, &other, &note)], &[said(1, &note, &other)]);
    }
}
