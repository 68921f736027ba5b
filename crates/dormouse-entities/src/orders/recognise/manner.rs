//! Whether words ask for a lasting behaviour of the listener: "answer in French", "don't use emojis".

use super::lists::{
    AFTER_ALWAYS, AFTER_NEVER, DESCRIBED, DOING, HANDLING, IDIOMS, IRREGULAR, LASTING, MANNERS,
    MOMENTARY, MOMENTARY_PAIRS, SAID, SPEAKING, UNWANTED,
};
use crate::orders::subject::LANGUAGES;

/// How many words after a verb may name what is said.
const OBJECT: usize = 7;
/// The longest phrase after "no", in words.
const REFUSED: usize = 4;

/// Objects that are one thing at this moment.
const ONE_THING: &[&str] = &[
    "it", "this", "that", "these", "those", "him", "her", "them", "a", "an", "yourself", "here",
    "there",
];

/// Whether the words, which begin with a verb, ask for a behaviour that lasts.
pub(super) fn asks(words: &[&str]) -> bool {
    match words {
        [
            "please" | "just" | "also" | "kindly" | "simply" | "then" | "really",
            rest @ ..,
        ] => asks(rest),
        ["always", next, ..] => !AFTER_ALWAYS.contains(next),
        ["never", "ever", _, ..] => true,
        ["never", next, _, ..] => !AFTER_NEVER.contains(next),
        ["only" | "exclusively", verb, rest @ ..] => {
            let verb = base(verb);
            !rest.is_empty()
                && (is_in(SPEAKING, verb) || is_in(HANDLING, verb) || is_in(DOING, verb))
        }
        ["do" | "did", "not", rest @ ..] | ["not" | "don't" | "didn't", rest @ ..] => forbids(rest),
        [
            "stop" | "stopped" | "quit" | "avoid" | "avoided",
            doing,
            rest @ ..,
        ]
        | ["refrain", "from", doing, rest @ ..]
            if doing.ends_with("ing")
                && !matches!(
                    *doing,
                    "being"
                        | "anything"
                        | "everything"
                        | "spelling"
                        | "swearing"
                        | "cursing"
                        | "greeting"
                        | "lecturing"
                ) =>
        {
            let of_asker = matches!(rest, ["me" | "my" | "us" | "our", ..]);
            of_asker && !matches!(*doing, "making" | "scaring" | "hurting")
                || forbids_base(base(doing), rest)
        }
        ["no", rest @ ..] | ["enough", "with", rest @ ..] | ["go", "easy", "on", rest @ ..] => {
            refuses(rest)
        }
        ["stop" | "stopped" | "quit", "being", rest @ ..] => {
            rest.iter().take(2).any(|word| MANNERS.contains(word))
        }
        ["quit" | "stop", "the" | "all" | "with", rest @ ..] => refuses(rest),
        _ => is_lasting(words) && is_doing(words) || is_manner(words) || is_about_each(words),
    }
}

/// Whether the words after "don't" or "not" forbid something for good.
pub(super) fn forbids(words: &[&str]) -> bool {
    match words {
        ["to", rest @ ..] => forbids(rest),
        ["ever", _, ..] => true,
        ["talk" | "speak" | "chat" | "ask", "about", ..]
        | ["ask" | "tell", "me", "about", ..]
        | ["bring", "up", ..]
        | ["bring", _, "up", ..]
        | ["go", "into", "detail" | "details", ..] => true,
        ["tell", "anyone" | "anybody" | "others", ..] => true,
        ["give" | "send" | "show" | "ask" | "tell", "me", rest @ ..] => {
            mentions_said(rest) && !has_one_thing(rest)
        }
        ["be", "so" | "too", manner, ..] | ["be", manner, ..] => MANNERS.contains(manner),
        [verb, rest @ ..] => {
            forbids_base(base(verb), rest) || is_lasting(words) && is_in(DOING, base(verb))
        }
        [] => false,
    }
}

fn forbids_base(verb: &str, rest: &[&str]) -> bool {
    match (verb, rest) {
        ("call", ["me", after, ..]) => !AFTER_CALL_ME.contains(after),
        ("call" | "read" | "bring" | "offer", _) | (_, []) => {
            is_in(UNWANTED, verb) && mentions_said(rest) || is_alone(verb) && rest.is_empty()
        }
        _ if is_in(UNWANTED, verb) => !has_one_thing(rest),
        _ if is_in(SPEAKING, verb) => {
            is_manner_of_speaking(rest) || mentions_said(rest) && !has_one_thing(rest)
        }
        _ => {
            (is_in(HANDLING, verb)
                || matches!(
                    verb,
                    "make"
                        | "start"
                        | "end"
                        | "begin"
                        | "give"
                        | "put"
                        | "send"
                        | "tell"
                        | "ask"
                        | "say"
                        | "list"
                ))
                && mentions_said(rest)
                && !has_one_thing(rest)
        }
    }
}

/// Verbs that forbid something by themselves: "don't lecture".
fn is_alone(verb: &str) -> bool {
    matches!(
        verb,
        "lecture"
            | "sugarcoat"
            | "sugar-coat"
            | "preach"
            | "moralise"
            | "moralize"
            | "ramble"
            | "swear"
            | "curse"
            | "apologise"
            | "apologize"
            | "exaggerate"
            | "speculate"
            | "flatter"
    )
}

fn has_one_thing(rest: &[&str]) -> bool {
    rest.first().is_some_and(|first| ONE_THING.contains(first))
}

/// Whether a phrase after "no" refuses something in what is said: "no emojis please".
fn refuses(rest: &[&str]) -> bool {
    let rest = match rest {
        ["more", rest @ ..] => rest,
        rest => rest,
    };
    let ends = [
        "please", "thanks", "thank", "in", "when", "for", "from", "with", "at", "unless", "ever",
        "if", "or", "and",
    ];
    let phrase: Vec<_> = rest
        .iter()
        .take_while(|word| !ends.contains(word))
        .collect();
    (1..=REFUSED).contains(&phrase.len())
        // "No cheese in the recipes", too.
        && mentions_said(rest)
        && !phrase.iter().any(|word| IDIOMS.contains(word))
}

/// Whether the words say that a request lasts.
pub(super) fn is_lasting(words: &[&str]) -> bool {
    let phrases = LASTING.iter();
    matches!(words, [.., _, "always"] | [.., _, "always", "please"])
        || phrases
            .into_iter()
            .any(|phrase| words.windows(phrase.len()).any(|part| part == *phrase))
}

/// Whether the words are about this moment.
pub(super) fn is_momentary(words: &[&str]) -> bool {
    words.iter().any(|word| MOMENTARY.contains(word))
        || words
            .windows(2)
            .any(|pair| MOMENTARY_PAIRS.iter().any(|known| pair == known))
}

/// Whether the words begin like a request.
pub(super) fn is_doing(words: &[&str]) -> bool {
    let first = words.first().map(|word| base(word));
    first.is_some_and(|verb| is_in(DOING, verb) || is_in(SPEAKING, verb) || is_in(HANDLING, verb))
}

/// Whether the words name something that is said, or how.
pub(super) fn mentions_said(words: &[&str]) -> bool {
    words.iter().take(OBJECT).any(|word| SAID.contains(word))
}

/// Whether a request is about how the listener speaks or behaves, so that it lasts without saying so.
/// Whether a request is about all that is said of a kind: "end every message with a joke", "give prices in euros".
fn is_about_each(words: &[&str]) -> bool {
    if !is_doing(words) {
        return false;
    }
    let rest = match words {
        [_, "me" | "us", rest @ ..] | [_, rest @ ..] => rest,
        [] => words,
    };
    match rest {
        ["every" | "each" | "all", rest @ ..] => {
            rest.iter().take(2).any(|word| SAID.contains(word))
        }
        ["your", rest @ ..] => {
            matches!(
                words,
                [
                    "begin" | "start" | "end" | "finish" | "make" | "sign" | "shorten",
                    ..
                ]
            ) && rest.iter().take(2).any(|word| SAID.contains(word))
        }
        [what, "in" | "as" | "to" | "with", how @ ..] => {
            what.len() > 3
                && what.ends_with('s')
                && !matches!(*what, "this" | "yours")
                && mentions_said(how)
        }
        ["before", what, ..] => *what == "you" || SAID.contains(what),
        _ => false,
    }
}

/// Whether a request is the name of what is wanted: "short answers only, please".
pub(super) fn is_named(words: &[&str]) -> bool {
    let is_measured = words.iter().any(|word| {
        [
            "only", "most", "less", "fewer", "more", "maximum", "max", "shorter",
        ]
        .contains(word)
    });
    words.len() <= 7
        && is_measured
        && mentions_said(words)
        && !words.iter().any(|word| {
            DESCRIBED.contains(word) && *word != "most"
                || matches!(*word, "for" | "is" | "are" | "was" | "were" | "any")
        })
}

fn is_manner(words: &[&str]) -> bool {
    let Some((first, rest)) = words.split_first() else {
        return false;
    };
    match (base(first), rest) {
        (
            "be",
            [
                "more" | "less" | "as" | "a" | "bit" | "very" | "completely" | "totally" | "always"
                | "brutally" | "so",
                rest @ ..,
            ],
        ) => rest.iter().take(3).any(|word| MANNERS.contains(word)),
        ("be", [manner, rest @ ..]) => {
            MANNERS.contains(manner) && !matches!(rest, ["for" | "on" | "by" | "at" | "about", ..])
                || matches!(rest, ["with" | "to", "me", ..])
        }
        ("call", ["me", name, ..]) => !AFTER_CALL_ME.contains(name),
        ("treat", [what, rest @ ..]) => {
            *what != "yourself" && (rest.contains(&"as") || rest.contains(&"like"))
        }
        ("refer", ["to", _, rest @ ..]) => {
            let how = ["as", "by", "with", "using"];
            rest.iter().any(|word| how.contains(word))
        }
        ("limit", ["yourself", ..]) => true,
        ("speak" | "write" | "talk", [language, ..]) if LANGUAGES.contains(language) => true,
        ("keep", [_, "out", "of", what, ..]) => {
            ["this", "it", "our", "your", "my"].contains(what)
                && !matches!(rest, ["the" | "your" | "this", ..])
        }
        ("address", [_, _, ..]) => true,
        ("act" | "behave", ["like" | "as", what, ..]) => {
            !ONE_THING.iter().take(6).any(|word| word == what)
        }
        (
            "keep",
            [
                "it" | "things" | "this" | "that" | "everything",
                how,
                rest @ ..,
            ],
        ) => {
            MANNERS.contains(how)
                || matches!(*how, "private" | "confidential" | "secret")
                || matches!(
                    (*how, rest),
                    ("between", ["us", ..]) | ("to", ["yourself", ..])
                )
                || mentions_said(words)
        }
        ("get", rest) => rest.ends_with(&["to", "the", "point"]),
        ("leave", rest) => rest.contains(&"out") && mentions_said(rest),
        ("write" | "address", ["in" | "like" | "as" | "without", ..]) => {
            is_manner_of_speaking(rest)
        }
        (verb, _) if is_in(SPEAKING, verb) && is_manner_of_speaking(rest) => true,
        (verb, _) if is_in(HANDLING, verb) && verb != "write" => {
            mentions_said(rest) && !has_one_thing(rest)
        }
        _ => false,
    }
}

/// Whether the words after a verb for speaking say how to speak: "to me in French", "like a pirate".
fn is_manner_of_speaking(rest: &[&str]) -> bool {
    match rest {
        ["to" | "with", "me" | "us", rest @ ..]
        | [
            "me" | "us" | "everything" | "things" | "all" | "mostly" | "only",
            rest @ ..,
        ] => is_manner_of_speaking(rest),
        ["in", what, ..] => {
            let place = [
                "the", "there", "here", "front", "my", "your", "this", "that", "person", "case",
            ];
            !place.contains(what) && !matches!(*what, "a" | "an")
                || mentions_said(rest)
                || rest
                    .iter()
                    .any(|word| matches!(*word, "way" | "manner" | "tone"))
        }
        ["like" | "as", what, ..] => !matches!(*what, "that" | "this" | "soon" | "well" | "you"),
        ["without" | "using", _, ..] | ["more" | "less", _, ..] => true,
        ["with", ..] => mentions_said(rest),
        ["at", ..] => rest.contains(&"level"),
        [how, ..] => {
            MANNERS.contains(how)
                || how.len() > 4 && how.ends_with("ly")
                || matches!(*how, "slower" | "simpler" | "shorter")
        }
        [] => false,
    }
}

/// Whether the words ask the listener, rather than describing a person or thing.
pub(super) fn is_asked_for(words: &[&str]) -> bool {
    match words {
        ["please" | "just" | "only" | "you", rest @ ..] if !rest.is_empty() => is_asked_for(rest),
        [first, second, ..] => {
            let copulas = [
                "is", "are", "was", "were", "will", "has", "have", "had", "can", "may", "might",
            ];
            !DESCRIBED.contains(first) && !copulas.contains(second)
        }
        [first] => !DESCRIBED.contains(first),
        [] => false,
    }
}

/// The verb of a form such as "kept", "using" or "stopped"; the word itself if it is no known form.
pub(super) fn base(word: &str) -> &str {
    let known = |verb: &str| {
        [SPEAKING, HANDLING, UNWANTED, DOING]
            .iter()
            .any(|list| list.contains(&verb))
    };
    if known(word) {
        return word;
    }
    if let Some((_, verb)) = IRREGULAR.iter().find(|(form, _)| *form == word) {
        return verb;
    }
    let Some(stem) = word.strip_suffix("ing").or_else(|| word.strip_suffix("ed")) else {
        return word;
    };
    let lists = [SPEAKING, HANDLING, UNWANTED, DOING];
    let verbs = lists.iter().flat_map(|list| list.iter());
    let mut fitting = verbs.filter(|verb| {
        // "us" of "using" without its e, "stopp" of "stopped" with a letter twice, "repli" of "replied".
        **verb == stem
            || verb.strip_suffix('e') == Some(stem)
            || stem
                .strip_prefix(**verb)
                .is_some_and(|twice| twice.len() == 1 && verb.ends_with(twice))
            || stem.ends_with('i') && verb.strip_suffix('y') == stem.strip_suffix('i')
    });
    fitting.next().copied().unwrap_or(word)
}

fn is_in(list: &[&str], verb: &str) -> bool {
    list.contains(&verb)
}

/// Words after "call me" that concern a phone call, or nothing.
#[rustfmt::skip]
pub(super) const AFTER_CALL_ME: &[&str] = &[
    "back", "later", "when", "if", "at", "tomorrow", "tonight", "today", "on", "in", "once", "after", "before", "again", "soon",
    "anytime", "crazy", "this", "that", "over", "from", "a", "an", "and", "as", "late", "old-fashioned", "every", "maybe", "stupid", "names", "silly",
];
