//! What people say about themselves: what they like, and what they are called.

use super::{
    lists::{MANNERS, PASSING_STATES, SAID},
    manner::{AFTER_CALL_ME, asks, forbids, is_momentary, mentions_said},
    stance,
};
use crate::orders::clause::Clause;

/// What is liked in a remark about the present moment.
#[rustfmt::skip]
const REMARKS: &[&str] = &[
    "that", "this", "it", "you", "your", "him", "her", "them", "how", "what", "where", "who", "these", "those", "his",
    "their", "to",
];

/// How many words after "I don't want" may name what is not wanted.
const OBJECT: usize = 7;

/// Ways to go: "I go by train" names nobody.
#[rustfmt::skip]
const VEHICLES: &[&str] = &[
    "train", "bus", "car", "bike", "bicycle", "boat", "plane", "tram", "taxi", "foot", "ferry", "the", "your", "his",
    "her", "a", "so", "ship", "metro", "subway", "what", "myself", "here", "there",
];

/// Whether the clause says what its speaker prefers, or what they are called.
pub(super) fn is_preference(clause: Clause<'_>) -> bool {
    match clause.words {
        ["call", "me", name, ..]
        | [
            "you",
            "can" | "may" | "could" | "should" | "must",
            "call",
            "me",
            name,
            ..,
        ] => !AFTER_CALL_ME.contains(name),
        ["my", "pronouns" | "pronoun", "are" | "is", _, ..] => true,
        [
            "my",
            "name",
            "is" | "isn't",
            "spelled" | "spelt" | "written" | "pronounced",
            ..,
        ] => true,
        ["i", "go" | "went", "by", name, ..] => clause.is_name(3) && !VEHICLES.contains(name),
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
                && !matches!(rest, [.., "back" | "now"])
                && !matches!(
                    *what,
                    "mum" | "mom" | "dad" | "mother" | "father" | "own" | "money"
                )
        }
        ["i'd", rest @ ..] | ["i", "would", rest @ ..] => is_wish(rest),
        [
            "i'm" | "we're",
            "okay" | "ok" | "fine" | "happy" | "cool",
            "with",
            rest @ ..,
        ] => mentions_said(rest),
        [
            "i've",
            "never" | "always",
            "liked" | "loved" | "enjoyed" | "hated" | "preferred",
            rest @ ..,
        ] => is_liked(rest),
        [
            "i'm" | "we're",
            "really" | "very" | "just" | "honestly" | "so",
            "not",
            "into" | "keen" | "big" | "fond" | "a",
            ..,
        ] => true,
        ["i'm" | "we're", "not", "into" | "keen", what, ..]
        | ["not", "a", "fan", "of", what, ..]
        | ["not", "into" | "keen", what, ..] => !REMARKS.contains(what),
        ["allergic", "to", ..] => true,
        ["we", said @ ..] => is_liking(said),
        ["hate" | "love" | "dislike" | "prefer" | "can't", ..] => is_liking(clause.words),
        ["my" | "our", field, "is", _, ..] | ["my" | "our", _, field, "is", _, ..]
            if OF_SPEAKER.contains(field) =>
        {
            true
        }
        ["i", rest @ ..] => is_liking(rest) || suits(clause.words) || is_naming(clause),
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
        words => is_naming(clause) || suits(words),
    }
}

/// "Everyone calls me Bobby", "the name is Jae": the name has a capital letter.
pub(super) fn is_naming(clause: Clause<'_>) -> bool {
    match clause.words {
        [
            "people" | "everyone" | "everybody" | "nobody" | "friends" | "they",
            "call" | "calls",
            "me",
            _,
            ..,
        ]
        | ["the", "name", "is", _, ..]
        | ["my", "name", "isn't" | "ain't", _, ..] => clause.is_name(3),
        [
            "my" | "people" | "everyone" | "everybody",
            "friends" | "just" | "usually" | "always",
            "call" | "calls",
            "me",
            _,
            ..,
        ]
        | ["my", "name", "is", "not", _, ..] => clause.is_name(4),
        ["the", "name's", _, ..] => clause.is_name(2),
        ["my", "name's", "not", _, ..] => clause.is_name(3),
        ["i", "identify", "as", _, ..] => true,
        ["your", "name", "is", _, ..] => clause.is_name(3),
        ["i'm", _, .., "to", "you"] => clause.is_name(1),
        ["it's", _, "not", _] => {
            clause.is_name(1)
                && clause.is_name(3)
                && !clause.words.iter().any(|word| word.ends_with("day"))
        }
        ["call", "my" | "our", _, _, ..] => clause.is_name(3),
        ["i'm", "not", _, "i'm", _] => clause.is_name(4),
        ["i'm", _, .., "not", _] => clause.is_name(1) && clause.is_name(clause.words.len() - 1),
        _ => false,
    }
}

/// "I learn best with examples", "short ones work better for me", "I find long lists hard to follow".
fn suits(words: &[&str]) -> bool {
    match words {
        [
            "i",
            "learn" | "work" | "think" | "understand" | "remember" | "focus",
            rest @ ..,
        ] => rest
            .iter()
            .take(3)
            .any(|word| matches!(*word, "best" | "better")),
        ["i", "find", "it", hard, "to", rest @ ..] => {
            ["hard", "harder", "difficult", "tiring", "easier"].contains(hard)
                && mentions_said(rest)
        }
        [
            ..,
            "is" | "are",
            "a",
            "no" | "no-go" | "dealbreaker",
            "for",
            "me",
        ]
        | [.., "isn't" | "aren't", "my", "thing" | "style"]
        | [.., "isn't" | "aren't", "for", "me"] => true,
        ["i", "find", what, rest @ ..] => {
            !REMARKS.contains(what)
                && mentions_said(words)
                && rest.iter().any(|word| {
                    [
                        "hard",
                        "harder",
                        "difficult",
                        "easier",
                        "easy",
                        "helpful",
                        "useful",
                        "confusing",
                        "annoying",
                        "tiring",
                    ]
                    .contains(word)
                })
        }
        [
            ..,
            "work" | "works" | "is" | "are",
            "best" | "better" | "easier" | "hard" | "harder",
            "for",
            "me",
        ]
        | [.., "work" | "works", "much" | "far", "better", "for", "me"] => mentions_said(words),
        _ => false,
    }
}

/// What a person has for long, and what an answer needs.
#[rustfmt::skip]
const OF_SPEAKER: [&str; 11] = [
    "style", "convention", "policy", "zone", "timezone", "locale", "currency", "tongue", "keyboard", "diet", "allergy",
];

/// Verbs for what people do or not do all their lives.
#[rustfmt::skip]
const HABITS: [&str; 16] = [
    "eat", "drink", "wear", "smoke", "fly", "drive", "use", "buy", "watch", "read", "listen", "cook", "travel", "shop", "celebrate",
    "do",
];

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
        ["rather" | "sooner", first, rest @ ..] if rest.contains(&"than") => {
            !["die", "starve", "be"].contains(first) && !is_momentary(rest)
        }
        ["rather", ..] => false,
        ["like" | "want" | "love", "everything", "you", ..] => true,
        ["like" | "want" | "love", "all", rest @ ..] if !matches!(rest, ["of", ..]) => {
            mentions_said(rest)
        }
        ["like" | "want" | "love", "my" | "your", what, rest @ ..] => {
            !rest.is_empty() && what.ends_with('s') && SAID.contains(what) && !is_momentary(rest)
        }
        ["like" | "appreciate", how, what, ..]
        | ["be", "grateful" | "glad" | "thankful", "for", how, what, ..] => {
            MANNERS.contains(how) && SAID.contains(what) && what.ends_with('s')
        }
        [
            "really" | "much" | "always" | "generally" | "usually" | "far",
            rest @ ..,
        ] => is_wish(rest),
        ["prefer", "if" | "it" | "that", ..] => false,
        ["prefer", "the", ..] => false,
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
        ["tend", "to", rest @ ..] => is_liking(rest),
        [
            "like" | "prefer" | "want",
            "it" | "things" | "them" | "everything",
            how,
            ..,
        ] if MANNERS.contains(how) => true,
        [
            "take" | "drink" | "have",
            "my",
            _,
            "with" | "without" | "black" | "plain",
            ..,
        ] => true,
        ["prefer", "to", "be", "called" | "addressed", ..] => true,
        ["prefer", "to", what, ..] => !matches!(*what, "be" | "stay" | "go" | "wait"),
        ["prefer", what @ ..] => {
            let is_choice = what
                .iter()
                .any(|word| ["over", "to", "than", "of"].contains(word));
            is_liked(what)
                && !matches!(what, ["not", ..])
                && (is_choice || !matches!(what, ["the", ..]))
        }
        ["appreciate" | "want" | "need" | "value", how, what, ..] if MANNERS.contains(how) => {
            SAID.contains(what) && what.ends_with('s')
        }
        ["use", _, "pronouns", ..] => true,
        [
            "don't" | "never",
            "want",
            "to",
            "talk" | "discuss" | "hear" | "be" | "see" | "read",
            rest @ ..,
        ] if rest.contains(&"again") || rest.contains(&"about") => true,
        ["don't" | "never", "want", "to", "be", rest @ ..] => matches!(
            rest,
            ["about" | "called" | "addressed" | "reminded" | "asked", ..]
        ),
        ["don't", "want" | "need", what, rest @ ..] => {
            let is_plain = ["any", "your", "to"].contains(what);
            let said = |word: &str| SAID.contains(&word) && (word.ends_with('s') || is_plain);
            said(what)
                || rest.iter().take(OBJECT).any(|word| said(word))
                    && !["that", "this"].contains(what)
                || rest.iter().any(|word| matches!(*word, "each" | "every"))
        }
        ["like" | "love" | "hate", "to", verb, rest @ ..] => {
            let thoughts = [
                "think", "believe", "imagine", "know", "say", "see", "thank", "be", "admit", "tell",
            ];
            !thoughts.contains(verb)
                && !rest.is_empty()
                && !is_momentary(rest)
                && !rest.contains(&"that")
        }
        [
            "like" | "love" | "enjoy" | "hate" | "dislike" | "adore" | "loathe" | "detest"
            | "despise" | "avoid",
            rest @ ..,
        ] => is_liked(rest),
        ["strictly", "avoid", rest @ ..] => is_liked(rest),
        [
            "never" | "only" | "don't" | "strictly" | "exclusively",
            does,
            rest @ ..,
        ] if HABITS.contains(does) => is_habit(rest),
        ["have", "a" | "an", rest @ ..] => {
            #[rustfmt::skip]
            let attitude = [
                "dislike", "aversion", "preference", "distaste", "hatred", "fear", "phobia", "passion",
            ];
            let place = rest.iter().take(4).position(|word| attitude.contains(word));
            matches!(
                place.and_then(|place| rest.get(place + 1..)),
                Some(["for" | "of" | "to" | "towards", what @ ..]) if is_liked(what) && !matches!(what, ["my" | "our", ..])
            )
        }
        ["don't", rest @ ..] | ["do", "not", rest @ ..] => {
            matches!(rest, ["like" | "enjoy" | "love", rest @ ..] if is_liked(rest))
        }
        [
            "can't" | "cannot",
            "stand" | "bear" | "abide" | "tolerate",
            rest @ ..,
        ] => is_liked(rest),
        _ => false,
    }
}

/// Whether what somebody never or only does is about a kind of thing and not about one thing: "meat", and not "the
/// last page".
fn is_habit(words: &[&str]) -> bool {
    let specific = [
        "the", "my", "a", "an", "one", "two", "so", "much", "well", "here", "there", "anything",
        "and",
    ];
    let object = words
        .iter()
        .find(|word| !["to", "at", "in", "with"].contains(word));
    object.is_none_or(|what| !REMARKS.contains(what) && !specific.contains(what))
        && !is_momentary(words)
}

/// Whether something may be liked for good: not one thing that is here now.
fn is_liked(what: &[&str]) -> bool {
    let [first, ..] = what else {
        return false;
    };
    // "The taste of coriander" is of a kind, and "the taste of this" is not.
    let is_kind = matches!(what, ["the", _, "of", kind, ..] if !["the", "my", "your", "his", "her", "a"].contains(kind));
    let is_one = !is_kind
        && matches!(
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
        )
        || what
            .iter()
            .any(|word| matches!(*word, "this" | "that" | "here" | "there" | "today"));
    // "My tea hot" and "my answers to be short", and not "my new job".
    let is_own = match what {
        ["my" | "our", what, rest @ ..] => SAID.contains(what) || rest.len() == 1,
        [first, ..] => !["up", "by", "on"].contains(first),
        [] => false,
    };
    !REMARKS.contains(first) && !is_one && is_own && !is_momentary(what)
}

/// Verbs for what stays so for a while.
#[rustfmt::skip]
const STEADY: [&str; 43] = [
    "have", "don't", "can't", "cannot", "never", "prefer", "like", "live", "speak", "need", "only", "always", "hate",
    "love", "know", "mean", "want", "eat", "drink", "use", "go", "teach", "dislike", "understand", "work", "suffer",
    "wear", "struggle", "keep", "follow", "read", "write", "own", "usually", "often", "identify", "get", "feel",
    "find", "learn", "value", "refuse", "avoid",
];

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
        ["i" | "we", does, ..] => STEADY.contains(does) || stance::is_stance(words),
        ["i've", "got" | "never" | "a" | "been", ..] => true,
        ["my", _, rest @ ..] | ["our", _, rest @ ..] => {
            matches!(
                rest.iter().position(|word| matches!(
                    *word,
                    "is" | "are" | "has" | "have" | "isn't" | "hates" | "can't" | "doesn't"
                )),
                Some(0..=2)
            ) || stance::is_stance(words)
        }
        _ => stance::is_stance(words),
    }
}
