//! Queries and their results.

use std::fmt;

use dormouse_contracts::{Hit, Timestamp};

use crate::{ScoreParts, Speaker};

/// The ranking function.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ranking {
    /// All features, weighted by [`Config::lexical_weights`](crate::Config::lexical_weights), or by
    /// [`Config::hybrid_weights`](crate::Config::hybrid_weights) if the query has vectors.
    #[default]
    Fused,
    /// Plain BM25 of the unit alone, the usual baseline: no neighbours, no speaker, no vectors. The score is the BM25
    /// sum, from 0 upwards, reported as [`Feature::Turn`](crate::Feature::Turn).
    PlainBm25,
}

/// A query to the index.
///
/// ```
/// use dormouse_contracts::Timestamp;
/// use dormouse_retrieval::SearchQuery;
///
/// let admit = |id| id < 100;
/// let query = SearchQuery::new("Where did Alice leave the kettle?")
///     .asked_at(Timestamp::EPOCH)
///     .admit(&admit);
/// # let _ = query;
/// ```
#[derive(Clone, Copy, Default)]
pub struct SearchQuery<'a> {
    pub(crate) text: &'a str,
    pub(crate) asked_at: Option<Timestamp>,
    pub(crate) asker: Option<Speaker<'a>>,
    pub(crate) dense: &'a [Hit],
    pub(crate) admit: Option<&'a dyn Fn(u64) -> bool>,
    pub(crate) ranking: Ranking,
}

impl<'a> SearchQuery<'a> {
    /// Searches for units about `text`. Of a very long text the first 64 KiB are read, and the 64 rarest words count.
    #[must_use]
    pub fn new(text: &'a str) -> Self {
        Self {
            text,
            ..Self::default()
        }
    }

    /// Sets the time of the question, so that "yesterday" can be resolved.
    #[must_use]
    pub fn asked_at(mut self, at: Timestamp) -> Self {
        self.asked_at = Some(at);
        self
    }

    /// Sets who asks, so that "my dog" can be resolved. By default "I" is a speaker named "user". "You" is a speaker named
    /// "assistant".
    #[must_use]
    pub fn asked_by(mut self, asker: Speaker<'a>) -> Self {
        self.asker = Some(asker);
        self
    }

    /// Adds vector hits. Units among them are candidates even if they share no word with the query. Unknown ids and
    /// scores that are not finite are ignored. Several hundred hits are recommended: more hits give better similarities
    /// of neighbours.
    #[must_use]
    pub fn dense(mut self, hits: &'a [Hit]) -> Self {
        self.dense = hits;
        self
    }

    /// Returns only units that `admit` accepts. The words of a rejected unit may still contribute to the scores of its
    /// neighbours. `admit` is called only for candidates.
    #[must_use]
    pub fn admit(mut self, admit: &'a dyn Fn(u64) -> bool) -> Self {
        self.admit = Some(admit);
        self
    }

    /// Uses another ranking function.
    #[must_use]
    pub fn ranking(mut self, ranking: Ranking) -> Self {
        self.ranking = ranking;
        self
    }
}

impl fmt::Debug for SearchQuery<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SearchQuery")
            .field("text", &self.text)
            .field("asked_at", &self.asked_at)
            .field("asker", &self.asker)
            .field("dense", &self.dense.len())
            .field("admit", &self.admit.is_some())
            .field("ranking", &self.ranking)
            .finish()
    }
}

/// A unit that matches a query.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SearchMatch {
    /// The owner's id of the unit.
    pub id: u64,
    /// Its best passage, from 0: the place among the [`passages`](crate::passages) of its text.
    pub passage: u32,
    /// How well the unit matches: the sum of `parts`, which is the weighted mean of its features, in `0.0..=1.0` as
    /// long as no weight is negative. Features are shares of the maximum that the query allows, so scores of different
    /// queries are roughly comparable. They are not probabilities, and even the best one seldom exceeds 0.7. With
    /// [`Ranking::PlainBm25`] it is the BM25 sum, from 0 upwards.
    pub score: f32,
    /// The contribution of each feature.
    pub parts: ScoreParts,
}
