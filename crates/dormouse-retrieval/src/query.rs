//! What is asked of the index, and what it answers.

use std::{cmp::Ordering, fmt};

use dormouse_contracts::{Hit, Timestamp};

use crate::{Index, ScoreParts};

/// By what the answers are ranked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ranking {
    /// All features, weighed by [`Config::lexical_weights`](crate::Config::lexical_weights), or by
    /// [`Config::hybrid_weights`](crate::Config::hybrid_weights) if the query has vectors.
    #[default]
    Fused,
    /// Plain BM25 of the unit by itself, the yardstick of the field: no surroundings, no speaker, no vectors. Its
    /// score is the BM25 sum, from 0 upwards, told as [`Feature::Turn`](crate::Feature::Turn).
    PlainBm25,
}

/// A question to the index.
///
/// ```
/// use dormouse_contracts::Timestamp;
/// use dormouse_retrieval::Query;
///
/// let admit = |id| id < 100;
/// let query = Query::new("Where did Alice leave the kettle?")
///     .asked_at(Timestamp::EPOCH)
///     .admit(&admit);
/// # let _ = query;
/// ```
#[derive(Clone, Copy, Default)]
pub struct Query<'a> {
    pub(crate) text: &'a str,
    pub(crate) asked_at: Option<Timestamp>,
    pub(crate) dense: &'a [Hit],
    pub(crate) admit: Option<&'a dyn Fn(u64) -> bool>,
    pub(crate) ranking: Ranking,
}

impl<'a> Query<'a> {
    /// Asks for what `text` is about. Of a very long text the first 64 KiB are read, and of its words the 64 rarest
    /// count.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Says when it is asked, so that "yesterday" can be understood.
    #[must_use]
    pub fn asked_at(mut self, at: Timestamp) -> Self {
        self.asked_at = Some(at);
        self
    }

    /// Adds what an encoder finds similar. Units among them are considered even if they share no word with the query;
    /// numbers that the index does not know, and scores that are not finite, are passed over. The more hits, the better their
    /// neighbours are judged: some hundreds at least.
    #[must_use]
    pub fn dense(mut self, hits: &'a [Hit]) -> Self {
        self.dense = hits;
        self
    }

    /// Answers only units that `admit` lets through. What it refuses may still lend its words to its neighbours'
    /// scores. It is called for those units only that would otherwise be considered.
    #[must_use]
    pub fn admit(mut self, admit: &'a dyn Fn(u64) -> bool) -> Self {
        self.admit = Some(admit);
        self
    }

    /// Ranks by something else than all features.
    #[must_use]
    pub fn ranking(mut self, ranking: Ranking) -> Self {
        self.ranking = ranking;
        self
    }
}

impl fmt::Debug for Query<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Query")
            .field("text", &self.text)
            .field("asked_at", &self.asked_at)
            .field("dense", &self.dense.len())
            .field("admit", &self.admit.is_some())
            .field("ranking", &self.ranking)
            .finish()
    }
}

/// A unit that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Match {
    /// The owner's number for it.
    pub id: u64,
    /// How well it fits: the sum of `parts`, which is the weighted mean of its features, in `0.0..=1.0` as long as no
    /// weight is negative. Features are shares of what the query could reach at most, so scores of different queries
    /// compare roughly; they are no probabilities, and even the best seldom passes 0.7. Of
    /// [`Ranking::PlainBm25`] the BM25 sum, from 0 upwards.
    pub score: f32,
    /// What each feature contributed.
    pub parts: ScoreParts,
}

/// Best first, then newest, then by number.
pub(crate) fn by_rank(index: &Index, a: &Match, b: &Match) -> Ordering {
    b.score
        .total_cmp(&a.score)
        .then_with(|| index.at(b.id).cmp(&index.at(a.id)))
        .then_with(|| a.id.cmp(&b.id))
}
