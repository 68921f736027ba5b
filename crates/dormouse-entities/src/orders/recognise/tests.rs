use proptest::prelude::*;

use super::*;
use crate::orders::subject_of;
use OrderKind::{Instruction, Preference};

#[test]
fn plain_words_are_recognised_and_talk_is_not() {
    for (text, kind) in [
        ("Always greet me by my title.", Some(Instruction)),
        ("please never mention the war", Some(Instruction)),
        ("Dormouse, from now on answer in French", Some(Instruction)),
        (
            "From now on, you answer in one sentence.",
            Some(Instruction),
        ),
        (
            "hey! in the future tell me before you leave",
            Some(Instruction),
        ),
        ("Going forward, keep it short", Some(Instruction)),
        ("Don't ever open that door", Some(Instruction)),
        ("do not ever open that door", Some(Instruction)),
        ("Dont ever do that again!", Some(Instruction)),
        ("Please don't use emoji", Some(Instruction)),
        ("don’t call me that anymore", Some(Instruction)),
        ("You should always knock first", Some(Instruction)),
        ("I want you to always tell the truth", Some(Instruction)),
        ("Make sure to never be late", Some(Instruction)),
        ("Whenever I come in, say hello", Some(Instruction)),
        (
            "Every time the bell rings, please check the door",
            Some(Instruction),
        ),
        ("Stop calling me sir", Some(Instruction)),
        ("Answer in rhyme from now on", Some(Instruction)),
        (
            "Nice to see you. Remember: never feed the fox.",
            Some(Instruction),
        ),
        ("Never, ever touch my hat", Some(Instruction)),
        ("please call me Al", Some(Preference)),
        ("You can call me Ishmael", Some(Preference)),
        ("I prefer green tea", Some(Preference)),
        ("I'd rather you were brief", Some(Preference)),
        ("I really like my answers to be short", Some(Preference)),
        ("i don't like spiders", Some(Preference)),
        ("I can't stand small talk", Some(Preference)),
        ("My favourite colour is blue", Some(Preference)),
        ("My pronouns are they/them", Some(Preference)),
        ("I want my tea hot", Some(Preference)),
        // Talk.
        ("", None),
        ("Never mind", None),
        ("Never heard of it", None),
        ("Always a pleasure!", None),
        ("I always lose my keys", None),
        ("She never knocks", None),
        ("Do you always talk like that?", None),
        ("Never say never, eh?", None),
        ("From now on I will be quiet", None),
        ("In the future there will be robots", None),
        ("Whenever I see you, I smile", None),
        ("Call me when you are back", None),
        ("call me back", None),
        ("I like that", None),
        ("I love you", None),
        ("I'd like a beer", None),
        ("Don't worry, please", None),
        ("\"Always knock\", she said", None),
        ("> never trust a quote", None),
        ("The sign says: always knock", None),
        ("open the door", None),
        ("immer anklopfen", None),
    ] {
        assert_eq!(recognise(text), kind, "{text:?}");
    }
}

#[test]
fn each_sentence_stands_for_itself() {
    let found =
        orders_in("Hello there! Always knock. How are you? I prefer tea; stop calling me sir.");
    let found: Vec<_> = found
        .iter()
        .map(|found| (found.kind, found.text.as_str()))
        .collect();
    assert_eq!(
        found,
        [
            (Instruction, "Always knock"),
            (Preference, "I prefer tea"),
            (Instruction, "stop calling me sir"),
        ]
    );
    assert_eq!(orders_in(&"Always knock. ".repeat(1_000)).len(), MOST);
}

#[test]
fn orders_about_the_same_thing_have_the_same_subject() {
    for (a, b) in [
        ("always knock", "Please never knock!"),
        ("call me Al", "stop calling me Al"),
        ("I like spiders", "i don't like spiders"),
        ("I prefer tea to coffee", "I prefer coffee to tea"),
        ("answer in French", "from now on speak German"),
        (
            "My favorite colour is blue",
            "my favourite colour is dark red",
        ),
    ] {
        let subject = subject_of(a);
        assert!(subject.is_some(), "{a}");
        assert_eq!(subject, subject_of(b), "{a} / {b}");
    }
    assert_ne!(subject_of("always knock"), subject_of("always smile"));
    assert_eq!(subject_of("always!"), None);
}

proptest! {
    #[test]
    fn no_text_ever_breaks_it(text in any::<String>()) {
        let found = orders_in(&text);
        prop_assert!(found.len() <= MOST);
        prop_assert_eq!(recognise(&text), found.first().map(|found| found.kind));
    }

    #[test]
    fn a_question_is_never_an_order(text in "(always|never|I prefer|call me) [a-z ]{1,30}") {
        prop_assert_eq!(recognise(&format!("{text}?")), None);
    }
}

#[test]
fn a_huge_text_is_looked_at_only_at_its_beginning() {
    let late = format!("{} Always knock.", "blah. ".repeat(20_000));
    assert_eq!(recognise(&late), None);
    assert_eq!(recognise(&"é".repeat(100_000)), None);
    assert_eq!(recognise(&".".repeat(100_000)), None);
}
