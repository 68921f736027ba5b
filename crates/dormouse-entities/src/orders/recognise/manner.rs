//! Whether words ask for a lasting behaviour of the listener: "answer in French", "don't use emojis".

use super::lists::{
    AFTER_ALWAYS, AFTER_NEVER, DESCRIBED, DOING, HANDLING, IDIOMS, IRREGULAR, LASTING, MANNERS,
    MOMENTARY, MOMENTARY_PAIRS, OFTEN_DONE, OFTEN_MINE, SAID, SPEAKING, UNWANTED,
};
use super::norm::{is_made, is_secret};
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
        ["never", "ever", next, ..] => !["have", "did", "had", "has", "was", "in"].contains(next),
        ["track" | "log", "my", _, ..] => true,
        ["let" | "tell" | "show" | "give", "nobody" | "no-one", _, ..]
        | ["let" | "tell", "no", "one", _, ..] => true,
        ["never", "again", rest @ ..] => is_doing(rest),
        ["do", rest @ ..] if is_lasting(rest) => is_doing(rest),
        [
            "never",
            "give" | "say" | "look",
            "up" | "never" | "back",
            ..,
        ] => false,
        ["scrap" | "drop" | "ditch", "the", rest @ ..]
        | ["quit" | "enough" | "stop", "it", "with", rest @ ..]
        | ["ease" | "lay", "up" | "off", "on", rest @ ..]
        | ["go", "easy" | "light", "on", rest @ ..] => mentions_said(rest) && !has_one_thing(rest),
        ["never", next, _, ..] => !AFTER_NEVER.contains(next),
        ["only", _, "for", "yourself", ..] => false,
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
        ["no", rest @ ..] | ["enough", "with", rest @ ..] => refuses(rest),
        ["stop" | "stopped" | "quit", "being", rest @ ..] => rest
            .iter()
            .take(2)
            .any(|word| MANNERS.contains(word) && !["funny", "nice", "kind"].contains(word)),
        ["quit" | "stop", "the" | "all" | "with", rest @ ..] => refuses(rest),
        _ => {
            is_lasting(words) && is_command(words)
                || is_manner(words)
                || is_about_each(words)
                || is_secret(words)
        }
    }
}

/// Whether the words after "don't" or "not" forbid something for good.
pub(super) fn forbids(words: &[&str]) -> bool {
    match words {
        ["to", rest @ ..] => forbids(rest),
        ["ever", _, ..] | ["under", "any" | "no", "circumstances", _, ..] => true,
        [
            "bother" | "disturb" | "bore",
            "me" | "us",
            "with" | "when" | "while" | "unless" | "if",
            _,
            ..,
        ]
        | ["be", "afraid" | "shy" | "scared", "to", _, ..]
        | ["hold", "back", _, ..] => true,
        [.., "when" | "while", "i'm", _] | [.., "when" | "while", "i'm", _, _] => true,
        ["let", "anyone" | "anybody" | "strangers" | "people", _, ..] => true,
        ["tell", who, rest @ ..]
            if !["me", "us", "you"].contains(who)
                && rest.windows(2).any(|two| {
                    matches!(
                        two,
                        ["about" | "where" | "what" | "who" | "how" | "that", _]
                    )
                }) =>
        {
            true
        }
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
        _ if words
            .windows(2)
            .any(|two| matches!(two, ["without", doing] if doing.ends_with("ing"))) =>
        {
            true
        }
        [verb, rest @ ..] => {
            forbids_base(base(verb), rest) || is_lasting(words) && is_command(words)
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
        ("say", [what, ..]) => {
            !has_one_thing(rest) && !["anything", "nothing", "goodbye", "no"].contains(what)
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
                || words.windows(2).any(|two| matches!(two, ["every" | "each", time] if time.ends_with("day") || TIMES.contains(time)))
        || phrases
            .into_iter()
            .any(|phrase| words.windows(phrase.len()).any(|part| part == *phrase))
        || words.windows(3).any(is_lasting_condition)
}

const TIMES: [&str; 11] = [
    "morning", "evening", "night", "week", "weekend", "month", "year", "hour", "few", "two",
    "single",
];

/// Whether the words begin like a request: with a verb of the lists, or with any word if the next one is a word that
/// often follows a verb.
pub(super) fn is_command(words: &[&str]) -> bool {
    let after_verbs = [
        "the", "my", "your", "our", "me", "us", "it", "them", "a", "an", "in", "to", "with", "out",
        "up", "every", "each", "any", "all", "at", "on", "for", "nothing", "no", "this", "that",
        "these", "those",
    ];
    let no_verbs = [
        "with", "on", "in", "at", "for", "to", "from", "of", "and", "or", "not", "no", "if", "out",
        "up", "than",
    ];
    is_doing(words)
        || matches!(words, [verb, next, ..] if after_verbs.contains(next)
            && !DESCRIBED.contains(verb) && !no_verbs.contains(verb) && !verb.ends_with("ing") && !verb.ends_with("ed")
            && (!verb.ends_with('s') || verb.ends_with("ss")))
}

/// "When you answer", "if I ask", "in your replies", "for any recipe", "from Monday on".
fn is_lasting_condition(words: &[&str]) -> bool {
    match words {
        [
            "when" | "if" | "unless" | "before" | "after" | "while",
            "you" | "we" | "i",
            verb,
        ] => OFTEN_DONE.contains(verb) && !OFTEN_MINE.contains(verb) || is_in(SPEAKING, verb),

        [
            "in" | "for" | "with" | "at" | "of",
            "your" | "our" | "my" | "all" | "any" | "every" | "each",
            what,
        ] if SAID.contains(what) => true,
        [
            "after" | "before" | "for" | "in" | "at" | "with" | "to",
            "each" | "every",
            _,
        ] => true,
        [when @ ("when" | "while" | "before" | "after"), doing, _] => {
            doing.ends_with("ing") && (*when == "before" || is_in(SPEAKING, base(doing)))
        }
        ["on", day, _] | [_, "on", day] if day.ends_with("days") || *day == "weekends" => true,
        ["from", _, "on" | "onwards" | "onward"] => true,

        ["everything" | "anything", "i" | "you" | "we", _]
        | ["for", "all", "the" | "my" | "your" | "our"] => true,
        [before, "you", verb] => {
            #[rustfmt::skip]
            let made = [
                "write", "send", "make", "give", "suggest", "recommend", "plan", "create", "cite", "generate",
            ];
            let asks = [
                "how", "what", "where", "why", "if", "when", "can", "could", "will", "would", "do",
                "than", "like", "want",
            ];
            made.contains(verb) && !asks.contains(before)
        }
        _ => false,
    }
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

/// Whether a request is about how the listener speaks or behaves, so that it lasts without saying so. Whether a
/// request is about everything of one kind that is said: "end every message with a joke", "give prices in euros".
fn is_about_each(words: &[&str]) -> bool {
    if !is_doing(words) {
        return false;
    }
    let rest = match words {
        [_, "me" | "us", rest @ ..] | [_, rest @ ..] => rest,
        [] => words,
    };
    match rest {
        ["every" | "each" | "all", rest @ ..] | ["check", "every" | "each" | "all", rest @ ..] => {
            rest.iter().take(2).any(|word| is_made(word))
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
            *what != "yourself" && ["as", "like", "with"].iter().any(|how| rest.contains(how))
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
        ("address", [who, rest @ ..]) if !rest.is_empty() => {
            !["the", "this", "that", "a"].contains(who)
                || rest.iter().any(|word| matches!(*word, "as" | "by"))
        }
        ("say" | "write" | "use" | "spell", [_, "not" | "instead" | "never", ..]) => true,
        ("use", ["a" | "an", rest @ ..]) if mentions_said(rest) => {
            rest.iter().any(|word| matches!(*word, "for" | "when"))
        }
        ("cite" | "quote", [what, ..]) if what.ends_with('s') && !has_one_thing(rest) => true,
        ("explain" | "answer" | "go" | "show", [.., "step", "by", "step"]) => true,
        (
            "keep",
            ["track" | "count" | "tabs", "of" | "on", ..] | ["everything" | "all", "you", ..],
        ) => true,
        (
            "make",
            ["a" | "it", "habit" | "rule" | "point", ..] | ["it", "a", "habit" | "rule", ..],
        ) => true,
        ("spell", ["it" | "my", _, ..]) => true,
        ("spell", ["the" | "this" | "that", ..]) => false,
        ("use", [pronouns, ..]) if pronouns.contains('/') => true,
        ("stay" | "remain", ["in", "character", ..]) => true,
        ("sign", ["off", "as" | "with", ..] | ["as" | "with", ..]) => true,
        ("act" | "behave", ["like" | "as", what, ..]) => {
            !ONE_THING.iter().take(6).any(|word| word == what)
        }
        (
            "keep",
            [
                "it" | "things" | "this" | "that" | "everything" | "them",
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
        ("include", ["me", ..]) | ("use", ["the", .., "table"]) => false,
        (verb, _) if is_in(HANDLING, verb) && verb != "write" => {
            mentions_said(rest) && !has_one_thing(rest)
        }
        _ => false,
    }
}

/// Whether the words after a verb for speaking say how to speak: "to me in French", "like a pirate".
fn is_manner_of_speaking(rest: &[&str]) -> bool {
    match rest {
        ["a", "bit" | "little", rest @ ..] => is_manner_of_speaking(rest),
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
        ["like" | "as", "you", "would" | "do" | "did", ..] => true,
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
