//! What a memory is asked, and what it answers.

use std::{collections::BTreeSet, fmt};

use dormouse_contracts::{Timestamp, Trust};
use dormouse_retrieval::ScoreParts;
use dormouse_text::beginning_bytes;
use serde::Serialize;

use crate::record::{Record, RecordId, RecordKind, Shelf};

/// The least trust of what is recalled where it is not said otherwise (seed: Memory and Sleep).
pub const MIN_TRUST: Trust = match Trust::try_new(0.5) {
    Ok(trust) => trust,
    Err(_) => Trust::FULL,
};
/// How many records are recalled where it is not said otherwise.
pub const DEFAULT_LIMIT: usize = 10;
/// The most records of one answer.
pub const MAX_LIMIT: usize = 1_000;

/// How much of a query is read, in bytes.
const QUERY_BYTES: usize = 64 * 1024;

/// For which time what is recalled must be so.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validity {
    /// For the time of the question: what has ceased by then is left out; what is said to begin later is known already.
    #[default]
    Now,
    /// For this time.
    At(Timestamp),
    /// For any.
    Any,
}

/// A question to a memory.
///
/// ```
/// use dormouse_memory::{RecallRequest, RecordKind};
///
/// let request = RecallRequest::new("What does Alice drink?")
///     .limit(5)
///     .tokens(1_024)
///     .of_kind(RecordKind::Preference);
/// # let _ = request;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct RecallRequest {
    pub(crate) query: String,
    pub(crate) limit: Option<usize>,
    pub(crate) tokens: Option<u32>,
    pub(crate) min_trust: Trust,
    pub(crate) min_score: Option<f32>,
    pub(crate) kinds: BTreeSet<RecordKind>,
    pub(crate) shelves: BTreeSet<Shelf>,
    pub(crate) from: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
    pub(crate) validity: Validity,
    pub(crate) asked_at: Option<Timestamp>,
    pub(crate) lexical_only: bool,
    pub(crate) without: BTreeSet<String>,
}

impl RecallRequest {
    /// Asks for what fits `query`. Of a very long query only the beginning counts.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            limit: None,
            tokens: None,
            min_trust: MIN_TRUST,
            min_score: None,
            kinds: BTreeSet::new(),
            shelves: BTreeSet::new(),
            from: None,
            until: None,
            validity: Validity::default(),
            asked_at: None,
            lexical_only: false,
            without: BTreeSet::new(),
        }
    }

    /// The most records that match; at most [`MAX_LIMIT`]. Where it is not said, [`DEFAULT_LIMIT`], or with a budget as many
    /// as fit; neighbours come on top.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit.min(MAX_LIMIT));
        self
    }

    /// Packs the best evidence into at most so many tokens, in the order of time and with neighbours where they help.
    /// Without it, the best records come one by one, best first.
    #[must_use]
    pub fn tokens(mut self, budget: u32) -> Self {
        self.tokens = Some(budget);
        self
    }

    /// Only what is believed at least so far; [`MIN_TRUST`] where it is not said.
    #[must_use]
    pub fn min_trust(mut self, least: Trust) -> Self {
        self.min_trust = least;
        self
    }

    /// Only what an encoder finds at least so similar, as a cosine in `-1.0..=1.0`; anything where it is not said.
    /// Documents of the field use 0.7, which fits calibrated encoders only: where recall goes by words, there is no
    /// such score, and this is not applied. What stands beside a match in a packed answer need not be similar itself.
    #[must_use]
    pub fn min_similarity(mut self, least: f32) -> Self {
        self.min_score = Some(least);
        self
    }

    /// Only records of this kind, or of others named so; any where none is named.
    #[must_use]
    pub fn of_kind(mut self, kind: RecordKind) -> Self {
        self.kinds.insert(kind);
        self
    }

    /// Only records of this shelf, or of others named so; any where none is named.
    #[must_use]
    pub fn on_shelf(mut self, shelf: Shelf) -> Self {
        self.shelves.insert(shelf);
        self
    }

    /// Only what was said or happened at `from` or later.
    #[must_use]
    pub fn since(mut self, from: Timestamp) -> Self {
        self.from = Some(from);
        self
    }

    /// Only what was said or happened before `until`.
    #[must_use]
    pub fn before(mut self, until: Timestamp) -> Self {
        self.until = Some(until);
        self
    }

    /// Only what was so then; what is so now where it is not said.
    #[must_use]
    pub fn valid(mut self, validity: Validity) -> Self {
        self.validity = validity;
        self
    }

    /// When it is asked, for words such as "yesterday"; the clock's time where it is not said.
    #[must_use]
    pub fn asked_at(mut self, at: Timestamp) -> Self {
        self.asked_at = Some(at);
        self
    }

    /// Leaves out records of these origins: what the question itself was made of, for instance.
    #[must_use]
    pub fn without_origins(mut self, origins: impl IntoIterator<Item = String>) -> Self {
        self.without.extend(origins);
        self
    }

    /// How many matches are looked at. A budget of tokens decides how many of them are shown, unless a limit was set.
    pub(crate) fn depth(&self) -> usize {
        match (self.limit, self.tokens) {
            (Some(limit), _) => limit,
            (None, None) => DEFAULT_LIMIT,
            // A line takes some twenty tokens at least.
            (None, Some(tokens)) => usize::try_from(tokens / 16)
                .unwrap_or(MAX_LIMIT)
                .clamp(DEFAULT_LIMIT, MAX_LIMIT),
        }
    }

    /// The part of the query that counts.
    pub(crate) fn question(&self) -> &str {
        beginning_bytes(&self.query, QUERY_BYTES)
    }

    /// Goes by words alone, whatever encoder there is.
    #[must_use]
    pub fn by_words(mut self) -> Self {
        self.lexical_only = true;
        self
    }
}

impl From<&str> for RecallRequest {
    fn from(query: &str) -> Self {
        Self::new(query)
    }
}

/// Why recall went by words alone although there is an encoder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Fallback {
    /// The encoder could not be reached, or answered nothing usable.
    Encoder,
    /// The encoder failed too often and is left alone for now.
    EncoderPaused,
    /// The vector index could not be reached, or refused the request.
    VectorIndex,
    /// The vector index failed too often and is left alone for now.
    IndexPaused,
    /// The vector index refuses the key, or does not let this one write.
    IndexKey,
    /// The vector index has lost what it was given, and is fed again.
    IndexLost,
    /// No vectors of the current encoder are ready yet.
    NotEmbedded,
    /// The encoder is another one than that of the vectors: migrate, or configure the former one again.
    EncoderChanged,
}

impl fmt::Display for Fallback {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Encoder => "the encoder could not be reached, or answered nothing usable",
            Self::EncoderPaused => "the encoder failed too often and is left alone for now",
            Self::VectorIndex => "the vector index could not be reached, or refused the request",
            Self::IndexPaused => "the vector index failed too often and is left alone for now",
            Self::IndexKey => "the vector index refuses the key",
            Self::IndexLost => "the vector index has lost what it was given and is fed again",
            Self::NotEmbedded => "no vectors are ready yet",
            Self::EncoderChanged => "the encoder is another one than that of the vectors",
        })
    }
}

/// By what recall went.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    /// By words, because that is all there is.
    Words,
    /// By words, because similarity could not be had.
    WordsBecause(Fallback),
    /// By words and by similarity.
    WordsAndVectors,
}

/// Why a record is in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It fits the query.
    Match,
    /// It stands beside one that does, and helps to understand it.
    Neighbour,
    /// A record that fits is linked with it.
    Linked,
}

/// A recalled record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recollection {
    /// The record, with its lineage.
    pub record: Record,
    /// Why it is here.
    pub role: Role,
    /// How well it fits; 0 for neighbours. Scores of one answer compare, those of two do so roughly.
    pub score: f32,
    /// What each feature contributed to the score, by name.
    pub parts: Vec<(&'static str, f32)>,
    /// Records that say nearly the same and were left out for it.
    pub folded: Vec<RecordId>,
    /// How many tokens its line takes; 0 where no budget was given.
    pub tokens: u32,
}

/// The answer of a memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recall {
    /// What was recalled: best first, or with a budget in the order of time.
    pub items: Vec<Recollection>,
    /// By what it went.
    pub mode: SearchMode,
    /// How many changes are not in the vectors, or not in their index, yet: what they added is found by words alone until
    /// then. Where only words were asked for, those that are not embedded.
    pub waiting: u64,
}

pub(crate) fn parts_of(parts: &ScoreParts) -> Vec<(&'static str, f32)> {
    let parts = parts.iter();
    parts
        .map(|(feature, part)| (feature.name(), part))
        .collect()
}
