//! The request and the answer of recall.

use std::collections::BTreeSet;

use dormouse_contracts::{Audience, EntityId, Timestamp, Trust};
use dormouse_retrieval::ScoreParts;
use dormouse_text::beginning_bytes;
use serde::{Deserialize, Serialize};

use crate::{
    fallback::Fallback,
    record::{Collection, Record, RecordId, RecordKind},
};

/// The least trust of a recalled record, by default.
pub const MIN_TRUST: Trust = match Trust::try_new(0.5) {
    Ok(trust) => trust,
    Err(_) => Trust::FULL,
};
/// The least trust of a recalled quotation, by default. A server attests that somebody said it; [`MIN_TRUST`] is needed
/// only to believe that it is true.
pub const MIN_QUOTE_TRUST: Trust = match Trust::try_new(0.2) {
    Ok(trust) => trust,
    Err(_) => Trust::FULL,
};
/// How many records are recalled, by default.
pub const DEFAULT_LIMIT: usize = 10;
/// The highest number of records in one answer.
pub const MAX_LIMIT: usize = 1_000;

/// How much of a query is read, in bytes.
const QUERY_BYTES: usize = 64 * 1024;

/// The time at which recalled records must be valid.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Validity {
    /// The time of the question. Records that ended before it are left out; records that begin later are not.
    #[default]
    Now,
    /// This time.
    At(Timestamp),
    /// Any time.
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
    pub(crate) min_quote_trust: Trust,
    pub(crate) min_score: Option<f32>,
    pub(crate) min_confidence: f32,
    pub(crate) kinds: BTreeSet<RecordKind>,
    pub(crate) collections: BTreeSet<Collection>,
    pub(crate) from: Option<Timestamp>,
    pub(crate) until: Option<Timestamp>,
    pub(crate) validity: Validity,
    pub(crate) asked_at: Option<Timestamp>,
    pub(crate) asked_by: Option<EntityId>,
    pub(crate) lexical_only: bool,
    pub(crate) without: BTreeSet<RecordId>,
    pub(crate) listeners: Option<Audience>,
}

impl RecallRequest {
    /// Asks for records that match `query`. Only the first 64 KiB of a query count.
    #[must_use]
    pub fn new(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            limit: None,
            tokens: None,
            min_trust: MIN_TRUST,
            min_quote_trust: MIN_QUOTE_TRUST,
            min_score: None,
            min_confidence: 0.0,
            kinds: BTreeSet::new(),
            collections: BTreeSet::new(),
            from: None,
            until: None,
            validity: Validity::default(),
            asked_at: None,
            asked_by: None,
            lexical_only: false,
            without: BTreeSet::new(),
            listeners: None,
        }
    }

    /// Sets the highest number of matches, up to [`MAX_LIMIT`]. The default is [`DEFAULT_LIMIT`], or with a budget of tokens as
    /// many as fit. Neighbours are not counted.
    #[must_use]
    pub fn limit(mut self, limit: usize) -> Self {
        self.limit = Some(limit.min(MAX_LIMIT));
        self
    }

    /// Packs the best evidence into at most this many tokens, in order of time and with neighbours that help to understand
    /// it. Without a budget the answer is a list of records, best first.
    #[must_use]
    pub fn tokens(mut self, budget: u32) -> Self {
        self.tokens = Some(budget);
        self
    }

    /// Leaves out claims of less trust: facts, insights, and everything else that is not a quotation. [`MIN_TRUST`] by
    /// default.
    #[must_use]
    pub fn min_trust(mut self, least: Trust) -> Self {
        self.min_trust = least;
        self
    }

    /// Leaves out quotations of less trust: records of what somebody said. [`MIN_QUOTE_TRUST`] by default.
    #[must_use]
    pub fn min_quote_trust(mut self, least: Trust) -> Self {
        self.min_quote_trust = least;
        self
    }

    /// Leaves out records that an encoder finds less similar than this cosine in `-1.0..=1.0`; by default none is left out.
    /// A common value is 0.7, which fits only calibrated encoders. If recall uses words, there is no such score and this is
    /// not applied. Neighbours of a match in a packed answer need not be similar.
    #[must_use]
    pub fn min_similarity(mut self, least: f32) -> Self {
        self.min_score = Some(least);
        self
    }

    /// Answers nothing if the [confidence](Recall::confidence) that there is an answer at all is lower. By default there is no such
    /// bound.
    #[must_use]
    pub fn min_confidence(mut self, least: f32) -> Self {
        self.min_confidence = least;
        self
    }

    /// Leaves out records of other kinds. Call it again to allow another kind; by default all are allowed.
    #[must_use]
    pub fn of_kind(mut self, kind: RecordKind) -> Self {
        self.kinds.insert(kind);
        self
    }

    /// Leaves out records of other collections. Call it again to allow another one; by default all are allowed.
    #[must_use]
    pub fn in_collection(mut self, collection: Collection) -> Self {
        self.collections.insert(collection);
        self
    }

    /// Leaves out what was said or happened before `from`.
    #[must_use]
    pub fn since(mut self, from: Timestamp) -> Self {
        self.from = Some(from);
        self
    }

    /// Leaves out what was said or happened at `until` or later.
    #[must_use]
    pub fn before(mut self, until: Timestamp) -> Self {
        self.until = Some(until);
        self
    }

    /// Leaves out what is not valid at this time; by default at the time of the question.
    #[must_use]
    pub fn valid(mut self, validity: Validity) -> Self {
        self.validity = validity;
        self
    }

    /// Sets the time of the question, for words such as "yesterday"; by default the time of the clock.
    #[must_use]
    pub fn asked_at(mut self, at: Timestamp) -> Self {
        self.asked_at = Some(at);
        self
    }

    /// Sets who asks, for words such as "my"; by default a speaker named "user".
    #[must_use]
    pub fn asked_by(mut self, asker: EntityId) -> Self {
        self.asked_by = Some(asker);
        self
    }

    /// Leaves out these records, such as the message that the question was made from.
    #[must_use]
    pub fn without(mut self, records: impl IntoIterator<Item = RecordId>) -> Self {
        self.without.extend(records);
        self
    }

    /// Leaves out records that not all of these listeners perceived; by default none is left out. A record that is left
    /// out takes no place in the ranking or the budget. Records that would have been among the best are
    /// [reported](Recall::withheld).
    #[must_use]
    pub fn for_listeners(mut self, listeners: Audience) -> Self {
        self.listeners = Some(listeners);
        self
    }

    /// How many matches are searched for. With a budget of tokens, packing decides how many of them are shown.
    pub(crate) fn depth(&self) -> usize {
        match (self.limit, self.tokens) {
            (Some(limit), _) => limit,
            (None, None) => DEFAULT_LIMIT,
            // A line takes at least about twenty tokens, so with a match for every sixteen tokens no budget is left
            // unused.
            (None, Some(tokens)) => usize::try_from(tokens / 16)
                .unwrap_or(MAX_LIMIT)
                .clamp(DEFAULT_LIMIT, MAX_LIMIT),
        }
    }

    /// The part of the query that counts.
    pub(crate) fn question(&self) -> &str {
        beginning_bytes(&self.query, QUERY_BYTES)
    }

    /// Uses words alone, even if there is an encoder.
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

/// How recall searched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    /// By words, because there is no encoder or the request asked for it.
    Words,
    /// By words, because similarity was not available.
    WordsBecause(Fallback),
    /// By words and by similarity.
    WordsAndVectors,
}

/// Why a record is in an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It matches the query.
    Match,
    /// It is next to a match in its conversation and helps to understand it.
    Neighbour,
    /// It is linked with a match.
    Linked,
}

/// Which part of a long record an answer contains.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct RecordExcerpt {
    /// The number of the passage, from 1.
    pub passage: usize,
    /// How many passages the record has.
    pub of: usize,
}

/// A recalled record.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recollection {
    /// The record, with its provenance. With a budget, the text of a long one is its best passage; see [`Self::excerpt`].
    pub record: Record,
    /// Why it is here.
    pub role: Role,
    /// How well it matches; 0 for neighbours. Scores of one answer can be compared; those of two answers only roughly.
    pub score: f32,
    /// What each feature contributed to the score, by name.
    pub parts: Vec<(&'static str, f32)>,
    /// Records that say nearly the same and were left out in its favour.
    pub folded: Vec<RecordId>,
    /// A later statement of the same speaker that makes this one out of date. It is in the answer too: before this one, or with
    /// a budget wherever its time places it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated_by: Option<RecordId>,
    /// Its best passage, from 0.
    #[serde(skip)]
    pub(crate) passage: u32,
    /// Which part of the record its text is; `None` if it is the whole.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub excerpt: Option<RecordExcerpt>,
    /// How many tokens its line takes; 0 if no budget was given.
    pub tokens: u32,
}

/// From this number of records on, the confidence of an answer is calibrated. It was fitted on conversations of 369 turns and more.
pub const CALIBRATED_FROM: u64 = 300;

/// The answer of a memory.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Recall {
    /// The recalled records: best first, or with a budget in order of time.
    pub items: Vec<Recollection>,
    /// How likely it is that the memory contains an answer at all, from 0 to 1; see
    /// [`Index::confidence`](dormouse_retrieval::Index::confidence). Records that are left out because of the listeners do not
    /// count.
    pub confidence: f32,
    /// Whether the memory is as large as those that the confidence was fitted on: at least [`CALIBRATED_FROM`] records (a long one counts as its passages). In a smaller
    /// one no word is rare, and an obvious answer counts as unlikely.
    pub is_calibrated: bool,
    /// How recall searched.
    pub mode: SearchMode,
    /// How many changes are not yet in the vectors, or not yet in their index. Until then, their records are found by words
    /// alone. If the request asked for words only, the changes that are not embedded.
    pub waiting: u64,
    /// Records that match as well as what is recalled and were left out because of the listeners, best first. Show them
    /// only to an operator of the assistant.
    pub withheld: Vec<Withheld>,
}

/// A record that was not recalled because not all listeners perceived it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Withheld {
    /// The record.
    pub record: RecordId,
    /// Who perceived it.
    pub audience: Audience,
}

pub(crate) fn parts_of(parts: &ScoreParts) -> Vec<(&'static str, f32)> {
    let parts = parts.iter();
    parts
        .map(|(feature, part)| (feature.name(), part))
        .collect()
}
