//! When somebody takes back what they asked for: "you can use emojis again", "forget what I said about tea".

use crate::orders::clause::Clause;

/// The words after which a withdrawal says what it is about; `None` if the words withdraw nothing.
pub(super) fn withdrawn<'w>(clause: Clause<'w>) -> Option<&'w [&'w str]> {
    let words = clause.words;
    match words {
        [
            "the" | "my",
            "rule" | "request" | "wish",
            "about" | "on" | "for",
            rest @ ..,
            "no",
            "longer",
            _,
        ]
        | ["never", "mind", "what", "i", "said", "about", rest @ ..] => Some(rest),
        [
            "forget" | "ignore" | "drop" | "disregard",
            "my",
            _,
            "wish" | "request" | "rule" | "order" | "instruction",
            rest @ ..,
        ] => about(rest),
        ["i" | "i've", "changed", "my", "mind", ..] => {
            let rest = clause.before_pause().words;
            about(rest.get(rest.iter().position(|word| *word == "mind")? + 1..)?)
        }
        [
            "forget" | "ignore" | "disregard" | "drop" | "scrap",
            rest @ ..,
        ] if matches!(rest, [.., "thing" | "rule"]) => {
            let rest = rest.strip_prefix(&["about"]).unwrap_or(rest);
            rest.get(..rest.len() - 1)
        }
        [
            "forget" | "ignore" | "disregard",
            "what",
            "i",
            "said" | "asked" | "told",
            rest @ ..,
        ]
        | [
            "forget" | "ignore" | "disregard",
            "that",
            "i",
            "said" | "asked" | "told",
            rest @ ..,
        ]
        | ["i", "take", "back", "what", "i", "said", rest @ ..]
        | [
            "forget" | "ignore" | "drop",
            "my",
            "wish" | "request" | "rule" | "order" | "instruction" | "preference",
            rest @ ..,
        ] => match rest {
            ["you", rest @ ..] => about(rest),
            rest => about(rest),
        },
        ["you", "don't", "have" | "need", "to", rest @ .., "anymore"]
        | [
            "you",
            "don't",
            "have" | "need",
            "to",
            rest @ ..,
            "any",
            "more" | "longer",
        ]
        | ["you", "no", "longer", "have" | "need", "to", rest @ ..]
        | ["you", "can" | "may", "stop", rest @ ..]
        | ["you", "can" | "may", "go", "back", "to", rest @ ..]
        | ["you", "can" | "may", rest @ .., "again"]
        | [
            "i",
            "no",
            "longer",
            "want" | "need" | "like" | "prefer" | "mind" | "care" | "require" | "wish" | "eat"
            | "drink" | "use",
            rest @ ..,
        ]
        | ["i'm", "no", "longer", rest @ ..]
        | ["i'm", "not", rest @ .., "anymore"] => Some(rest),
        _ => None,
    }
    .filter(|rest| !rest.is_empty() && !is_once(words))
}

fn about<'w>(words: &'w [&'w str]) -> Option<&'w [&'w str]> {
    match words {
        ["about" | "for" | "to" | "that" | "regarding", rest @ ..] => Some(rest),
        _ => None,
    }
}

/// "You can say that again" and the like withdraw nothing.
fn is_once(words: &[&str]) -> bool {
    matches!(
        words,
        [
            "you",
            "can" | "may",
            "say" | "come" | "do" | "try" | "call" | "see" | "go",
            ..,
            "again"
        ]
    )
}
