//! Requests to ask somebody something: how they begin, and the words that begin what is asked.

/// How such a request begins. `<who>` is whom to ask.
pub(crate) const LEADS: &[&str] = &[
    "ask <who>",
    "go ?and ask <who>",
    "go to <who> and ask",
    "inquire/enquire of/with <who>",
    "check with <who>",
    "consult <who>",
    "find/figure out from/with/through <who>",
    "learn from <who>",
    "hear from <who>",
    "see with <who>",
    "have/let/make <who> tell you/me/us",
    "have/let/make <who> look up/into",
    "have/let/make <who> find/figure/work out",
    "have/let/make <who> check/say",
    "get <who> to tell you/me/us",
    "get <who> to find/figure/work out",
    "get <who> to check/say",
    "find out whether/if/what <who> knows",
    "put it to <who>",
    "turn to <who> and ask",
    "send <who> a question",
    "send word to <who> asking",
];

/// What is asked begins with one of these words.
pub(crate) const QUESTIONS: &str =
    "whether/if/what/whats/where/wheres/who/whos/whose/whom/when/how/hows/why/which/about";

/// Words between a request and the question that it passes on. They are not part of that question.
pub(crate) const CONNECTING: &[&str] = &["whether", "if", "about"];

/// Words that cannot name the person to ask.
pub(crate) const NOBODY: &[&str] = &[
    "me",
    "you",
    "us",
    "yourself",
    "myself",
    "him",
    "her",
    "them",
    "it",
    "somebody",
    "someone",
    "anybody",
    "anyone",
    "nobody",
    "everybody",
    "everyone",
    "around",
    "again",
];
