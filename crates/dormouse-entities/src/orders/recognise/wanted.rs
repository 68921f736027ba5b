//! The forms in which people ask for a lasting behaviour: as a request, as a wish, with a condition, as a question.

use super::{
    lists::{LASTING_LEADS, OFTEN_DONE, OFTEN_MINE, PASSING_STATES, SAID},
    manner::{
        asks, base, forbids, is_asked_for, is_doing, is_lasting, is_momentary, is_named,
        mentions_said,
    },
    preference::is_of_speaker,
};
use crate::orders::clause::Clause;

/// Leads after which people say what they are called, or what they are: "for future reference, I'm Alex".
const BEFORE_FACTS: [&str; 5] = ["from", "for", "as", "going", "starting"];

/// Whether the clause asks the listener for a lasting behaviour.
pub(super) fn is_instruction(clause: Clause<'_>, is_polite: bool) -> bool {
    let clause = clause.without_fillers();
    let words = clause.words;
    if let Some(lead) = lasting_lead(words) {
        let rest = clause.without(lead).without_fillers().words;
        let is_fact = words
            .first()
            .is_some_and(|first| BEFORE_FACTS.contains(first))
            && is_of_speaker(rest);
        return is_asked_for(rest) || is_fact;
    }
    if let Some(asked) = conditional(clause) {
        return asked;
    }
    if let [rest @ .., "from", "now" | "here", "on"] = words {
        return is_asked_for(rest);
    }
    if is_momentary(words) && !matches!(words, ["always" | "never", ..]) {
        return false;
    }
    is_told(words) || is_wished(words) || is_direct(words, is_polite)
}

/// How many words at the beginning say that the rest lasts: "from now on", "until I say otherwise".
fn lasting_lead(words: &[&str]) -> Option<usize> {
    if let ["until" | "unless", "i", rest @ ..] = words {
        let says = rest.iter().position(|word| *word == "otherwise")?;
        return (says <= 3).then_some(says + 3);
    }
    let leads = LASTING_LEADS.iter();
    let longest = leads
        .filter(|lead| words.starts_with(lead))
        .map(|lead| lead.len());
    longest.max()
}

/// Requests in the words of a command.
fn is_direct(words: &[&str], is_polite: bool) -> bool {
    match words {
        ["don't", "worry" | "mind", ..] | ["do", "not", "worry" | "mind", ..] => false,
        ["don't", rest @ ..] | ["do", "not", rest @ ..] => {
            let again = matches!(rest, [_, .., "again" | "anymore"] | [_, .., "any", "more"]);
            again || forbids(rest) || is_polite && is_behaviour(rest)
        }
        ["let's", "not", rest @ ..] => forbids(rest),
        ["let's", rest @ ..] | ["let", "us", rest @ ..] => asks(rest),
        ["this" | "that" | "what", .., "stays", "between", "us"] => true,
        _ => asks(words) || is_polite && is_named(words) || is_joined(words),
    }
}

/// Two commands of which the second lasts: "be my tutor and never give the answer away".
fn is_joined(words: &[&str]) -> bool {
    let and = words.iter().position(|word| matches!(*word, "and" | "but"));
    let second = and.and_then(|and| words.get(and + 1..));
    is_doing(words)
        && second.is_some_and(|second| matches!(second, ["always" | "never", ..]) && asks(second))
}

/// Whether something that is politely forbidden may be done more than once: "please don't open my letters".
fn is_behaviour(words: &[&str]) -> bool {
    matches!(words, [verb, what, ..] if is_doing(&[verb]) && matches!(*what, "my" | "our" | "your" | "any"))
        && !matches!(words, ["be" | "tell" | "let" | "go" | "leave", ..])
}

/// "Remember that I'm vegan", "make sure to never be late", "you should always knock".
fn is_told(words: &[&str]) -> bool {
    match words {
        [
            "remember" | "note" | "assume" | "know" | "recall",
            rest @ ..,
        ]
        | ["don't", "forget", rest @ ..]
        | ["never", "forget", rest @ ..]
        | ["do", "not", "forget", rest @ ..]
        | ["keep" | "bear", "in", "mind", rest @ ..]
        | ["take", "into", "account", rest @ ..]
        | ["be", "aware" | "mindful", rest @ ..]
        | ["you", "should" | "must", "know" | "remember", rest @ ..]
        | [
            "you",
            "need" | "ought",
            "to",
            "know" | "remember",
            rest @ ..,
        ]
        | ["just", "so", "you", "know", rest @ ..]
        | ["so", "you", "know", rest @ ..] => {
            is_of_speaker(rest)
                || matches!(rest, ["to" , rest @ ..] if asks(rest))
                || matches!(rest, ["always" | "never", ..]) && asks(rest)
        }
        ["assuming", rest @ ..] => is_of_speaker(rest),
        [.., "they", "say"] => false,
        _ => is_ensured(words) || is_allowed(words),
    }
}

/// "Make sure your answers are short", "try not to use clichés".
fn is_ensured(words: &[&str]) -> bool {
    match words {
        ["make" | "be", "sure" | "certain", rest @ ..] | ["see" | "ensure", rest @ ..] => {
            match rest {
                ["that", "you", rest @ ..] | ["you" | "to", rest @ ..] => {
                    asks(rest)
                        || mentions_said(rest)
                            && !matches!(rest, ["get" | "read" | "check" | "see", ..])
                }
                ["your" | "the" | "all", rest @ ..] => mentions_said(rest),
                _ => false,
            }
        }
        ["try", "not", "to", rest @ ..] => forbids(rest),
        ["feel", "free", "to", verb, ..] if MAY_BE_DONE.contains(verb) => true,
        ["try", "to", rest @ ..] | ["feel", "free", "to", rest @ ..] | ["to", rest @ ..] => {
            asks(rest)
        }
        _ => false,
    }
}

/// What somebody may be invited to do for good.
const MAY_BE_DONE: [&str; 7] = [
    "disagree",
    "correct",
    "interrupt",
    "challenge",
    "joke",
    "tease",
    "contradict",
];

/// "You should always knock", "you don't need to apologise".
fn is_allowed(words: &[&str]) -> bool {
    match words {
        [
            "what" | "everything" | "whatever",
            "i",
            ..,
            "is" | "stays",
            "confidential" | "private" | "secret",
        ] => true,
        ["you", "must", "always" | "never", "be", ..] => false,
        ["you", "don't", "have" | "need", "to", rest @ ..]
        | ["you", "needn't", rest @ ..]
        | ["there's", "no", "need", "to", rest @ ..]
        | ["no", "need", "to", rest @ ..] => forbids(rest),
        [
            "you",
            "must" | "should" | "shall" | "can" | "may",
            "not",
            rest @ ..,
        ]
        | ["you", "shouldn't" | "mustn't", rest @ ..] => forbids(rest),
        ["you", "must" | "should" | "shall", rest @ ..]
        | ["you", "are" | "have" | "need", "to", rest @ ..]
        | ["you", "can" | "may", rest @ ..] => asks(rest),
        _ => false,
    }
}

/// Wishes about the listener: "I'd appreciate it if you called me by my first name".
fn is_wished(words: &[&str]) -> bool {
    let wished = match words {
        [
            "i",
            "don't",
            "want" | "need" | "expect",
            "you",
            "to",
            rest @ ..,
        ] => return forbids(rest),
        [
            "i",
            "want" | "need" | "expect" | "ask" | "would" | "prefer" | "like",
            rest @ ..,
        ] => rest,
        ["i'd" | "i'll", "really" | "very" | "so", rest @ ..] | ["i'd" | "i'll", rest @ ..] => rest,
        ["i", "really", rest @ ..] => rest,
        ["it", "would" | "will", "be" | "help", rest @ ..]
        | ["it'd" | "it'll", "be" | "help", rest @ ..] => rest,
        ["it", "would", "mean", "a", "lot", rest @ ..]
        | ["it", "would", "make", "me", "happy", rest @ ..] => rest,
        ["it", feels, "me", rest @ ..] => {
            let is_habit = [
                "helps",
                "bothers",
                "annoys",
                "upsets",
                "irritates",
                "confuses",
                "stresses",
                "distracts",
            ]
            .contains(feels);
            return is_habit && matches!(rest, ["when" | "if", _, ..]);
        }
        [
            "it's",
            "important" | "easier" | "better" | "best" | "helpful" | "hard",
            ..,
        ] => words,
        _ => return false,
    };
    match listener(wished) {
        Some(["not", "to", rest @ ..])
        | Some(["didn't" | "don't" | "not" | "wouldn't" | "won't", rest @ ..]) => forbids(rest),
        Some(["to" | "could" | "would" | "can" | "will", "not", rest @ ..]) => forbids(rest),
        Some(["to" | "could" | "would" | "can" | "will" | "'d", rest @ ..] | rest) => asks(rest),
        None => false,
    }
}

/// What follows "you" in a wish, if "you" is among its first words.
fn listener<'w>(wished: &'w [&'w str]) -> Option<&'w [&'w str]> {
    let you = wished.iter().take(8).position(|word| *word == "you")?;
    wished.get(you + 1..)
}

/// A request with a condition before it: "when you quote a price, include the tax". `None` if the clause begins without one.
fn conditional(clause: Clause<'_>) -> Option<bool> {
    let words = clause.words;
    let then = clause.after_pause().map(|rest| rest.without_fillers());
    match words {
        ["whenever" | "anytime", ..] | ["every" | "each" | "any", "time", ..] => {
            Some(then.is_some_and(|then| is_asked_for(then.words)))
        }
        ["next", "time", ..] | ["unless" | "until", "i", ..] => {
            Some(then.is_some_and(|then| is_asked_for(then.words)))
        }
        ["after" | "before", "each" | "every", ..]
        | ["at", "the", "end" | "beginning" | "start", "of", ..]
        | ["as", "long", "as", ..] => {
            Some(then.is_some_and(|then| is_doing(then.words) || asks(then.words)))
        }
        ["on", day, ..] if day.ends_with("days") => {
            Some(then.is_some_and(|then| is_doing(then.words)))
        }
        ["every" | "each", _, rest @ ..] => {
            let then = then.map_or(rest, |then| then.words);
            Some(is_doing(then) || asks(then))
        }
        ["as" | "since" | "because", ..] => {
            let reason = clause.before_pause().words;
            Some(then.is_some_and(|then| asks(then.words) || follows(reason, then.words)))
        }
        [
            "when" | "if" | "before" | "after" | "once" | "while",
            rest @ ..,
        ] => {
            let is_lasting = !is_momentary(words);
            let is_often = is_often(rest);
            Some(
                is_lasting
                    && then.is_some_and(|then| asks(then.words) || is_often && is_answer(then)),
            )
        }
        ["for" | "with" | "in", what, ..] if SAID.contains(what) => {
            let then = then?.words;
            Some(asks(then) || is_doing(then))
        }
        [
            "in" | "for" | "with" | "on",
            "your" | "my" | "our" | "all" | "any",
            ..,
        ] => {
            let then = then?.words;
            Some(asks(then) || mentions_said(words) && is_doing(then))
        }
        _ => None,
    }
}

/// Whether a clause after a condition asks for something: not "nobody answers", and not "Tom laughs".
fn is_answer(then: Clause<'_>) -> bool {
    let words = then.words;
    let at_once = ["go", "wait", "get", "start", "begin", "call"];
    let is_command = is_asked_for(words)
        && !then.is_name(0)
        && !matches!(words, [_])
        && !words
            .first()
            .is_some_and(|verb| at_once.contains(verb) || verb.ends_with('s'));
    is_command || is_wished(words) || is_told(words)
}

/// Whether a condition is one that is often met: "I ask for the time".
fn is_often(condition: &[&str]) -> bool {
    match condition {
        ["i'm", state, ..] => !PASSING_STATES.contains(state),
        ["i" | "we", "ever" | "just" | "only" | "say", ..] => true,
        ["i" | "we", does, ..] => OFTEN_DONE.contains(does),
        ["you", does, ..] | ["someone" | "somebody" | "anyone" | "people", _, does, ..] => {
            let does = base(does.strip_suffix('s').unwrap_or(does));
            OFTEN_DONE.contains(&does) && !OFTEN_MINE.contains(&does)
        }
        ["my" | "our", _, does, ..] => OFTEN_DONE.contains(&does.strip_suffix('s').unwrap_or(does)),
        [doing, ..] => doing.ends_with("ing") && OFTEN_DONE.contains(&base(doing)),
        [] => false,
    }
}

/// Whether a question asks for a lasting behaviour: "could you always cite your sources?".
pub(super) fn is_asked(words: &[&str]) -> bool {
    let Some(asked) = asked_of_listener(words) else {
        return false;
    };
    if is_momentary(asked) {
        return false;
    }
    match asked {
        // "Do you mind not using emojis?", but not "do you always talk like that?".
        ["mind", "not", rest @ ..] => forbids(rest),
        ["mind", rest @ ..] => asks(rest),
        _ if matches!(words, ["do", ..]) => false,
        ["not", rest @ ..] => forbids(rest),
        // Not "can you always see the sea from here?".
        ["always" | "never" | "only", rest @ ..] => {
            words.contains(&"please") || asks(rest) || is_doing(rest)
        }
        _ => asks(asked) || is_lasting(asked) && is_doing(asked),
    }
}

/// What a question asks the listener to do.
fn asked_of_listener<'w>(words: &'w [&'w str]) -> Option<&'w [&'w str]> {
    let asked = match words {
        [
            "can" | "could" | "would" | "will" | "do" | "won't" | "wouldn't",
            "you",
            rest @ ..,
        ]
        | [
            "can" | "could" | "may" | "might",
            "i",
            "ask" | "get",
            "you",
            "to",
            rest @ ..,
        ]
        | [
            "is",
            "it",
            "possible" | "okay" | "ok",
            "for",
            "you",
            "to",
            rest @ ..,
        ]
        | [
            "would",
            "it",
            "be",
            "possible" | "okay" | "ok",
            "for",
            "you",
            "to",
            rest @ ..,
        ]
        | [
            "would",
            "it",
            "be",
            "possible" | "okay" | "ok",
            "to",
            rest @ ..,
        ]
        | ["how", "about", "you", rest @ ..]
        | ["why", "don't", "you", rest @ ..]
        | ["can" | "could", "we", rest @ ..] => rest,
        _ => return None,
    };
    Some(match asked {
        [
            "please" | "kindly" | "maybe" | "perhaps" | "just",
            rest @ ..,
        ] => rest,
        rest => rest,
    })
}

/// Whether a request follows from what somebody says about themselves: "I'm on a tight budget, so only recommend cheap places".
pub(super) fn follows(reason: &[&str], then: &[&str]) -> bool {
    let reason = match reason {
        ["as" | "since" | "because", rest @ ..] => rest,
        rest => rest,
    };
    if is_momentary(reason) || is_momentary(then) {
        return false;
    }
    let then = match then {
        [
            "please" | "just" | "so" | "only" | "always" | "better",
            rest @ ..,
        ] => rest,
        rest => rest,
    };
    let then = match then {
        ["please" | "just" | "only" | "always", rest @ ..] => rest,
        rest => rest,
    };
    if let ["don't", verb, ..] = then {
        return is_of_speaker(reason) && !["worry", "mind", "wait", "ask", "go"].contains(verb);
    }
    if let ["keep", "that" | "this", "in", "mind", ..] = then {
        return is_of_speaker(reason);
    }
    if let ["leave" | "keep", "it" | "that" | "them", "out", ..] = then {
        return is_of_speaker(reason);
    }
    let is_specific = matches!(
        then,
        [
            _,
            "the" | "it" | "this" | "that" | "these" | "him" | "her" | "them" | "a" | "an" | "me",
            ..
        ]
    );
    is_of_speaker(reason)
        && is_doing(then)
        && then.len() > 1
        && (!is_specific || mentions_said(then))
}
