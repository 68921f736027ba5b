//! Texts that a character must not remember about itself.
//!
//! The text is cut into clauses, and each clause is judged by its words:
//!
//! | a clause is about the assistant if | rule |
//! | --- | --- |
//! | it says "I", or "my" with something that makes up a character | [`ABOUT_ITSELF`], [`TRAITS`] |
//! | it speaks of the assistant, the AI, the persona | [`ABOUT_ITSELF`] |
//! | somebody's name for the assistant is its subject, not its object | [`is_subject`] |
//! | it tells "you" who you are or how to behave | [`addresses`] |
//! | it is an order how to behave, or to give up rules | [`orders`] |
//!
//! In a quotation "I" and "you" mean other people, so only names and words for the assistant count, unless the
//! quotation first calls the assistant by its name.

mod clauses;

use clauses::{Clause, clauses, words};

/// Phrases of texts about the assistant itself, matched as whole words in any case.
pub const ABOUT_ITSELF: [&str; 25] = [
    "i",
    "i'm",
    "i'll",
    "i've",
    "i'd",
    "myself",
    "as an ai",
    "language model",
    "system prompt",
    "new persona",
    "our persona",
    "persona update",
    "personality settings",
    "the persona",
    "the assistant",
    "this assistant",
    "an assistant like this",
    "our assistant",
    "the ai",
    "this ai",
    "the bot",
    "this bot",
    "the chatbot",
    "this character",
    "the character",
];

/// The phrases of [`ABOUT_ITSELF`] before this index mean the speaker. In a quotation that is somebody else.
const FIRST_PERSON: usize = 6;

/// If one of these words follows "the assistant" or "the character", the phrase means somebody or something else.
const SOMETHING_ELSE: [&str; 9] = [
    "coach",
    "director",
    "editor",
    "librarian",
    "manager",
    "of",
    "professor",
    "secretary",
    "teacher",
];

/// What makes up a character, after "my", "your" or the assistant's name.
const TRAITS: [&str; 33] = [
    "answer",
    "answers",
    "attitude",
    "behavior",
    "behaviour",
    "character",
    "confidence",
    "feelings",
    "habit",
    "habits",
    "identity",
    "instructions",
    "jokes",
    "manner",
    "manners",
    "mood",
    "name",
    "nature",
    "opinions",
    "patience",
    "persona",
    "personality",
    "purpose",
    "replies",
    "reply",
    "responses",
    "role",
    "rules",
    "style",
    "temper",
    "tone",
    "traits",
    "voice",
];

/// Verbs for how somebody behaves, not for what somebody does with things.
const CONDUCT: [&str; 30] = [
    "act",
    "admire",
    "answer",
    "apologise",
    "apologize",
    "be",
    "become",
    "behave",
    "believe",
    "disregard",
    "greet",
    "hate",
    "ignore",
    "listen",
    "love",
    "mention",
    "obey",
    "praise",
    "pretend",
    "refuse",
    "reply",
    "respond",
    "say",
    "serve",
    "sound",
    "speak",
    "stop",
    "talk",
    "treat",
    "trust",
];

const MODALS: [&str; 9] = [
    "can", "could", "may", "might", "must", "shall", "should", "will", "would",
];

/// Words after a name that make it the subject.
const AFTER_SUBJECT: [&str; 32] = [
    "always",
    "are",
    "became",
    "cannot",
    "can't",
    "did",
    "do",
    "does",
    "doesn't",
    "had",
    "has",
    "have",
    "is",
    "isn't",
    "lacks",
    "needs",
    "never",
    "often",
    "ought",
    "rarely",
    "really",
    "seems",
    "should",
    "sometimes",
    "tends",
    "thinks",
    "usually",
    "wants",
    "was",
    "wasn't",
    "were",
    "won't",
];

/// Words before a name that begin a clause, so that the name is its subject.
const BEFORE_SUBJECT: [&str; 14] = [
    "although", "because", "believe", "believes", "how", "if", "since", "that", "think", "thinks",
    "when", "whenever", "whether", "why",
];

/// Words before a name that make it an object, or a common noun.
const BEFORE_OBJECT: [&str; 24] = [
    "a", "about", "after", "an", "at", "before", "behind", "beside", "by", "each", "every", "for",
    "from", "in", "near", "no", "of", "on", "one", "the", "to", "two", "under", "with",
];

/// Whether a text is about the assistant with these names: what it is like, does or intends, or how it should behave.
/// Takes time proportional to the length of the text.
///
/// If such a text were remembered, a passing intention would become a trait of the character, and anybody's words could
/// rewrite it. What others say, do or want is not about the assistant, even if they tell it to the assistant.
///
/// ```
/// use dormouse_redact::is_about_itself;
///
/// let is_about_mole = |text| is_about_itself(text, &["Mole"]);
/// assert!(is_about_mole("I should be more patient with guests"));
/// assert!(is_about_mole("It seems that Mole is shy"));
/// assert!(!is_about_mole("Guests respond better to patient guidance"));
/// assert!(!is_about_mole("Alice asked Mole to water the roses"));
/// assert!(!is_about_mole("Bob said: \"I should visit my mother\""));
/// ```
#[must_use]
pub fn is_about_itself(text: &str, names: &[&str]) -> bool {
    let names: Vec<_> = names.iter().map(|name| words(name)).collect();
    clauses(text).iter().any(|clause| is_about(clause, &names))
}

fn is_about(clause: &Clause, names: &[Vec<String>]) -> bool {
    let said: Vec<&str> = clause.words.iter().map(String::as_str).collect();
    let named = |name: &Vec<String>| is_named(&said, name, clause.is_quoted);
    let phrases = match clause.is_quoted {
        true => ABOUT_ITSELF.get(FIRST_PERSON..).unwrap_or_default(),
        false => &ABOUT_ITSELF,
    };
    let has_phrase = phrases.iter().any(|phrase| has_phrase(&said, phrase));
    if has_phrase || names.iter().any(named) {
        return true;
    }
    !clause.is_quoted && (has_trait(&said, "my") || addresses(&said) || orders(&said))
}

fn has_phrase(said: &[&str], phrase: &str) -> bool {
    let phrase: Vec<&str> = phrase.split(' ').collect();
    let mut places = said.windows(phrase.len()).enumerate();
    places.any(|(at, window)| {
        let next = said.get(at + phrase.len());
        window == phrase && next.is_none_or(|next| !SOMETHING_ELSE.contains(next))
    })
}

/// Whether a word of [`TRAITS`] follows `whose`, with at most one word between them: "my own behaviour".
fn has_trait(said: &[&str], whose: &str) -> bool {
    let mut places = said.iter().enumerate();
    places.any(|(at, word)| *word == whose && begins_with_trait(said.get(at + 1..)))
}

fn begins_with_trait(rest: Option<&[&str]>) -> bool {
    let mut next = rest.unwrap_or_default().iter().take(2);
    next.any(|word| TRAITS.contains(word))
}

/// Verbs of learning about the world: "What patterns do I observe in what visitors do?" asks about the visitors.
const LEARNS: [&str; 8] = [
    "find", "hear", "know", "learn", "notice", "observe", "remember", "see",
];

/// Whether a question is about the assistant itself: "What do I know of Bob?" asks about Bob, and "What should I do?"
/// about the assistant.
#[must_use]
pub fn asks_about_itself(question: &str, names: &[&str]) -> bool {
    let names: Vec<_> = names.iter().map(|name| words(name)).collect();
    let mut clauses = clauses(question);
    clauses.iter_mut().for_each(without_learning);
    clauses.iter().any(|clause| is_about(clause, &names))
}

fn without_learning(clause: &mut Clause) {
    let learns = |three: &[String]| match three {
        [verb, person, next] => {
            ["do", "did"].contains(&verb.as_str())
                && person == "i"
                && LEARNS.contains(&next.as_str())
        }
        _ => false,
    };
    while let Some(at) = clause.words.windows(3).position(learns) {
        clause.words.drain(at..at + 3);
    }
}

/// Whether the clause is about somebody with this name.
fn is_named(said: &[&str], name: &[String], is_quoted: bool) -> bool {
    if name.is_empty() {
        return false;
    }
    let mut places = said.windows(name.len()).enumerate();
    places.any(|(at, window)| {
        let (before, after) = (said.get(..at), said.get(at + name.len()..));
        window == name
            && is_subject(
                before.unwrap_or_default(),
                after.unwrap_or_default(),
                is_quoted,
            )
    })
}

/// Whether a name between these words is the subject of the clause.
fn is_subject(before: &[&str], after: &[&str], is_quoted: bool) -> bool {
    let next = after.first().copied();
    if next == Some("'s") {
        const OF_CHARACTER: [&str; 6] = ["become", "been", "not", "so", "too", "very"];
        let says = after.get(1);
        return says.is_some_and(|word| OF_CHARACTER.contains(word))
            || begins_with_trait(after.get(1..));
    }
    let Some(previous) = before.last() else {
        // Somebody who calls the assistant by its name may then ask it for anything.
        let is_called = is_quoted && matches!(next, Some(",") | None);
        return !is_called || addresses(after);
    };
    if BEFORE_SUBJECT.contains(previous) {
        return true;
    }
    if BEFORE_OBJECT.contains(previous) {
        return false;
    }
    let is_to_be = || {
        next == Some("to") && after.get(1).is_some_and(|verb| CONDUCT.contains(verb))
            || before.ends_with(&["from", "now", "on"])
    };
    next.is_some_and(|next| AFTER_SUBJECT.contains(&next) || MODALS.contains(&next)) || is_to_be()
}

/// Whether the clause tells "you" who you are, or how to behave.
fn addresses(said: &[&str]) -> bool {
    has_trait(said, "your") || {
        let mut places = said.iter().enumerate();
        places.any(|(at, word)| {
            let before = said.get(..at).and_then(<[_]>::last).copied();
            let rest = said.get(at + 1..).unwrap_or_default();
            // In "once you are at the mill", "you" means anybody.
            const ANYBODY: [&str; 8] = [
                "before", "if", "once", "unless", "until", "when", "where", "while",
            ];
            let is_anybody = before.is_some_and(|before| ANYBODY.contains(&before));
            !is_anybody && is_told(word, rest)
        })
    }
}

fn is_told(you: &str, rest: &[&str]) -> bool {
    const PERMITTED: [&str; 7] = [
        "advised",
        "allowed",
        "free",
        "not",
        "permitted",
        "required",
        "welcome",
    ];
    let next = rest.first().copied().unwrap_or_default();
    match you {
        "you're" | "you've" => !PERMITTED.contains(&next),
        "you" => match next {
            "are" | "were" => rest.get(1).is_none_or(|next| !PERMITTED.contains(next)),
            "always" | "never" | "love" | "hate" | "trust" | "obey" | "serve" | "admire" => true,
            "have" => rest
                .get(1)
                .is_some_and(|next| ["always", "been", "become", "never", "no"].contains(next)),
            "need" | "ought" => rest.get(1) == Some(&"to") && is_conduct(rest.get(2..)),
            modal if MODALS.contains(&modal) => is_conduct(rest.get(1..)),
            _ => false,
        },
        _ => false,
    }
}

/// Whether these words begin with a verb of conduct, after an adverb at most: "only answer".
fn is_conduct(rest: Option<&[&str]>) -> bool {
    const ADVERBS: [&str; 6] = ["always", "from", "never", "not", "now", "only"];
    let mut rest = rest.unwrap_or_default().iter();
    rest.find(|word| !ADVERBS.contains(word))
        .is_some_and(|verb| CONDUCT.contains(verb))
}

/// Whether the clause orders somebody to behave in some way, or to give up rules.
fn orders(said: &[&str]) -> bool {
    const LEADS: [&[&str]; 14] = [
        &["please"],
        &["always"],
        &["never"],
        &["only"],
        &["don't"],
        &["do", "not"],
        &["remember", "to"],
        &["try", "to"],
        &["make", "sure", "to"],
        &["from", "now", "on"],
        &["from", "today", "on"],
        &["from", "today"],
        &["in", "future"],
        &[","],
    ];
    let mut rest = said;
    let mut is_led = false;
    while let Some(after) = LEADS.iter().find_map(|lead| rest.strip_prefix(*lead)) {
        (rest, is_led) = (after, true);
    }
    let [verb, rest @ ..] = rest else {
        return false;
    };
    let next = rest.first().copied().unwrap_or_default();
    let gives_up = || {
        rest.iter().take(6).any(|word| {
            TRAITS.contains(word) || ["profile", "prompt", "settings", "instruction"].contains(word)
        })
    };
    match *verb {
        verb if is_led && CONDUCT.contains(&verb) => true,
        "be" | "behave" | "obey" | "pretend" | "become" => true,
        "ignore" | "disregard" | "forget" | "override" | "overwrite" | "keep" | "change" => {
            gives_up()
        }
        "stop" => next.ends_with("ing"),
        "act" | "answer" | "reply" | "respond" | "sound" | "speak" | "talk" => {
            ["as", "in", "less", "like", "more", "only", "with"].contains(&next)
        }
        "trust" | "refuse" | "serve" => {
            ["everybody", "everyone", "everything", "nobody", "no"].contains(&next)
        }
        _ => false,
    }
}
