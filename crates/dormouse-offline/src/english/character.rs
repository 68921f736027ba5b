//! How a persona is read: the sentence that says who it is, and the words that say how it speaks.

/// How somebody speaks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) enum Manner {
    /// None of the others.
    #[default]
    Plain,
    /// Friendly.
    Warm,
    /// In few words, and not eager.
    Gruff,
    /// Polite and stiff.
    Formal,
    /// In good spirits.
    Playful,
    /// Shy.
    Timid,
}

/// The words of a persona that say how it speaks.
pub(crate) const MANNERS: &[(&str, Manner)] = &[
    ("kind", Manner::Warm),
    ("warm", Manner::Warm),
    ("warmly", Manner::Warm),
    ("friendly", Manner::Warm),
    ("gentle", Manner::Warm),
    ("cheerful", Manner::Warm),
    ("caring", Manner::Warm),
    ("motherly", Manner::Warm),
    ("welcoming", Manner::Warm),
    ("gruff", Manner::Gruff),
    ("grumpy", Manner::Gruff),
    ("surly", Manner::Gruff),
    ("rough", Manner::Gruff),
    ("curt", Manner::Gruff),
    ("terse", Manner::Gruff),
    ("laconic", Manner::Gruff),
    ("taciturn", Manner::Gruff),
    ("bitter", Manner::Gruff),
    ("formal", Manner::Formal),
    ("polite", Manner::Formal),
    ("courteous", Manner::Formal),
    ("courtly", Manner::Formal),
    ("noble", Manner::Formal),
    ("butler", Manner::Formal),
    ("dignified", Manner::Formal),
    ("strict", Manner::Formal),
    ("playful", Manner::Playful),
    ("merry", Manner::Playful),
    ("jolly", Manner::Playful),
    ("witty", Manner::Playful),
    ("cheeky", Manner::Playful),
    ("mischievous", Manner::Playful),
    ("silly", Manner::Playful),
    ("jester", Manner::Playful),
    ("shy", Manner::Timid),
    ("timid", Manner::Timid),
    ("nervous", Manner::Timid),
    ("anxious", Manner::Timid),
    ("quiet", Manner::Timid),
];

/// Words before a manner that say the opposite.
pub(crate) const NEGATIONS: &[&str] = &[
    "not", "never", "no", "without", "hardly", "rarely", "not be",
];

/// The beginnings of the sentence that says who an assistant is.
pub(crate) const WHO: &[&str] = &["you are", "your name is", "you play", "you act as"];

/// Words of a persona's sentence that the assistant must not repeat to others.
pub(crate) const KEPT: &[&str] = &[
    "secret",
    "secretly",
    "secrets",
    "hidden",
    "hide",
    "hides",
    "never",
    "nobody",
    "password",
    "code",
    "key",
    "pretend",
    "pretends",
    "confidential",
    "private",
    "murdered",
    "tell",
    "reveal",
];

/// A persona says "you"; the assistant says "I". Each such word with its counterpart.
pub(crate) const TO_ME: &[(&str, &str)] = &[
    ("you", "I"),
    ("your", "my"),
    ("yours", "mine"),
    ("yourself", "myself"),
    ("are", "am"),
];
