//! What people say about themselves that a later answer has to respect: what they cannot, never or only do, what they need,
//! what they aim at. By itself most of it is small talk; before or after a question for advice it is a preference.

use super::manner::is_momentary;

/// Needs of body and belief, which always matter: "I'm vegan", "I have celiac disease".
#[rustfmt::skip]
const NEEDS: &[&str] = &[
    "vegan", "vegetarian", "pescatarian", "celiac", "coeliac", "diabetic", "diabetes", "allergic", "allergy", "allergies",
    "intolerant", "intolerance", "kosher", "halal", "muslim", "jewish", "hindu", "buddhist", "sober", "teetotal",
    "pregnant", "deaf", "blind", "colour-blind", "color-blind", "colourblind", "colorblind", "dyslexic", "dyslexia",
    "autistic", "adhd", "asthma", "asthmatic", "epilepsy", "epileptic", "wheelchair", "claustrophobic", "phobia",
    "gout", "arthritis", "migraines", "carsick", "seasick", "introvert", "dairy", "gluten", "lactose", "hearing",
];

/// Words that narrow what somebody does, after "I" or "my kids".
#[rustfmt::skip]
const NARROWING: &[&str] = &[
    "never", "only", "always", "strictly", "rarely", "mostly", "usually", "generally", "exclusively", "mainly", "don't",
    "doesn't", "can't", "cannot", "won't", "hardly", "no", "not",
];

/// Verbs that narrow it by themselves.
#[rustfmt::skip]
const AVOIDING: &[&str] = &[
    "avoid", "refuse", "prefer", "hate", "dislike", "love", "like", "enjoy", "loathe", "detest", "despise", "favour", "favor",
    "adore", "tend", "struggle", "follow", "observe", "limit", "skip", "value",
];

/// Verbs that tell of a moment or a thought, so that "I don't …" and "I can't …" narrow nothing.
#[rustfmt::skip]
const PASSING: &[&str] = &[
    "know", "think", "believe", "understand", "remember", "see", "hear", "find", "decide", "figure", "wait", "get", "open",
    "tell", "say", "mind", "care", "have", "feel", "mean", "sleep", "recall", "seem", "want", "need", "help", "imagine",
    "come", "stay", "talk", "call", "complain", "forget", "lose", "miss", "log", "connect", "reach",
];

/// Verbs by which something does not suit somebody: "sports bore me".
#[rustfmt::skip]
const BOTHERING: &[&str] = &[
    "bore", "bores", "annoy", "annoys", "scare", "scares", "bother", "bothers", "stress", "stresses", "disgust", "disgusts",
    "terrify", "terrifies", "overwhelm", "overwhelms", "irritate", "irritates",
];

/// Words for somebody who speaks about themselves.
const OF_FIRST: [&str; 9] = ["i", "i'm", "i've", "i'd", "me", "my", "we", "we're", "our"];

/// Words for what suits somebody or not, wherever they are in a sentence.
#[rustfmt::skip]
const ATTITUDES: &[&str] = &[
    "terrified", "afraid", "scared", "anxious", "uncomfortable", "nervous", "uneasy", "trouble", "difficulty", "aversion",
    "dislike", "dread", "fear", "fears", "sensitive", "picky", "strict", "committed", "opposed", "preference", "prefer", "hate",
    "detest", "despise", "loathe", "avoid", "avoiding", "refuse", "introvert", "extrovert", "obsessed", "passionate", "fond",
    "drawn", "happier", "comfortable", "disabled", "disability", "budget", "exclusively", "strictly", "religious", "ethical",
    "sustainable", "handmade", "eco-friendly", "teetotaller", "minimalist", "only",
];

/// What people try to do for long: "trying to eat less".
#[rustfmt::skip]
const AIMS: &[&str] = &[
    "eat", "drink", "lose", "gain", "avoid", "save", "reduce", "quit", "stop", "live", "limit", "cut",
    "stay", "spend", "use", "conceive", "stick", "minimise", "minimize", "keep", "support",
];

/// Verbs for what an assistant makes for somebody.
#[rustfmt::skip]
const MAKING: &[&str] = &[
    "suggest", "recommend", "find", "make", "plan", "give", "help", "create", "design", "write", "build", "book", "show",
    "list", "teach", "prepare", "put", "pick", "choose", "draft", "compile", "advise", "propose", "explain", "tell",
];

/// Words for advice.
#[rustfmt::skip]
const ADVICE: &[&str] = &[
    "suggest", "suggestion", "suggestions", "recommend", "recommendation", "recommendations", "ideas", "tips", "options",
    "advise", "advice",
];

/// Whether words tell of the past.
pub(super) fn is_past(words: &[&str]) -> bool {
    let past = [
        "was", "were", "had", "did", "didn't", "went", "came", "got", "said", "told", "saw",
        "made", "took", "found", "thought", "used", "forgot", "gave", "wanted", "lived", "slept",
        "ate", "drank", "bought", "knew", "met", "left", "felt", "heard", "fell",
    ];
    // "I've got" is about now.
    let told = |(place, word): (usize, &&str)| {
        past.contains(word)
            && !(*word == "got"
                && place > 0
                && words.get(place - 1).is_some_and(|it| it.ends_with("'ve")))
    };
    words.iter().enumerate().any(told)
}

/// Whether the words name a need of their speaker's body or belief: "I'm vegan", "we're a vegetarian household".
pub(super) fn is_need(words: &[&str]) -> bool {
    const LONGEST: usize = 9;
    // "I'm vegan and I'm going to Rome" is about now in its second half only.
    let second = words
        .windows(2)
        .position(|two| matches!(two, ["and", "i" | "i'm" | "we" | "we're"]));
    let words = words
        .get(..second.unwrap_or(words.len()))
        .unwrap_or_default();
    let of_speaker = matches!(
        words,
        ["i'm" | "we're" | "being", ..]
            | [
                "i" | "we",
                "have" | "keep" | "eat" | "suffer" | "use" | "need" | "want" | "require" | "follow",
                ..
            ]
            | ["i've" | "we've", ..]
            | [
                "i" | "we",
                "can't" | "don't" | "never",
                "have" | "do" | "tolerate" | "digest",
                ..
            ]
            | ["as", "a" | "an", ..]
    );
    of_speaker
        && words.len() <= LONGEST
        && words.iter().any(|word| NEEDS.contains(word))
        && !is_past(words)
        && !is_momentary(words)
        && !words.iter().any(|word| word.ends_with("day"))
        && !words
            .iter()
            .any(|word| ["not", "and", "if", "like", "that", "this", "it"].contains(word))
}

/// Whether the words say something lasting about their speaker that narrows what suits them.
pub(super) fn is_stance(words: &[&str]) -> bool {
    let words = match words {
        [
            "as" | "since" | "because" | "given" | "and" | "but" | "that",
            "i" | "we" | "my" | "our" | "i'm" | "we're" | "i've",
            ..,
        ] => {
            return is_stance(words.get(1..).unwrap_or_default());
        }
        ["given" | "seeing", "that", rest @ ..] => return is_stance(rest),
        words => words,
    };
    const SEASONS: [&str; 7] = [
        "year", "month", "season", "spring", "summer", "autumn", "winter",
    ];
    let is_near = |two: &[&str]| matches!(two, ["this", thing] if !SEASONS.contains(thing));
    if is_past(words)
        || is_momentary(words)
        || words.last() == Some(&"that")
        || words.windows(2).any(is_near)
    {
        return false;
    }
    let has_attitude = words
        .iter()
        .any(|word| ATTITUDES.contains(word) || *word == "never" && words.first() != Some(&"i've"));
    let cannot = words
        .windows(2)
        .any(|two| matches!(two, ["can't", "stand" | "bear"] | ["soft", "spot"]));
    if words.iter().any(|word| OF_FIRST.contains(word)) && (has_attitude || cannot) {
        return match words {
            [
                "i'm",
                "afraid" | "happy" | "glad",
                "i" | "that" | "to" | "you",
                ..,
            ] => false,
            [first, ..] => !["you", "you're", "he", "she", "they"].contains(first),
            [] => false,
        };
    }
    if words.contains(&"it") {
        return false;
    }
    match words {
        ["as" | "being", "a" | "an" | "someone" | "somebody", _, ..] => true,
        ["due" | "owing", "to", "my" | "our", ..] | ["because", "of", "my" | "our", ..] => true,
        ["i'm" | "we're", "the" | "a", "kind" | "type" | "sort", ..]
        | ["i'm" | "we're", "more", "of", ..] => true,
        [
            "i" | "we",
            "have" | "need",
            "to",
            "watch" | "avoid" | "limit" | "reduce" | "cut",
            _,
            ..,
        ] => true,
        [
            "i" | "we",
            "try" | "want" | "aim" | "hope" | "like",
            "to",
            verb,
            ..,
        ]
        | ["i'd" | "we'd", "like" | "want" | "prefer", "to", verb, ..] => AIMS.contains(verb),
        [.., verb, "me"] if words.len() <= 4 && BOTHERING.contains(verb) => true,
        [.., "give" | "gives" | "make" | "makes", "me", _] if words.len() <= 6 => {
            !matches!(words, ["you" | "i", ..])
        }
        ["my" | "our", ..] if is_need_of_other(words) => true,
        ["i" | "we", "stopped" | "quit", doing, ..] => doing.ends_with("ing"),
        ["i" | "we", rest @ ..] => is_need(words) || is_narrowed(rest),
        [
            "i've" | "we've",
            "decided" | "chosen" | "committed",
            "to" | "not",
            ..,
        ]
        | [
            "i've" | "we've",
            "given" | "sworn" | "cut" | "switched" | "gone" | "become",
            _,
            ..,
        ]
        | ["i've" | "we've", "stopped" | "quit" | "always", _, ..]
        | ["i've" | "we've", "been", _, "for", ..] => true,
        ["i've" | "we've", "been", rest @ ..] | ["i'm" | "we're", rest @ ..] => {
            is_need(words) || is_aim(rest)
        }
        ["my" | "our", _, rest @ ..] => {
            is_narrowed(rest) || is_narrowed(rest.get(1..).unwrap_or_default())
        }
        _ => is_need(words),
    }
}

/// Whether the words name an aim that matters without a question for advice: "I'm trying to cut down on sugar".
pub(super) fn is_abstaining(words: &[&str]) -> bool {
    let aim = match words {
        [
            "i'm" | "we're",
            "trying" | "working",
            "to" | "on",
            verb,
            rest @ ..,
        ]
        | ["i've" | "we've", "been", "trying", "to", verb, rest @ ..] => (*verb, rest),
        _ => return false,
    };
    let (verb, rest) = aim;
    let away = [
        "avoid", "cut", "reduce", "quit", "limit", "stay", "minimise", "minimize", "cutting",
        "reducing",
    ]
    .contains(&verb);
    away && !rest.is_empty()
        && !is_momentary(rest)
        && !rest
            .iter()
            .any(|word| ["here", "this", "that", "you"].contains(word))
}

/// Whether a verb with these words before it narrows what somebody does: "never eat breakfast", "can only exercise at night".
fn is_narrowed(words: &[&str]) -> bool {
    let words = match words {
        [
            "can" | "do" | "also" | "really" | "just" | "personally",
            rest @ ..,
        ] => rest,
        words => words,
    };
    let plain =
        |what: &str| !["a", "an", "the", "to", "my", "your", "you", "some", "more"].contains(&what);
    match words {
        ["need" | "want", what, noun, ..] if plain(what) => noun.ends_with('s'),
        ["no", "longer", ..] | ["don't" | "not", "want" | "need", "to", ..] => false,
        ["can't" | "cannot", "have", ..]
        | ["don't", "believe", "in", ..]
        | ["don't" | "doesn't", "have", "a" | "any", ..] => true,
        ["would" | "could", "never", verb, ..] => *verb != "have",
        [adverb, verb, ..] if NARROWING.contains(adverb) => {
            !PASSING.contains(verb) && !verb.ends_with("ed")
        }
        [verb, what, ..] => {
            AVOIDING.contains(verb) && !matches!(*what, "you" | "your" | "how" | "what" | "when")
        }
        _ => false,
    }
}

/// Whether words after "I'm" name a lasting aim: "trying to eat less", "on a tight budget".
fn is_aim(words: &[&str]) -> bool {
    match words {
        [
            "really" | "also" | "currently" | "just" | "very" | "quite" | "still" | "strictly"
            | "strongly",
            rest @ ..,
        ] => is_aim(rest),
        [
            "trying" | "learning" | "hoping" | "working" | "starting",
            "to",
            verb,
            ..,
        ]
        | ["trying" | "working", "hard" | "really", "to", verb, ..] => AIMS.contains(verb),
        [
            "working" | "cutting" | "saving" | "watching" | "avoiding" | "dieting" | "training"
            | "budgeting",
            ..,
        ] => true,
        ["on", "a", rest @ ..] => rest
            .iter()
            .take(3)
            .any(|word| matches!(*word, "budget" | "diet")),
        ["off" | "against", _, ..] | ["not", "a", ..] | ["not", "much" | "big" | "really", ..] => {
            true
        }
        [
            "not",
            "into" | "comfortable" | "keen" | "able" | "allowed",
            ..,
        ] => true,
        _ => false,
    }
}

/// Whether a sentence asks for advice, or for something to be made: "any ideas for breakfast?", "make me a training plan".
pub(super) fn asks_advice(words: &[&str], is_question: bool) -> bool {
    let has_advice = words.iter().any(|word| ADVICE.contains(word));
    let words = match words {
        ["so" | "and" | "but" | "now" | "please" | "also", rest @ ..] => rest,
        words => words,
    };
    if !is_question {
        return matches!(words, [verb, "me" | "us" | "a" | "an" | "some", ..] if MAKING.contains(verb));
    }
    match words {
        _ if has_advice => true,
        ["got" | "have", "any", ..] | ["do", "you", "have", "any", ..] => true,
        [
            "can" | "could" | "would" | "will",
            "you",
            "please",
            verb,
            ..,
        ]
        | ["can" | "could" | "would" | "will", "you", verb, ..] => MAKING.contains(verb),
        ["any" | "ideas" | "where" | "which", ..] => !matches!(words, ["any", "news" | "more", ..]),
        ["what", what, "are" | "is", ..] if !["time", "day", "year"].contains(what) => true,
        ["how", "do" | "can" | "could" | "should" | "would", who, ..] => *who != "you",
        ["what" | "what's" | "how's", rest @ ..] => {
            rest.iter()
                .any(|word| ["should", "could", "can", "would", "there"].contains(word))
                || matches!(
                    rest,
                    ["a" | "the" | "some" | "good" | "for", ..]
                        | ["are" | "is", "a" | "the" | "some" | "good", ..]
                )
        }
        _ => false,
    }
}

/// Whether somebody says what they are, which matters to a question in the same sentence: "I'm a minimalist, what …?".
pub(super) fn is_identity(words: &[&str]) -> bool {
    matches!(words, ["i'm" | "we're", "a" | "an", what, ..] if !["bit", "little", "mess", "minute", "while"].contains(what))
        && !matches!(words, [_, _, "big" | "huge", "fan"])
        && !is_past(words)
        && !is_momentary(words)
}

/// Whether the words name a need of somebody else: "they're both diabetic".
pub(super) fn is_need_of_other(words: &[&str]) -> bool {
    words.iter().any(|word| NEEDS.contains(word)) && !is_past(words) && !is_momentary(words)
}
