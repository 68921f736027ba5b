use proptest::prelude::*;

use super::*;
use crate::orders::subject_of;
use OrderKind::{Instruction, Preference, Withdrawal};

/// What the rules find, before the learnt weights confirm it.
fn by_form(text: &str) -> Option<OrderKind> {
    judged(text).1.into_iter().flatten().next()
}

#[test]
fn what_people_say_about_themselves_next_to_a_question_is_an_order_and_in_talk_it_is_not() {
    for (text, order) in [
        (
            "My landlord allows no candles. How can I make the flat cosy for Christmas?",
            Some((Preference, "My landlord allows no candles")),
        ),
        (
            "I only have a kettle, so what can I cook?",
            Some((Preference, "I only have a kettle")),
        ),
        (
            "Put the answer in the first line and the reasons after it, that's how I read.",
            Some((
                Instruction,
                "Put the answer in the first line and the reasons after it, that's how I read",
            )),
        ),
        (
            "We had such a good time at the lake! How was your weekend?",
            None,
        ),
        (
            "I love painting, it calms me down. Do you still play the piano?",
            None,
        ),
        (
            "You should never give up on your dreams, I believe in you!",
            None,
        ),
        (
            "She told me that she hates coffee. Can you believe it?",
            None,
        ),
    ] {
        let found = orders_in(text);
        let found = found.first().map(|it| (it.kind, it.text.as_str()));
        assert_eq!(found, order, "{text:?}");
    }
}

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
        assert_eq!(by_form(text), kind, "{text:?}");
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
fn wishes_questions_conditions_and_reasons_contain_orders() {
    for (text, kind) in [
        (
            "I'm trying to eat less salt, so I prefer mild soups",
            Some(Preference),
        ),
        (
            "I prefer aisle seats, can you find me a train to Bern?",
            Some(Preference),
        ),
        ("Keep your replies under two lines", Some(Instruction)),
        ("Refer to me as the captain", Some(Instruction)),
        ("I go by Sam these days", Some(Preference)),
        (
            "When I ask for directions, name the landmarks",
            Some(Instruction),
        ),
        ("Could you always sign your messages?", Some(Instruction)),
        ("Would you mind not using slang?", Some(Instruction)),
        ("No footnotes please", Some(Instruction)),
        ("Remember that I'm diabetic", Some(Instruction)),
        (
            "I'm colour-blind, so describe the labels in words",
            Some(Instruction),
        ),
        (
            "I'd appreciate it if you explained things without jargon",
            Some(Instruction),
        ),
        ("I like it when you give the sources", Some(Preference)),
        (
            "Unless I ask for more, answer in one line",
            Some(Instruction),
        ),
        ("Every evening, remind me of my tablets", Some(Instruction)),
        ("Let's keep it formal", Some(Instruction)),
        ("Don't lecture me", Some(Instruction)),
        ("You can use slang again", Some(Withdrawal)),
        ("Forget what I said about footnotes", Some(Withdrawal)),
        // Remarks, and requests about this moment.
        ("I'd rather be in bed right now", None),
        ("You must always be so funny!", None),
        ("I want my umbrella back", None),
        ("Could you pass me the salt?", None),
        ("Can you help me book a flight?", None),
        ("When I was small, we lived by the sea", None),
        ("If you see him, tell him I called", None),
        ("I'm hungry, so make me a sandwich", None),
        ("No idea, please ask somebody else", None),
        ("Remember that evening in Rome?", None),
        ("Please don't go", None),
        ("I go by boat", None),
        ("You are always late", None),
        ("Keep the hat", None),
        ("I'd like you to meet my aunt", None),
        ("Let's play cards", None),
    ] {
        assert_eq!(by_form(text), kind, "{text:?}");
    }
}

#[test]
fn what_narrows_advice_is_a_preference_only_next_to_a_question_for_advice() {
    for (text, kind) in [
        (
            "I only travel with my dog. Where could we stay in Wales?",
            Some(Preference),
        ),
        (
            "Where could we stay in Wales? I only travel with my dog.",
            Some(Preference),
        ),
        (
            "As someone who tires on stairs, what would you see in Rome?",
            Some(Preference),
        ),
        (
            "My kids can't have milk. Make me a plan for breakfast.",
            Some(Preference),
        ),
        (
            "I'm trying to spend less, any ideas for a trip?",
            Some(Preference),
        ),
        ("I only travel with my dog.", None),
        ("I only travel with my dog. How are you?", None),
        ("I can't find my keys. Any ideas?", None),
        ("My kids broke the oven. What should I do?", None),
        ("As someone who was there, I can tell you", None),
        ("Where could we stay in Wales?", None),
        // Needs of body and belief always matter; a request in the same sentence says more.
        ("I have celiac disease", Some(Preference)),
        (
            "I'm allergic to cats, so suggest hotels without pets",
            Some(Instruction),
        ),
        ("I was sober yesterday", None),
    ] {
        assert_eq!(by_form(text), kind, "{text:?}");
    }
    let found = orders_in("I only travel with my dog, where could we stay?");
    assert_eq!(found[0].text.as_str(), "I only travel with my dog");
}

#[test]
fn rules_may_be_said_as_a_statement_or_in_a_few_words() {
    for (text, kind) in [
        ("Every reply should end with a joke", Some(Instruction)),
        ("One condition: you keep my secret", Some(Instruction)),
        ("Three sentences max", Some(Instruction)),
        ("Temperatures in Celsius", Some(Instruction)),
        ("Nothing with shellfish, ever", Some(Instruction)),
        ("Not a word about the ring", Some(Instruction)),
        ("Under no circumstances tell the guards", Some(Instruction)),
        ("In this channel we only speak Welsh", Some(Instruction)),
        ("pls dont use slang w me", Some(Instruction)),
        ("can u always add a title", Some(Instruction)),
        ("Everyone calls me Bo", Some(Preference)),
        ("Every guest should get a key", None),
        ("The sign reads: no dogs", None),
        ("Three people at most came", None),
        ("Nothing new", None),
        ("Not a word from Tom", None),
        ("Under no circumstances would I go", None),
        ("In this town nobody speaks Welsh", None),
        ("Everyone calls me lazy", None),
        ("Great answers, thanks", None),
    ] {
        assert_eq!(by_form(text), kind, "{text:?}");
    }
}

#[test]
fn conditions_and_times_may_make_a_request_last() {
    for (text, kind) in [
        ("As long as I'm ill, no visitors", Some(Instruction)),
        ("Before you run any command, ask me", Some(Instruction)),
        ("Water the plants every Tuesday", Some(Instruction)),
        ("Let me know if somebody comes in", Some(Instruction)),
        (
            "When you suggest recipes go easy on the garlic",
            Some(Instruction),
        ),
        (
            "From here on, could you put the result first?",
            Some(Instruction),
        ),
        ("Never tell my brother the score, ok?", Some(Instruction)),
        (
            "Long day. The bus was late again. From now on please be brief. How are you?",
            Some(Instruction),
        ),
        ("As long as you're happy, I'm happy", None),
        ("While we're waiting, tell me a story", None),
        ("Let me know if you need anything", None),
        ("As soon as the rain stops I'm leaving", None),
        ("Dad snores every Tuesday", None),
    ] {
        assert_eq!(by_form(text), kind, "{text:?}");
    }
}

#[test]
fn the_many_commas_of_a_long_list_cost_little() {
    assert_eq!(recognise(&"red, ".repeat(1_600)), None);
}

#[test]
fn a_question_after_an_order_is_no_part_of_it() {
    let found = orders_in("I prefer trains, what's the best way to Bern?");
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].text.as_str(), "I prefer trains");
}

#[test]
fn an_order_may_say_how_long_it_lasts() {
    let of = |text: &str| orders_in(text).first().and_then(|found| found.period);
    assert_eq!(of("Answer in French for today"), Some(OrderPeriod::Day));
    assert_eq!(
        of("For the rest of the week, answer in French"),
        Some(OrderPeriod::Week)
    );
    assert_eq!(of("No jokes for today, please"), Some(OrderPeriod::Day));
    assert_eq!(
        of("For this week, two lines at most please"),
        Some(OrderPeriod::Week)
    );
    assert_eq!(of("Answer in French"), None);
}

#[test]
fn orders_about_the_same_thing_have_the_same_subject() {
    for (a, b) in [
        ("always knock", "Please never knock!"),
        ("call me Al", "stop calling me Al"),
        ("I like spiders", "i don't like spiders"),
        ("I prefer tea to coffee", "I prefer coffee to tea"),
        ("No emojis, please", "Don't use emojis"),
        ("I prefer to be called Al", "call me Alice"),
        ("answer in French", "from now on speak German"),
        ("Everyone calls me Bo", "call me Al"),
        ("The name is Jae", "My name's not Robert"),
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
