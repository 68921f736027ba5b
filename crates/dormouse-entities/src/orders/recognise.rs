//! Recognises standing orders in plain English by their first words.

use dormouse_text::beginning_bytes;

use super::{
    OrderKind, OrderSubject, OrderText, sentence::Sentence, sentence::statements, subject,
};

/// The maximum number of orders per text.
const MOST: usize = 5;
/// How much of a text is searched, in bytes.
const LOOKED_AT: usize = 8_000;

/// A standing order found in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FoundOrder {
    /// The kind of request.
    pub kind: OrderKind,
    /// The sentence with the request.
    pub text: OrderText,
    /// The subject.
    pub subject: Option<OrderSubject>,
}

/// The kind of the first standing order in a text, if there is one.
///
/// [`orders_in`] explains how, and the limits.
#[must_use]
pub fn recognise(text: &str) -> Option<OrderKind> {
    statements(beginning(text)).find_map(|sentence| kind(&sentence))
}

/// The standing orders in a text, in order; at most five, in its first 8,000 bytes.
///
/// Instructions begin with *always*, *never*, *from now on*, *in future*, *going forward*, *don't ever*, *you
/// must/should always/never*, *I want you to always/never*, *make sure to always*, *whenever …, (do)*, *stop …ing me*,
/// or forbid something politely or with *again*, *anymore*. Preferences begin with *call me*, *I prefer*, *I'd rather*,
/// *I like/love/enjoy/hate …*, *I don't like*, *my favourite … is*, *I want my …*, *my pronouns are*. A greeting, a
/// name and *please* may precede them.
///
/// Limits: English only, sentence by sentence, by the first words. Questions, quotations and sentences about others
/// ("she always knocks") do not count. Revocations ("forget what I said about tea") and irony are not recognised. A
/// found order is only a request; [`compile`](super::compile()) decides whether it counts.
#[must_use]
pub fn orders_in(text: &str) -> Vec<FoundOrder> {
    statements(beginning(text))
        .filter_map(|sentence| {
            Some(FoundOrder {
                kind: kind(&sentence)?,
                text: OrderText::shortened(sentence.text)?,
                subject: subject::of(&sentence),
            })
        })
        .take(MOST)
        .collect()
}

pub(super) fn beginning(text: &str) -> &str {
    beginning_bytes(text, LOOKED_AT)
}

fn kind(sentence: &Sentence<'_>) -> Option<OrderKind> {
    let words: Vec<&str> = sentence.words.iter().map(String::as_str).collect();
    if is_instruction(&words, sentence) {
        Some(OrderKind::Instruction)
    } else if is_preference(&words) {
        Some(OrderKind::Preference)
    } else {
        None
    }
}

fn is_instruction(words: &[&str], sentence: &Sentence<'_>) -> bool {
    match words {
        ["from", "now", "on", rest @ ..]
        | ["in", "future", rest @ ..]
        | ["in", "the", "future", rest @ ..]
        | ["going", "forward", rest @ ..] => is_asked_for(rest),
        ["you", "must" | "should" | "shall" | "are", rest @ ..]
        | ["you", "have" | "need", "to", rest @ ..]
        | [
            "i",
            "want" | "need" | "expect" | "would" | "ask",
            "you",
            "to",
            rest @ ..,
        ]
        | ["i'd" | "id", "like", "you", "to", rest @ ..]
        | ["i", "would", "like", "you", "to", rest @ ..]
        | ["make" | "be", "sure", "to" | "you", rest @ ..]
        | ["to", rest @ ..] => matches!(rest, ["always" | "never", _, ..]),
        ["always", next, ..] => !AFTER_ALWAYS.contains(next),
        ["never", "ever", _, ..] => true,
        ["never", next, _, ..] => !AFTER_NEVER.contains(next),
        ["don't", "ever", _, ..] | ["do", "not", "ever", _, ..] => true,
        ["don't", "worry" | "mind", ..] | ["do", "not", "worry" | "mind", ..] => false,
        ["don't", _, ..] | ["do", "not", _, ..] => {
            sentence.is_polite || matches!(words, [.., "again" | "anymore"] | [.., "any", "more"])
        }
        ["whenever" | "anytime", ..] | ["every" | "each" | "any", "time", ..] => {
            let then = words.get(sentence.before_comma..);
            // This is also called with shorter forms of the sentence, which may end before the comma.
            then.is_some_and(is_asked_for)
        }
        ["stop", doing, "me" | "my" | "us" | "our", ..] => doing.ends_with("ing"),
        [rest @ .., "from", "now", "on"] => is_asked_for(rest),
        _ => false,
    }
}

/// Whether the sentence asks the listener, rather than describing a person or thing.
fn is_asked_for(words: &[&str]) -> bool {
    let about = [
        "i",
        "i'll",
        "i'm",
        "i've",
        "i'd",
        "we",
        "we'll",
        "we're",
        "he",
        "he'll",
        "she",
        "she'll",
        "it",
        "it'll",
        "it's",
        "they",
        "they'll",
        "there",
        "there'll",
        "the",
        "a",
        "an",
        "my",
        "our",
        "his",
        "her",
        "their",
        "its",
        "this",
        "that",
        "these",
        "those",
        "everything",
        "everyone",
        "nothing",
        "nobody",
        "things",
        "people",
    ];
    words.first().is_some_and(|first| !about.contains(first))
}

/// Words after "always" in a description.
const AFTER_ALWAYS: [&str; 26] = [
    "a",
    "an",
    "the",
    "i",
    "been",
    "was",
    "were",
    "is",
    "are",
    "had",
    "has",
    "have",
    "knew",
    "wanted",
    "thought",
    "wondered",
    "good",
    "nice",
    "great",
    "happy",
    "glad",
    "there",
    "something",
    "someone",
    "so",
    "such",
];

/// Words after "never" in a description.
const AFTER_NEVER: [&str; 34] = [
    "a",
    "an",
    "the",
    "i",
    "been",
    "was",
    "were",
    "is",
    "are",
    "had",
    "has",
    "have",
    "knew",
    "wanted",
    "thought",
    "wondered",
    "mind",
    "heard",
    "seen",
    "saw",
    "met",
    "tried",
    "said",
    "felt",
    "got",
    "went",
    "did",
    "understood",
    "really",
    "again",
    "before",
    "once",
    "liked",
    "in",
];

fn is_preference(words: &[&str]) -> bool {
    match words {
        ["call", "me", name, ..] | ["you", "can" | "may" | "could", "call", "me", name, ..] => {
            !AFTER_CALL_ME.contains(name)
        }
        ["address", "me", ..] | ["my", "pronouns", "are", _, ..] => true,
        ["my", "favourite" | "favorite" | "preferred", _, rest @ ..] => {
            rest.contains(&"is") || rest.contains(&"are")
        }
        ["my", "preference", "is", _, ..] => true,
        ["i", "want", "my", _, ..] => true,
        ["i'd", "prefer" | "rather", _, ..] => true,
        ["i", rest @ ..] => is_liking(rest),
        _ => false,
    }
}

/// Words after "call me" that concern a phone call, or nothing.
const AFTER_CALL_ME: [&str; 24] = [
    "back", "later", "when", "if", "at", "tomorrow", "tonight", "today", "on", "in", "once",
    "after", "before", "again", "soon", "anytime", "crazy", "this", "that", "over", "from", "a",
    "an", "and",
];

/// Whether a sentence that starts with "I" states a preference.
fn is_liking(words: &[&str]) -> bool {
    match words {
        [
            "really" | "also" | "always" | "usually" | "generally" | "still" | "much" | "just"
            | "absolutely" | "strongly" | "definitely",
            rest @ ..,
        ] => is_liking(rest),
        ["prefer", _, ..] | ["would", "prefer" | "rather", _, ..] => true,
        [
            "like" | "love" | "enjoy" | "hate" | "dislike" | "adore" | "loathe",
            what,
            ..,
        ] => !REMARKS.contains(what),
        ["don't", rest @ ..] | ["do", "not", rest @ ..] => {
            matches!(rest, ["like" | "enjoy" | "love", what, ..] if !REMARKS.contains(what))
        }
        ["can't" | "cannot", "stand", what, ..] => !REMARKS.contains(what),
        _ => false,
    }
}

/// What is liked in a remark about the present moment.
const REMARKS: [&str; 16] = [
    "that", "this", "it", "you", "your", "him", "her", "them", "how", "what", "where", "who",
    "these", "those", "his", "their",
];

#[cfg(test)]
mod tests;
