//! What people say about themselves: what they like, and what they are called.

use super::{
    lists::{PASSING_STATES, SAID},
    manner::{AFTER_CALL_ME, asks, forbids, is_momentary},
};
use crate::orders::clause::Clause;

/// What is liked in a remark about the present moment.
const REMARKS: &[&str] = &[
    "that", "this", "it", "you", "your", "him", "her", "them", "how", "what", "where", "who",
    "these", "those", "his", "their", "to",
];

/// Ways to go: "I go by train" names nobody.
const VEHICLES: &[&str] = &[
    "train", "bus", "car", "bike", "bicycle", "boat", "plane", "tram", "taxi", "foot", "ferry",
    "the", "your", "his", "her", "a", "so", "ship", "metro", "subway", "what", "myself", "here",
    "there",
];

/// Whether the clause says what its speaker prefers, or what they are called.
pub(super) fn is_preference(clause: Clause<'_>) -> bool {
    match clause.words {
        ["call", "me", name, ..] | ["you", "can" | "may" | "could", "call", "me", name, ..] => {
            !AFTER_CALL_ME.contains(name)
        }
        ["my", "pronouns" | "pronoun", "are" | "is", _, ..] => true,
        [
            "my",
            "name",
            "is" | "isn't",
            "spelled" | "spelt" | "written" | "pronounced",
            ..,
        ] => true,
        ["i", "go" | "went", "by", name, ..] => clause.is_name(3) && !VEHICLES.contains(name),
        [
            "people" | "everyone" | "everybody" | "friends",
            "call" | "calls",
            "me",
            ..,
        ] => clause.is_name(3),
        ["my", "friends", "call", "me", ..] => clause.is_name(4),
        ["my", "favourite" | "preferred", of_what, rest @ ..] => {
            let is_moment = ["part", "bit", "moment", "scene", "memory", "thing"].contains(of_what);
            !is_moment
                && matches!(
                    rest.iter().position(|word| matches!(*word, "is" | "are")),
                    Some(0..=3)
                )
        }
        ["my", "preference", "is" | "would", _, ..] => true,
        ["i", "want", "my", what, rest @ ..] => {
            !rest.is_empty()
                && (!rest.contains(&"to") || SAID.contains(what))
                && !matches!(rest, ["back", ..] | ["now", ..])
                && !matches!(
                    *what,
                    "mum" | "mom" | "dad" | "mother" | "father" | "own" | "money"
                )
        }
        ["i'd", rest @ ..] | ["i", "would", rest @ ..] => is_wish(rest),
        ["i", rest @ ..] => is_liking(rest),
        [
            "i'm",
            "not",
            "comfortable" | "okay" | "ok" | "happy",
            "with" | "discussing" | "talking" | "being",
            what,
            ..,
        ] => !REMARKS.contains(what),
        ["i'm", "not", "a", "fan", "of", what, ..]
        | ["i'm", "not", "fond", "of", what, ..]
        | ["i'm", "a", "fan", "of", what, ..] => !REMARKS.contains(what),
        ["please", ..] => is_preference(clause.without(1)),
        _ => false,
    }
}

/// Whether "I'd" or "I would" with these words is about more than this moment.
fn is_wish(words: &[&str]) -> bool {
    match words {
        ["rather" | "prefer" | "sooner", "not", "to", rest @ ..]
        | ["rather" | "sooner" | "prefer", "not", rest @ ..] => {
            matches!(
                rest,
                [
                    "talk" | "discuss" | "speak" | "hear" | "be",
                    "about" | "called" | "addressed" | "asked" | "reminded",
                    ..
                ]
            )
        }
        ["rather", "you", rest @ ..] => {
            asks(rest)
                || matches!(rest, ["didn't" | "did", ..])
                    && forbids(rest.get(1..).unwrap_or_default())
        }
        ["prefer", "to", "be", "called" | "addressed", ..]
        | ["rather" | "sooner", "be", "called" | "addressed", ..] => true,
        ["rather", ..] => false,
        [
            "really" | "much" | "always" | "generally" | "usually",
            rest @ ..,
        ] => is_wish(rest),
        ["prefer", "if" | "it" | "that", ..] => false,
        ["prefer", what, ..] => !REMARKS.contains(what),
        _ => false,
    }
}

/// Whether a sentence that starts with "I" states a preference.
fn is_liking(words: &[&str]) -> bool {
    match words {
        [
            "really" | "also" | "always" | "usually" | "generally" | "still" | "much" | "just"
            | "absolutely" | "strongly" | "definitely" | "personally" | "simply",
            rest @ ..,
        ] => is_liking(rest),
        [
            "like" | "love" | "prefer" | "appreciate" | "enjoy" | "hate" | "dislike",
            "it",
            "when" | "if",
            who,
            ..,
        ]
        | [
            "hate" | "love" | "like" | "prefer" | "dislike",
            "when",
            who,
            ..,
        ]
        | [
            "don't" | "can't",
            "like" | "stand" | "enjoy" | "appreciate" | "mind",
            "it",
            "when" | "if",
            who,
            ..,
        ]
        | ["find", "it", _, "when" | "if", who, ..] => {
            matches!(*who, "you" | "people" | "someone" | "somebody" | "others")
        }
        ["prefer", "to", "be", "called" | "addressed", ..] => true,
        ["prefer", "to", what, ..] => !matches!(*what, "be" | "stay" | "go" | "wait"),
        ["prefer", what, ..] => !REMARKS.contains(what) && *what != "not",
        ["use", _, "pronouns", ..] => true,
        [
            "don't" | "never",
            "want",
            "to",
            "talk" | "discuss" | "hear" | "be",
            rest @ ..,
        ] => matches!(
            rest,
            ["about" | "called" | "addressed" | "reminded" | "asked", ..]
        ),
        ["don't", "want" | "need", rest @ ..] => {
            matches!(
                rest,
                ["any" | "your" | "to", ..]
                    | [_]
                    | [_, "in" | "from", ..]
                    | [_, _, "in" | "from", ..]
            ) && rest.iter().take(3).any(|word| SAID.contains(word))
        }
        [
            "like" | "love" | "enjoy" | "hate" | "dislike" | "adore" | "loathe",
            rest @ ..,
        ] => is_liked(rest),
        ["don't", rest @ ..] | ["do", "not", rest @ ..] => {
            matches!(rest, ["like" | "enjoy" | "love", rest @ ..] if is_liked(rest))
        }
        ["can't" | "cannot", "stand", rest @ ..] => is_liked(rest),
        _ => false,
    }
}

/// Whether something may be liked for good: not one thing that is here now.
fn is_liked(what: &[&str]) -> bool {
    let [first, ..] = what else {
        return false;
    };
    let is_one = matches!(
        what,
        [
            "the",
            "look"
                | "sound"
                | "way"
                | "idea"
                | "thought"
                | "colour"
                | "smell"
                | "taste"
                | "new"
                | "view"
                | "song",
            ..
        ]
    ) || what
        .iter()
        .any(|word| matches!(*word, "this" | "that" | "here" | "there" | "today"));
    !REMARKS.contains(first) && !is_one && !is_momentary(what)
}

/// Whether the clause says something about its speaker that stays so for a while: "I'm vegan", "my sister is deaf".
pub(super) fn is_of_speaker(words: &[&str]) -> bool {
    match words {
        ["that", rest @ ..] => is_of_speaker(rest),
        _ if is_momentary(words) => false,
        ["i'm", rest @ ..] | ["i", "am", rest @ ..] => {
            let rest = match rest {
                [
                    "also" | "still" | "very" | "really" | "not" | "quite",
                    rest @ ..,
                ] => rest,
                rest => rest,
            };
            rest.first()
                .is_some_and(|state| !PASSING_STATES.contains(state))
        }
        ["i" | "we", does, ..] => [
            "have",
            "don't",
            "can't",
            "cannot",
            "never",
            "prefer",
            "like",
            "live",
            "speak",
            "need",
            "only",
            "always",
            "hate",
            "love",
            "know",
            "mean",
            "want",
            "eat",
            "drink",
            "use",
            "go",
            "teach",
            "dislike",
            "understand",
            "work",
            "suffer",
            "wear",
            "struggle",
            "keep",
            "follow",
            "read",
            "write",
            "own",
            "usually",
            "often",
        ]
        .contains(does),
        ["i've", "got" | "never" | "a", ..] => true,
        ["my", _, rest @ ..] | ["our", _, rest @ ..] => {
            matches!(
                rest.iter().position(|word| matches!(
                    *word,
                    "is" | "are" | "has" | "have" | "isn't" | "hates" | "can't" | "doesn't"
                )),
                Some(0..=2)
            )
        }
        _ => false,
    }
}
