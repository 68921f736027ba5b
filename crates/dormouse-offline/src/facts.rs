//! Facts in plain sentences: what the speaker says about themselves, and about others.

use crate::{
    english::{
        facts::{BEFORE, FactKind, NO_FACT, OF_THE_SPEAKER, PRONOUNS, VERBS},
        understood::ASKS,
    },
    pattern::{captured, matched, text_of},
    words::{Word, asks, begins, sentences, words},
};

/// The longest sentence that holds a fact, in words, and the most facts of one text.
const LONGEST: usize = 30;
const MOST: usize = 8;
/// How many words the subject of a sentence has, at most.
const SUBJECT: usize = 5;

/// A fact in the third person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Fact {
    pub(crate) text: String,
    pub(crate) kind: FactKind,
    /// Whom or what it is about.
    pub(crate) about: String,
}

/// The facts in a text that `speaker` said.
pub(crate) fn of_text(text: &str, speaker: &str) -> Vec<Fact> {
    let parts = sentences(text);
    let facts = parts.iter().filter_map(|part| of_sentence(part, speaker));
    facts.take(MOST).collect()
}

/// The fact in a sentence that `speaker` said. If the speaker is empty, sentences with "I" hold no fact.
pub(crate) fn of_sentence(sentence: &str, speaker: &str) -> Option<Fact> {
    if asks(sentence) {
        return None;
    }
    let all = words(sentence);
    let words = without_before(&all);
    let last_is_whole = words.len() <= LONGEST && all.len() < 48;
    let holds_none = words
        .iter()
        .any(|word| NO_FACT.contains(&word.text.as_str()));
    if !last_is_whole || words.len() < 3 || holds_none {
        return None;
    }
    of_the_speaker(sentence, words, speaker).or_else(|| of_others(sentence, words, speaker))
}

fn of_the_speaker(sentence: &str, words: &[Word], speaker: &str) -> Option<Fact> {
    if speaker.is_empty() {
        return None;
    }
    OF_THE_SPEAKER.iter().find_map(|(pattern, fact, kind)| {
        let captures = matched(pattern, words)?;
        let part = |name: &str| {
            let text = captured(sentence, words, &captures, name).unwrap_or_default();
            in_third_person(text, speaker)
        };
        let from = |at: usize| {
            let text = words.get(at..).and_then(|words| text_of(sentence, words));
            in_third_person(text.unwrap_or_default(), speaker)
        };
        let (x, y) = (part("x"), part("y"));
        let text = fact
            .replace("{x}", &x)
            .replace("{y}", &y)
            .replace("{all}", &from(2))
            .replace("{whole}", &from(0))
            .replace("{s's}", &possessive(speaker))
            .replace("{s}", speaker);
        Some(Fact {
            text,
            kind: *kind,
            about: speaker.to_owned(),
        })
    })
}

/// What a sentence says about somebody or something else. The fact names the speaker, because it is only their claim.
fn of_others(sentence: &str, words: &[Word], speaker: &str) -> Option<Fact> {
    let first = words.first()?;
    if ASKS.contains(&first.text.as_str()) || PRONOUNS.contains(&first.text.as_str()) {
        return None;
    }
    let subject_end = words.iter().position(|word| is_verb(&word.text))?;
    let subject = words.get(..subject_end)?;
    let is_named = (1..=SUBJECT).contains(&subject.len()) && subject_end + 1 < words.len();
    let kind = words.get(subject_end).and_then(|verb| kind_of(&verb.text));
    let (kind, subject) = kind.zip(text_of(sentence, subject).filter(|_| is_named))?;
    let said = in_third_person(text_of(sentence, words)?, speaker);
    let is_own = speaker.is_empty() || subject.eq_ignore_ascii_case(speaker);
    let text = match is_own {
        true => format!("{}.", capitalised(&said)),
        false => format!("{speaker} says that {}.", uncapitalised(&said)),
    };
    Some(Fact {
        text,
        kind,
        about: without_article(subject).to_owned(),
    })
}

fn is_verb(word: &str) -> bool {
    kind_of(word).is_some()
}

fn kind_of(word: &str) -> Option<FactKind> {
    let verb = VERBS.iter().find(|(verb, _)| *verb == word)?;
    Some(verb.1)
}

/// Leaves out phrases before a fact that do not change it ("remember that").
fn without_before(words: &[Word]) -> &[Word] {
    let mut rest = words;
    for _ in 0..4 {
        let skipped = BEFORE.iter().map(|phrase| begins(rest, phrase)).max();
        match skipped.filter(|skipped| *skipped > 0) {
            Some(skipped) => rest = rest.get(skipped..).unwrap_or_default(),
            None => break,
        }
    }
    rest
}

/// Puts the speaker's name where the speaker says "my" or "me".
fn in_third_person(text: &str, speaker: &str) -> String {
    if speaker.is_empty() {
        return text.to_owned();
    }
    let changed = text.split(' ').map(|word| {
        let letters = word.trim_end_matches([',', '.', '!']);
        let rest = word.get(letters.len()..).unwrap_or_default();
        let new = match letters.to_lowercase().as_str() {
            "my" | "mine" => possessive(speaker),
            "me" | "myself" | "i" => speaker.to_owned(),
            _ => letters.to_owned(),
        };
        format!("{new}{rest}")
    });
    changed.collect::<Vec<_>>().join(" ")
}

fn possessive(name: &str) -> String {
    match name.ends_with('s') {
        true => format!("{name}'"),
        false => format!("{name}'s"),
    }
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    match chars.next() {
        Some(first) => first.to_uppercase().chain(chars).collect(),
        None => String::new(),
    }
}

/// Lower case for an article at the beginning; a name stays as it is.
fn uncapitalised(text: &str) -> String {
    match text.split_once(' ') {
        Some((first, rest)) if is_article(first) => format!("{} {rest}", first.to_lowercase()),
        _ => text.to_owned(),
    }
}

fn without_article(text: &str) -> &str {
    match text.split_once(' ') {
        Some((first, rest)) if is_article(first) => rest,
        _ => text,
    }
}

fn is_article(word: &str) -> bool {
    ["the", "a", "an", "our", "this"].contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests;
