//! Words of questions about the assistant itself, and of the sentences in its persona.

/// Words directly before "you" in a question about the listener.
pub(crate) const AUXILIARIES: &[&str] =
    &["do", "are", "were", "have", "can", "could", "would", "will"];

/// Words between "you" and the verb.
pub(crate) const ADVERBS: &[&str] = &[
    "really", "also", "ever", "still", "always", "even", "often", "actually",
];

/// Verbs of questions about what the listener knows, has heard or has done for somebody.
pub(crate) const OF_MEMORY: &[&str] = &[
    "know",
    "remember",
    "recall",
    "recollect",
    "hear",
    "heard",
    "see",
    "seen",
    "tell",
    "told",
    "say",
    "said",
    "think",
    "thought",
    "believe",
    "mean",
    "meant",
    "promise",
    "promised",
    "meet",
    "met",
    "notice",
    "noticed",
    "find",
    "found",
    "sure",
    "forget",
    "forgotten",
    "learn",
    "learnt",
    "learned",
    "ask",
    "asked",
    "going",
    "store",
    "stored",
    "noted",
    "suppose",
    "guess",
];

/// Words of the speaker. A question with one of them is about the speaker, too, and may be in the memory.
pub(crate) const OWN: &[&str] = &["my", "mine", "our", "i", "we"];

/// Ends of a question whether the listener is there.
pub(crate) const PRESENT: &[&str] = &[
    "there",
    "here",
    "awake",
    "up",
    "around",
    "back",
    "listening",
    "home",
];

/// What the listener has, but not as a person.
pub(crate) const POSSESSIONS: &[&str] = &[
    "memory",
    "memories",
    "notes",
    "list",
    "source",
    "sources",
    "reminders",
];

/// Words of a question that say nothing about its subject.
pub(crate) const GENERAL: &[&str] = &[
    "like",
    "love",
    "prefer",
    "have",
    "got",
    "own",
    "want",
    "enjoy",
    "kind",
    "sort",
    "favorite",
    "favourite",
    "really",
    "ever",
    "still",
    "called",
    "name",
    "many",
    "much",
    "long",
    "often",
    "color",
    "colour",
    "feel",
    "been",
];

/// Verbs of a persona's sentence about the assistant.
pub(crate) const VERBS: &[&str] = &[
    "are", "were", "have", "had", "live", "lived", "like", "love", "hate", "dislike", "prefer",
    "enjoy", "come", "came", "work", "drink", "eat", "sell", "make", "bake", "own", "keep", "play",
    "speak", "grew", "collect", "fear", "wear", "miss", "sleep", "sing", "read", "cook", "tend",
];

/// Words of instructions and of secrets, in addition to those that an introduction keeps.
pub(crate) const UNSAID: &[&str] = &[
    "spy",
    "disguise",
    "disguised",
    "cover",
    "traitor",
    "betray",
    "betrayed",
    "thief",
    "thieves",
    "assassin",
    "murder",
    "murderer",
    "guilty",
    "wanted",
    "word",
    "words",
    "vault",
    "guard",
    "plot",
    "plan",
    "poison",
    "poisoned",
    "stole",
    "stolen",
    "steal",
    "kill",
    "killed",
    "lie",
    "lied",
    "crime",
    "instructions",
    "prompt",
    "rules",
    "user",
    "users",
    "assistant",
    "model",
    "respond",
    "answer",
    "reply",
    "must",
    "should",
    "always",
    "not",
    "only",
];
