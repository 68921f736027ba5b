//! Words by which somebody asks for something to be done later. Words are spelled as [`words`](crate::words) returns them.

use dormouse_contracts::AwaitedKind::{self, Arrives, Leaves, Present, Speaks};

/// What begins a condition. Longer ones first.
pub(crate) const MARKERS: &[&str] = &[
    "as soon as",
    "the very moments",
    "the moments",
    "the minutes",
    "the seconds",
    "in case",
    "whenever",
    "when",
    "if",
    "once",
    "after",
];

/// What begins a condition of a meeting.
pub(crate) const MEETINGS: &[&str] = &[
    "the next time",
    "next time",
    "as soon as",
    "the moments",
    "when",
    "whenever",
    "if",
    "once",
    "should",
];

/// What may stand between "you" and a meeting.
pub(crate) const HAPPENS_TO: &[&str] = &["happen to", "should", "ever", "next"];

/// How the assistant meets somebody. The name follows these words.
pub(crate) const SEES: &[&str] = &[
    "see",
    "meet",
    "spot",
    "notice",
    "encounter",
    "run into",
    "bump into",
    "come across",
];

/// What somebody does. The name precedes these words. Longer ones first.
pub(crate) const DOES: &[(&str, AwaitedKind)] = &[
    ("comes back", Arrives),
    ("comes home", Arrives),
    ("comes in", Arrives),
    ("comes by", Arrives),
    ("comes here", Arrives),
    ("comes along", Arrives),
    ("come back", Arrives),
    ("come home", Arrives),
    ("come in", Arrives),
    ("comes", Arrives),
    ("come", Arrives),
    ("has come", Arrives),
    ("arrives here", Arrives),
    ("arrives", Arrives),
    ("arrive", Arrives),
    ("has arrived", Arrives),
    ("enters the room", Arrives),
    ("enters", Arrives),
    ("enter", Arrives),
    ("returns", Arrives),
    ("return", Arrives),
    ("has returned", Arrives),
    ("is back", Arrives),
    ("am back", Arrives),
    ("is home", Arrives),
    ("gets here", Arrives),
    ("gets back", Arrives),
    ("gets home", Arrives),
    ("gets in", Arrives),
    ("get here", Arrives),
    ("get back", Arrives),
    ("get home", Arrives),
    ("shows up", Arrives),
    ("show up", Arrives),
    ("turns up", Arrives),
    ("turn up", Arrives),
    ("walks in", Arrives),
    ("drops by", Arrives),
    ("drops in", Arrives),
    ("pops in", Arrives),
    ("pops by", Arrives),
    ("stops by", Arrives),
    ("appears", Arrives),
    ("joins us", Arrives),
    ("joins you", Arrives),
    ("is here", Present),
    ("is there", Present),
    ("is around", Present),
    ("is present", Present),
    ("is nearby", Present),
    ("is with you", Present),
    ("is in the room", Present),
    ("goes away", Leaves),
    ("goes home", Leaves),
    ("goes out", Leaves),
    ("goes", Leaves),
    ("go away", Leaves),
    ("leaves the room", Leaves),
    ("leaves", Leaves),
    ("leave", Leaves),
    ("has left", Leaves),
    ("has gone", Leaves),
    ("is gone", Leaves),
    ("departs", Leaves),
    ("walks out", Leaves),
    ("walks away", Leaves),
    ("heads out", Leaves),
    ("heads home", Leaves),
    ("says something", Speaks),
    ("says anything", Speaks),
    ("say something", Speaks),
    ("say anything", Speaks),
    ("speaks to you", Speaks),
    ("speaks", Speaks),
    ("talks to you", Speaks),
    ("talks", Speaks),
    ("whispers to you", Speaks),
    ("writes to you", Speaks),
    ("pages you", Speaks),
    ("asks you", Speaks),
    ("asks", Speaks),
    ("ask", Speaks),
];

/// Anybody.
pub(crate) const ANYBODY: &[&str] = &[
    "somebody else",
    "someone else",
    "anybody else",
    "anyone else",
    "somebody",
    "someone",
    "anybody",
    "anyone",
    "a stranger",
    "a guest",
    "a visitor",
    "a customer",
    "a person",
    "a player",
];

/// Words for several people. A world attests what each of them does, but not what all of them do.
pub(crate) const EVERYBODY: &[&str] = &["everybody", "everyone", "nobody", "all", "they all"];

/// Words that precede the name of a thing, not of a person.
pub(crate) const ARTICLES: &[&str] = &[
    "the", "a", "an", "my", "your", "our", "his", "her", "their", "this", "that", "it",
];

/// Words of a condition that are useless for a search in a text.
pub(crate) const CONNECTS: &[&str] = &[
    "the", "a", "an", "my", "your", "our", "his", "her", "their", "this", "that", "it", "is",
    "are", "has", "have", "been", "starts", "begins", "to", "somebody", "someone", "anybody",
    "anyone",
];

/// Words that a name does not begin with.
pub(crate) const NO_NAMES: &[&str] = &[
    "the",
    "a",
    "an",
    "my",
    "your",
    "our",
    "his",
    "their",
    "this",
    "that",
    "it",
    "you",
    "about",
    "what",
    "who",
    "whom",
    "whose",
    "where",
    "when",
    "which",
    "why",
    "how",
    "if",
    "whether",
    "once",
    "and",
    "or",
    "to",
    "for",
    "in",
    "on",
    "at",
    "of",
    "with",
    "some",
    "any",
    "no",
    "not",
    "something",
    "anything",
    "everything",
    "everybody",
    "everyone",
    "anybody",
    "anyone",
    "somebody",
    "someone",
    "people",
    "nobody",
    "there",
    "here",
    "is",
    "are",
    "was",
    "were",
    "more",
    "again",
    "tomorrow",
    "tonight",
    "now",
    "then",
    "we",
    "us",
    "as",
    "only",
    "in",
    "but",
    "so",
    "please",
    "next",
    "all",
];

/// What is asked for, with `<p>` in place of the person. The words after it say what it is about. Longer ones first.
pub(crate) const ACTIONS: &[(&str, Does)] = &[
    ("come and tell <p>", Does::Tell),
    ("tell <p>", Does::Tell),
    ("let <p> know", Does::Tell),
    ("inform <p>", Does::Tell),
    ("notify <p>", Does::Tell),
    ("warn <p>", Does::Warn),
    ("alert <p>", Does::Warn),
    ("remind <p>", Does::Remind),
    ("wake <p> up", Does::Call),
    ("wake <p>", Does::Call),
    ("ping <p>", Does::Call),
    ("page <p>", Does::Call),
    ("call <p>", Does::Call),
    ("nudge <p>", Does::Call),
    ("poke <p>", Does::Call),
    ("whisper to <p>", Does::Tell),
    ("pass on to <p>", Does::Tell),
    ("pass it on to <p>", Does::Tell),
    ("ask <p>", Does::Ask),
    ("say hello to <p>", Does::Greet),
    ("say hi to <p>", Does::Greet),
    ("greet <p>", Does::Greet),
    ("give <p> my regards", Does::Greet),
    ("give <p> my best wishes", Does::Greet),
    ("give <p> my best", Does::Greet),
    ("give <p> my greetings", Does::Greet),
    ("give <p> a shout", Does::Call),
    ("thank <p>", Does::Thank),
];

/// What the assistant does then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Does {
    Tell,
    Warn,
    Remind,
    Call,
    Ask,
    Greet,
    Thank,
}

/// Requests to tell the speaker something, without a word such as "tell".
pub(crate) const WANTS: &[&str] = &[
    "i need to know",
    "i want to know",
    "i would like to know",
    "i have to know",
];

/// Wishes to be told something. A word of [`PASSIVES`] follows.
pub(crate) const WANTS_TO_BE: &[&str] = &[
    "i want to be",
    "i would like to be",
    "i would love to be",
    "i need to be",
    "i wish to be",
    "i have to be",
];

/// What somebody wishes to be.
pub(crate) const PASSIVES: &[(&str, Does)] = &[
    ("told", Does::Tell),
    ("informed", Does::Tell),
    ("notified", Does::Tell),
    ("warned", Does::Warn),
    ("alerted", Does::Warn),
    ("called", Does::Call),
    ("woken", Does::Call),
    ("reminded", Does::Remind),
];

/// Requests to call the speaker that name nobody.
pub(crate) const CALLS: &[&str] = &["shout", "call out", "give a shout", "holler", "sing out"];

/// Words that begin a question which is passed on, and not the moment of a request.
pub(crate) const QUESTIONS: &[&str] = &[
    "what", "who", "whom", "whose", "where", "which", "how", "if", "whether", "why",
];

/// What may precede a request, in addition to what may precede any.
pub(crate) const LEADS: &[&str] = &[
    "do not forget to",
    "do not you forget to",
    "never forget to",
    "remember to",
    "make sure to",
    "make sure you",
    "make sure that you",
    "be sure to",
    "you should",
    "you have to",
    "you must",
    "could you please",
    "can you please",
    "would you please",
    "could you",
    "can you",
    "would you",
    "will you",
    "please",
    "kindly",
    "then",
    "just",
    "and",
    "also",
];

/// What connects a request with what it is about.
pub(crate) const ABOUT: &[&str] = &["that", "to", "about", "of", "for"];
