//! Plain sentences that hold a fact, and the fact in the third person.
//!
//! `{s}` is the speaker, `{s's}` the speaker's. `{x}` and `{y}` are what `<x>` and `<y>` matched in the sentence. `{all}` is
//! everything after the second word, and `{whole}` the whole sentence.

/// The kind of a fact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FactKind {
    /// How the world is, or who somebody is.
    Fact,
    /// What somebody likes.
    Preference,
}

use FactKind::*;

/// What the speaker says of themselves.
pub(crate) const OF_THE_SPEAKER: &[(&str, &str, FactKind)] = &[
    ("my name is <y>", "{s} is called {y}.", Fact),
    ("call me <y>", "{s} wants to be called {y}.", Preference),
    (
        "my favorite <x> is/are <y>",
        "{s's} favorite {x} is {y}.",
        Preference,
    ),
    (
        "my <x> is/are called/named <y>",
        "{s's} {x} is called {y}.",
        Fact,
    ),
    (
        "i have a <x> called/named <y>",
        "{s} has a {x} called {y}.",
        Fact,
    ),
    ("i was born <y>", "{s} was born {y}.", Fact),
    ("my birthday is ?on <y>", "{s's} birthday is {y}.", Fact),
    ("my <x> is/are <y>", "{whole}.", Fact),
    ("my <x> lives/live/works/work <y>", "{whole}.", Fact),
    (
        "my <x> likes/like/loves/love/prefers/prefer <y>",
        "{whole}.",
        Preference,
    ),
    (
        "i ?really/also like/enjoy <y>",
        "{s} likes {y}.",
        Preference,
    ),
    (
        "i ?really/also love/adore <y>",
        "{s} loves {y}.",
        Preference,
    ),
    (
        "i ?really/always prefer <y>",
        "{s} prefers {y}.",
        Preference,
    ),
    ("i ?really hate/despise <y>", "{s} hates {y}.", Preference),
    ("i dislike <y>", "{s} does not like {y}.", Preference),
    (
        "i do not ?really like <y>",
        "{s} does not like {y}.",
        Preference,
    ),
    ("i can not stand <y>", "{s} cannot stand {y}.", Preference),
    ("i am allergic to <y>", "{s} is allergic to {y}.", Fact),
    ("i am afraid of <y>", "{s} is afraid of {y}.", Fact),
    ("i fear <y>", "{s} is afraid of {y}.", Fact),
    ("i am a <y>", "{s} is a {y}.", Fact),
    ("i am an <y>", "{s} is an {y}.", Fact),
    ("i am the <y>", "{s} is the {y}.", Fact),
    ("i am from <y>", "{s} is from {y}.", Fact),
    ("i am married to <y>", "{s} is married to {y}.", Fact),
    ("i come from <y>", "{s} comes from {y}.", Fact),
    ("i live <y>", "{s} lives {y}.", Fact),
    // The preposition is kept, so that a workplace is not read as a profession.
    (
        "i work as/at/in/for/on/near/with/from <y>",
        "{s} works {all}.",
        Fact,
    ),
    ("i am working/living <y>", "{s} is {all}.", Fact),
    (
        "i have a/an/two/three/four/five/many <y>",
        "{s} has {all}.",
        Fact,
    ),
    ("i own <y>", "{s} owns {y}.", Fact),
    ("i keep <y>", "{s} keeps {y}.", Fact),
    ("i collect <y>", "{s} collects {y}.", Fact),
    ("i play <y>", "{s} plays {y}.", Fact),
    ("i speak <y>", "{s} speaks {y}.", Fact),
    ("i drink <y>", "{s} drinks {y}.", Preference),
    ("i eat <y>", "{s} eats {y}.", Preference),
    ("i promised ?that <y>", "{s} promised {y}.", Fact),
    ("i plan to <y>", "{s} plans to {y}.", Fact),
    ("i want to <y>", "{s} wants to {y}.", Fact),
];

/// The verbs of a plain sentence about somebody or something else.
pub(crate) const VERBS: &[(&str, FactKind)] = &[
    ("prefers", Preference),
    ("prefer", Preference),
    ("likes", Preference),
    ("loves", Preference),
    ("hates", Preference),
    ("dislikes", Preference),
    ("enjoys", Preference),
    ("drinks", Preference),
    ("is", Fact),
    ("are", Fact),
    ("was", Fact),
    ("were", Fact),
    ("has", Fact),
    ("have", Fact),
    ("lives", Fact),
    ("works", Fact),
    ("comes", Fact),
    ("owns", Fact),
    ("keeps", Fact),
    ("sells", Fact),
    ("opens", Fact),
    ("closes", Fact),
    ("knows", Fact),
    ("plays", Fact),
    ("speaks", Fact),
    ("leads", Fact),
    ("costs", Fact),
    ("begins", Fact),
    ("starts", Fact),
    ("ends", Fact),
];

/// Subjects that mean nothing without the sentence before.
pub(crate) const PRONOUNS: &[&str] = &[
    "i",
    "you",
    "he",
    "she",
    "it",
    "we",
    "they",
    "that",
    "this",
    "there",
    "here",
    "these",
    "those",
    "what",
    "who",
    "where",
    "when",
    "why",
    "how",
    "which",
    "if",
    "nobody",
    "somebody",
    "everybody",
    "your",
    "yours",
    "me",
    "us",
    "them",
    "our",
    "my",
    "who",
    "his",
    "her",
    "its",
    "their",
];

/// Phrases that may precede a fact without changing it.
pub(crate) const BEFORE: &[&str] = &[
    "remember that",
    "remember this",
    "remember",
    "do not forget that",
    "do not forget",
    "keep in mind that",
    "keep in mind",
    "did you know that",
    "you should know that",
    "note that",
    "by the way",
    "i think that",
    "i think",
    "hello",
    "hi",
    "please",
    "well",
    "so",
    "and",
    "but",
    "oh",
    "okay",
    "actually",
];

/// Words of sentences that are about the listener, or that do not stay true.
pub(crate) const NO_FACT: &[&str] = &[
    "you",
    "your",
    "yours",
    "yourself",
    "ignore",
    "instructions",
    "pretend",
    "today",
    "now",
    "currently",
];
