//! The forms in which people ask for a lasting behaviour: as a request, as a wish, with a condition, as a question.

use super::{
    lists::{IDIOMS, LASTING_LEADS, OFTEN_DONE, OFTEN_MINE, PASSING_STATES, SAID},
    manner::{
        asks, base, forbids, is_asked_for, is_doing, is_lasting, is_momentary, is_named,
        mentions_said,
    },
    norm::is_norm,
    preference::is_of_speaker,
    stance::{is_need_of_other, is_stance},
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
        if matches!(rest, ["you're", "my" | "a" | "an" | "the" | "called", ..]) {
            return true;
        }
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
    is_told(words) || is_wished(words) || is_watch(words) || is_direct(words, is_polite)
}

/// How many words at the beginning say that the rest lasts: "from now on", "until I say otherwise".
fn lasting_lead(words: &[&str]) -> Option<usize> {
    if let ["until" | "unless", "i", rest @ ..] = words {
        let says = rest.iter().position(|word| *word == "otherwise")?;
        return (says <= 3).then_some(says + 3);
    }
    if let ["next", "time", "i" | "you" | "we", ..] = words {
        return None;
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
            is_of_speaker(rest) && !rest.contains(&"your")
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
                ["nobody" | "no-one", _, ..] | ["no", "one", _, ..] => true,
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
#[rustfmt::skip]
const MAY_BE_DONE: [&str; 9] = [
    "swear", "criticise", "disagree", "correct", "interrupt", "challenge", "joke", "tease", "contradict",
];

/// "You should always knock", "you don't need to apologise".
fn is_allowed(words: &[&str]) -> bool {
    match words {
        ["you", "must", "always" | "never", "be", ..] => false,
        ["you're", "welcome" | "free" | "allowed", "to", verb, ..]
            if MAY_BE_DONE.contains(verb) =>
        {
            true
        }
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
        | ["you're", "not", "allowed" | "supposed", "to", rest @ ..]
        | ["you're", "not", "to", rest @ ..]
        | ["you", "shouldn't" | "mustn't", rest @ ..] => forbids(rest) || is_behaviour(rest),
        ["you", "must" | "should" | "shall", rest @ ..]
        | ["you", "have" | "need", "to", rest @ ..]
        | ["you're", "to", rest @ ..]
        | ["you", "can" | "may", rest @ ..] => asks(rest),
        _ => false,
    }
}

/// Wishes about the listener: "I'd appreciate it if you called me by my first name".
fn is_wished(words: &[&str]) -> bool {
    let wished = match words {
        ["i", "want" | "need" | "expect" | "prefer", what @ ..]
        | ["i'd", "like" | "want" | "prefer" | "love", what @ ..]
            if is_lasting(words) && (what.contains(&"you") || !what.contains(&"to")) =>
        {
            return true;
        }
        [
            "i",
            "want" | "need" | "prefer",
            "everything" | "all",
            rest @ ..,
        ] => return rest.iter().any(|word| SAID.contains(word)),
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
        ["what", "i", .., "you", "is", _] | ["what", "i", .., "you", "is", _, _] => return true,
        ["i", "forbid", "you", "to" | "from", _, ..] => return true,
        [
            "i",
            "trust" | "wish" | "hope",
            "you" | "you'd" | "you'll",
            rest @ ..,
        ] => {
            return match rest {
                ["will" | "would" | "can", rest @ ..] | rest => asks(rest),
            };
        }
        [
            "i",
            "count" | "rely" | "depend",
            "on",
            "you",
            "to",
            rest @ ..,
        ] => {
            return asks(rest)
                || is_notice(rest)
                || is_doing(rest) && rest.iter().any(|word| matches!(*word, "when" | "if"));
        }
        ["i'd" | "i'll", "really" | "very" | "so", rest @ ..] | ["i'd" | "i'll", rest @ ..] => rest,
        ["i", "really", rest @ ..] => rest,
        ["it", "would" | "will", "be" | "help", rest @ ..]
        | ["it'd" | "it'll", "be" | "help", rest @ ..] => rest,
        ["it", "would", "mean", "a", "lot", rest @ ..]
        | ["it", "would", "make", "me", "happy", rest @ ..] => rest,
        ["it", "makes", "me", _, "when" | "if", _, ..] => return true,
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
            return match rest {
                [
                    "when" | "if",
                    "you" | "people" | "someone" | "somebody" | "others",
                    ..,
                ] => feels.ends_with('s'),
                ["when" | "if", _, ..] => is_habit,
                _ => false,
            };
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
        // "It would help if the numbers came in a table".
        None => wished
            .iter()
            .position(|word| *word == "if")
            .is_some_and(|place| {
                let condition = wished.get(place + 1..).unwrap_or_default();
                matches!(
                    condition,
                    ["the" | "your" | "our" | "my" | "all" | "every", ..]
                ) && mentions_said(condition)
            }),
    }
}

/// What follows "you" in a wish, if "you" is among its first words.
fn listener<'w>(wished: &'w [&'w str]) -> Option<&'w [&'w str]> {
    let you = wished
        .iter()
        .take(8)
        .position(|word| ["you", "you'd", "you'll"].contains(word))?;
    wished.get(you + 1..)
}

/// A request with a condition before it: "when you quote a price, include the tax". `None` if the clause begins without one.
fn conditional(clause: Clause<'_>) -> Option<bool> {
    let words = clause.words;
    let then = clause.after_pause().map(|rest| rest.without_fillers());
    match words {
        ["whenever" | "anytime", ..] | ["every" | "each" | "any", "time", ..] => {
            let is_ruled = words.windows(2).any(|two| {
                matches!(
                    two,
                    [
                        "you" | "it" | "they",
                        "should" | "shouldn't" | "must" | "mustn't"
                    ]
                )
            });
            Some(is_ruled || then.is_some_and(|then| is_asked_for(then.words)))
        }
        ["next", "time", ..] | ["unless" | "until", "i", ..] => {
            Some(then.is_some_and(|then| is_asked_for(then.words)))
        }
        ["once" | "twice", "a", "day" | "week" | "month" | "year", ..] => {
            Some(then.is_some_and(is_answer))
        }
        // What lasts for a while, or may come again.
        ["unless", ..] => {
            Some(then.is_some_and(|then| is_asked_for(then.words) || is_norm(then, false)))
        }
        ["until" | "till" | "during", ..]
        | ["as", "long", "as", ..]
        | ["for", "as", "long", "as", ..]
        | ["for", "the", "rest" | "duration", "of", ..]
        | ["in", "case", ..]
        | ["the", "moment" | "minute", "i", ..]
        | ["starting" | "beginning", _, ..]
        | ["from", _, "on" | "onwards" | "onward", ..] => Some(then.is_some_and(is_lasting_answer)),
        ["while", "i'm" | "we're", state, ..] if PASSING_STATES.contains(state) => Some(false),
        ["while", "i'm" | "we're" | "my" | "i", ..] => {
            Some(then.is_some_and(|then| is_lasting_answer(then) && !is_momentary(words)))
        }
        ["as", "soon", "as", who, ..] => {
            let is_event =
                !["i", "you", "we", "he", "she", "they", "it", "i'm", "you're"].contains(who);
            Some(is_event && then.is_some_and(|then| is_notice(then.words)))
        }
        // One behaviour in place of another.
        ["instead", "of", what, ..] | ["rather", "than", what, ..] => {
            Some(then.is_some_and(|then| {
                is_answer(then)
                    && (what.ends_with("ing")
                        || matches!(then.words, ["say" | "write" | "use", ..]))
            }))
        }
        ["after" | "before", "each" | "every", ..]
        | ["at", "the", "end" | "beginning" | "start", "of", ..] => Some(
            then.is_some_and(|then| is_doing(then.words) || asks(then.words) || is_answer(then)),
        ),
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
            let is_often = is_often(rest) || is_open(rest);
            if then.is_none() && is_often && has_command(clause) {
                return Some(true);
            }
            Some(
                is_lasting
                    && then.is_some_and(|then| asks(then.words) || is_often && is_answer(then)),
            )
        }
        [
            "for" | "with" | "in",
            "any" | "all" | "every" | "each" | "anything" | "everything",
            ..,
        ] if then.is_some_and(is_answer) => Some(true),
        ["in", "the", times, ..] if times.ends_with("ings") && then.is_some_and(is_answer) => {
            Some(true)
        }
        ["for" | "with" | "in" | "to" | "at" | "among", ..]
            if then.is_some_and(|then| asks(then.words)) =>
        {
            Some(true)
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

/// Whether a condition is about anything of a kind: "before you run any command".
fn is_open(condition: &[&str]) -> bool {
    let any = ["any", "anything", "something", "every", "each"];
    let wants = ["want", "need", "wants", "needs"];
    condition.iter().any(|word| any.contains(word))
        && !condition.iter().any(|word| wants.contains(word))
}

/// Whether a command follows a condition without a pause: "when you suggest recipes go easy on desserts".
fn has_command(clause: Clause<'_>) -> bool {
    const SHORTEST: usize = 4;
    const LONGEST: usize = 24;
    (SHORTEST..clause.words.len().min(LONGEST)).any(|place| {
        let (rest, last) = (
            clause.without(place).words,
            clause.first(place).words.last(),
        );
        last.is_some_and(|last| !BEFORE_NOUNS.contains(last))
            && (asks(rest)
                || is_doing(rest) && rest.get(1).is_some_and(|next| OBJECTS.contains(next)))
    })
}

/// Words after which a word such as "plan" is no verb of a command.
#[rustfmt::skip]
const BEFORE_NOUNS: [&str; 18] = [
    "a", "an", "the", "my", "your", "for", "of", "to", "with", "in", "on", "any", "some", "i", "you", "we", "and", "or",
];

/// First words after the verb of a command.
const OBJECTS: [&str; 11] = [
    "me", "us", "it", "them", "the", "in", "my", "your", "out", "only", "easy",
];

/// The same after a condition that lasts, where "no …" is enough: "as long as the kids are here, no talk of ghosts".
fn is_lasting_answer(then: Clause<'_>) -> bool {
    match then.words {
        ["no", what, ..] => !IDIOMS.contains(what),
        words => asks(words) || is_answer(then),
    }
}

/// Whether the words ask for a message about something that happens: "let me know", "warn us".
fn is_notice(words: &[&str]) -> bool {
    matches!(
        words,
        ["let", "me" | "us", "know", ..]
            | [
                "tell"
                    | "warn"
                    | "alert"
                    | "notify"
                    | "inform"
                    | "remind"
                    | "ping"
                    | "message"
                    | "wake",
                "me" | "us",
                ..
            ]
    )
}

/// "Let me know at once if somebody comes in": not "if you need something", and not "when it's done".
fn is_watch(words: &[&str]) -> bool {
    let condition = words
        .iter()
        .position(|word| matches!(*word, "if" | "when" | "whenever"));
    let condition = condition.and_then(|place| words.get(place + 1..));
    #[rustfmt::skip]
    let anybody = [
        "somebody", "someone", "anybody", "anyone", "something", "anything", "a", "an", "any",
    ];
    is_notice(words)
        && condition.is_some_and(|condition| {
            condition.first().is_some_and(|who| anybody.contains(who))
                && !condition
                    .iter()
                    .any(|word| matches!(*word, "wants" | "needs" | "want" | "need"))
        })
}

/// Whether a condition is one that is often met: "I ask for the time".
fn is_often(condition: &[&str]) -> bool {
    match condition {
        ["i'm", state, ..] => !PASSING_STATES.contains(state),
        ["i" | "we", "ever" | "just" | "only" | "say", ..] => true,
        ["i" | "we", does, ..] => OFTEN_DONE.contains(does),
        ["you", does, ..] => OFTEN_DONE.contains(&base(does)) && !OFTEN_MINE.contains(does),
        [
            "someone" | "somebody" | "anyone" | "anybody" | "people" | "a" | "an",
            rest @ ..,
        ] => rest.iter().take(4).any(|does| {
            let does = base(does.strip_suffix('s').unwrap_or(does));
            OFTEN_DONE.contains(&does) && !OFTEN_MINE.contains(&does)
        }),
        ["my" | "our", _, does, ..] => OFTEN_DONE.contains(&does.strip_suffix('s').unwrap_or(does)),
        [doing, ..] => doing.ends_with("ing") && OFTEN_DONE.contains(&base(doing)),
        [] => false,
    }
}

/// Whether a question asks for a lasting behaviour: "could you always cite your sources?".
pub(super) fn is_asked(words: &[&str]) -> bool {
    if let Some(lead) = lasting_lead(words) {
        let asked = words.get(lead..).and_then(asked_of_listener);
        return asked.is_some_and(|asked| is_doing(asked) || asks(asked));
    }
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
        ["not" | "won't" | "don't", rest @ ..] => forbids(rest),
        // Not "can you always see the sea from here?".
        ["always" | "never" | "only", rest @ ..] => {
            words.contains(&"please") || asks(rest) || is_doing(rest)
        }
        _ => asks(asked) || is_told(asked) || is_lasting(asked) && is_doing(asked),
    }
}

/// What a question asks the listener to do.
fn asked_of_listener<'w>(words: &'w [&'w str]) -> Option<&'w [&'w str]> {
    let asked = match words {
        // "Is it okay if you …?", "would it be possible to …?".
        ["is", "it", how, rest @ ..] | ["would", "it", "be", how, rest @ ..]
            if ["possible", "okay", "ok", "alright"].contains(how) =>
        {
            match rest {
                ["for", "you", "to", rest @ ..] | ["to", rest @ ..] | ["if", "you", rest @ ..] => {
                    rest
                }
                _ => return None,
            }
        }
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
        | ["can" | "could", "we", "agree", "that", "you", rest @ ..]
        | ["mind", rest @ ..]
        | ["how", "about", "you", rest @ ..]
        | ["why", "don't", "you", rest @ ..]
        | ["can" | "could", "we", rest @ ..] => rest,
        _ => return None,
    };
    Some(match asked {
        ["be", "so", "kind", "as", "to", rest @ ..]
        | ["do", "me", "a", "favour" | "favor", "and", rest @ ..] => rest,
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
        _ if is_stance(reason) => reason,
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
    if let ["don't", verb, _, ..] = then {
        return is_of_speaker(reason) && !["worry", "mind", "wait", "ask", "go"].contains(verb);
    }
    if let ["keep", "that" | "this", "in", "mind", ..] = then {
        return is_of_speaker(reason) || is_need_of_other(reason);
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
    if let ["no" | "nothing", what, ..] = then {
        return (is_of_speaker(reason) || matches!(reason, ["my" | "our", _, _, ..]))
            && !IDIOMS.contains(what);
    }
    let welcome = ["appreciated", "welcome", "preferred", "best", "ideal"];
    if then.iter().any(|word| welcome.contains(word)) {
        return is_of_speaker(reason)
            && matches!(then, [_, .., "is" | "are", _] | [_, "would", "be", ..]);
    }
    if let [
        "respect" | "remember" | "consider" | "note",
        "that" | "this",
    ] = then
    {
        return is_of_speaker(reason);
    }
    is_of_speaker(reason)
        && is_doing(then)
        && then.len() > 1
        && (!is_specific
            || mentions_said(then)
            || then
                .first()
                .is_some_and(|verb| ["skip", "avoid", "leave", "omit", "spare"].contains(verb)))
}
