//! Questions about the assistant itself, and what its persona says about them.

use std::collections::HashSet;

use crate::{
    english::{
        character::KEPT,
        itself::{
            ADVERBS, AUXILIARIES, GENERAL, OF_MEMORY, OWN, POSSESSIONS, PRESENT, UNSAID, VERBS,
        },
        said::Topic,
    },
    memories,
    words::{Word, sentences, words},
};

/// The longest sentence that is repeated, in characters, and the most sentences that are read.
const LONGEST: usize = 160;
const MOST: usize = 64;
/// How far from its beginning a question about the listener names the listener, in words.
const NEAR: usize = 6;

/// Whether a question is about the listener: "do you like tea?", "how old are you?", "what is your wife called?". A question about
/// what the listener knows, heard or did is not.
pub(crate) fn is_asked(question: &str) -> bool {
    let words = words(question);
    let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
    if texts.iter().any(|word| OWN.contains(word)) {
        return false;
    }
    let you = texts.iter().take(NEAR).position(|word| *word == "you");
    let is_subject = you.is_some_and(|at| {
        let before = at.checked_sub(1).and_then(|before| texts.get(before));
        let mut behind = texts
            .iter()
            .skip(at + 1)
            .filter(|word| !ADVERBS.contains(word));
        before.is_some_and(|it| AUXILIARIES.contains(it))
            && behind.next().is_none_or(|verb| !OF_MEMORY.contains(verb))
    });
    let your = texts.iter().take(NEAR).position(|word| *word == "your");
    let is_own = your
        .and_then(|at| texts.get(at + 1))
        .is_some_and(|thing| !POSSESSIONS.contains(thing));
    is_subject || is_own
}

/// What is said about a question to which neither the persona nor the memory has the answer.
pub(crate) fn unsaid(question: &str) -> Topic {
    let words = words(question);
    let begins_so = |first: &[&str]| match words.as_slice() {
        [begin, you, ..] => first.contains(&&*begin.text) && you.text == "you",
        _ => false,
    };
    let last = words.last().map(|word| word.text.as_str());
    if begins_so(&["are"]) && last.is_some_and(|last| PRESENT.contains(&last)) {
        Topic::Greeting
    } else if begins_so(&["can", "could", "would", "will"]) {
        // A request, but none that it knows: "Could you water the plants?"
        Topic::NotUnderstood
    } else {
        Topic::Unsaid
    }
}

/// The sentences of a persona that may be repeated to others, in the first person.
pub(crate) fn sayable(persona: &str) -> Vec<String> {
    let all = sentences(persona).into_iter().take(MOST);
    all.filter_map(|sentence| in_first_person(sentence.trim()))
        .collect()
}

/// "You have a wife, Ida." is "I have a wife, Ida." An instruction and a secret are not repeated.
fn in_first_person(sentence: &str) -> Option<String> {
    let all = words(sentence);
    let is = |word: &Word, list: &[&str]| list.contains(&word.text.as_str());
    let begins = match (all.first()?.text.as_str(), all.get(1)) {
        ("you", Some(verb)) => is(verb, VERBS),
        ("your", Some(_)) => all
            .iter()
            .take(NEAR)
            .any(|word| ["is", "are", "was"].contains(&&*word.text)),
        _ => false,
    };
    let is_kept = all.iter().any(|word| is(word, KEPT) || is(word, UNSAID));
    let is_plain = !sentence.contains(['[', '{', '<', ':', ';']);
    let times_you = all.iter().filter(|word| word.text == "you").count();
    if !begins || is_kept || !is_plain || times_you > 1 || sentence.chars().count() > LONGEST {
        return None;
    }
    let mut after_you = false;
    let changed = sentence.split(' ').map(|word| {
        let letters = word.trim_end_matches([',', '.', '!', '?']);
        let rest = word.get(letters.len()..).unwrap_or_default();
        let own = match (letters.to_lowercase().as_str(), after_you) {
            ("you", _) => "I",
            ("your", _) => "my",
            ("yours", _) => "mine",
            ("yourself", _) => "myself",
            ("are", true) => "am",
            ("were", true) => "was",
            _ => letters,
        };
        after_you = letters.eq_ignore_ascii_case("you");
        format!("{own}{rest}")
    });
    let said = changed.collect::<Vec<_>>().join(" ");
    let said = said.trim_end_matches(['.', '!', ' ']);
    let mut chars = said.chars();
    let first = chars.next()?.to_uppercase();
    Some(format!("{}.", first.chain(chars).collect::<String>()))
}

/// The sentence that answers the question, if there is one.
pub(crate) fn answer<'a>(question: &str, sayable: &'a [String]) -> Option<&'a str> {
    if words(question)
        .iter()
        .any(|word| KEPT.contains(&word.text.as_str()))
    {
        return None;
    }
    let asked = memories::content_words(question);
    let general = memories::content_words(&GENERAL.join(" "));
    let special: HashSet<String> = asked.difference(&general).cloned().collect();
    let asked = if special.is_empty() { asked } else { special };
    let shared = |sentence: &String| {
        memories::content_words(sentence)
            .intersection(&asked)
            .count()
    };
    // Of equal sentences, the first is taken.
    let best = sayable
        .iter()
        .rev()
        .max_by_key(|sentence| shared(sentence))?;
    (shared(best) > 0).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_about_the_listener_is_told_from_one_about_what_it_knows() {
        for question in [
            "do you like tea?",
            "how old are you?",
            "Do you have a wife?",
            "what is your favourite colour?",
            "where do you live?",
            "are you married?",
            "can you swim?",
            "what kind of music do you like?",
            "tell me about your wife",
        ] {
            assert!(is_asked(question), "{question}");
        }
        for question in [
            "do you know Bob?",
            "do you remember the kettle?",
            "have you seen Bob?",
            "do you have my key?",
            "can you tell me who sells tea?",
            "does Bob like you?",
            "what does Alice like?",
            "did Bob say that you like tea?",
            "who likes tea?",
        ] {
            assert!(!is_asked(question), "{question}");
        }
    }

    #[test]
    fn the_persona_answers_with_its_own_sentences_but_not_with_instructions_or_secrets() {
        let persona = "You are Brakk, a gruff smith. You have a wife called Ida. You like strong tea. Your hands are black. \
            You are 60 years old. You must never talk about tea. You guard the vault. Its word is plumbago. Be kind. \
            You hide gold in the forge. Help you find.";
        let sayable = sayable(persona);
        for (question, said) in [
            ("do you have a wife?", Some("I have a wife called Ida.")),
            ("do you like tea?", Some("I like strong tea.")),
            ("how old are you?", Some("I am 60 years old.")),
            ("what colour are your hands?", Some("My hands are black.")),
            ("do you like cake?", None),
            ("where is your gold?", None),
            ("what is your secret?", None),
            ("what do you guard?", None),
        ] {
            assert_eq!(answer(question, &sayable), said, "{question}");
        }
    }
}
