//! The documented score of an entry: recency, importance and relevance together (Park et al., "Generative Agents", 2023).

use std::{
    cmp::Ordering,
    collections::{BTreeMap, HashSet},
    fmt,
};

use dormouse_contracts::Timestamp;
use dormouse_retrieval::base_form;
use serde::{Deserialize, Serialize};

use super::{JournalIndex, JournalMatch, JournalQuery, WhyMatched, found_by, query::Bounds};
use crate::{
    entry::{EntryId, JournalEntry},
    journal::Journal,
    keywords::extract_keywords,
};

/// How fast an entry fades.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Recency {
    /// `exp(−age / days)`: 0.37 after this many days. The default is 30.
    DecayDays(f64),
    /// `exp(−rate × age in hours)`. With 0.99, the first value in the reference documents, it is below 0.01 after five
    /// hours.
    Hours(f64),
}

impl Recency {
    /// The documented rate of [`Recency::Hours`].
    pub const HOURS: Self = Self::Hours(0.99);

    fn rate_per_hour(self) -> f64 {
        match self {
            Self::DecayDays(days) => 1.0 / (days * 24.0),
            Self::Hours(rate) => rate,
        }
    }

    /// How recent something is, from 0 to 1. A time in the future counts as 1.
    #[must_use]
    pub fn of(self, at: Timestamp, now: Timestamp) -> f64 {
        let hours = now.since(at).as_secs_f64() / 3_600.0;
        (-self.rate_per_hour() * hours).exp()
    }
}

/// The weights of recency, importance and relevance. The score is their weighted mean, 0 to 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EpisodicScore {
    recency: Recency,
    alpha_recency: f64,
    alpha_importance: f64,
    alpha_relevance: f64,
}

/// Parameters with which no score can be computed.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum EpisodicScoreError {
    /// A rate is not positive.
    #[error("{0:?} is not a decay; expected a number above 0")]
    Decay(Recency),
    /// The weights are not valid.
    #[error(
        "the weights are {0:?}; expected numbers that are not negative, at least one of them above 0"
    )]
    Weights([f64; 3]),
}

impl EpisodicScore {
    /// A score with these weights of recency, importance and relevance.
    ///
    /// # Errors
    ///
    /// [`EpisodicScoreError`] if a weight is negative or not finite, all are 0, or the decay is not positive.
    pub fn try_new(recency: Recency, alphas: [f64; 3]) -> Result<Self, EpisodicScoreError> {
        let rate = recency.rate_per_hour();
        if !(rate.is_finite() && rate > 0.0) {
            return Err(EpisodicScoreError::Decay(recency));
        }
        let sum: f64 = alphas.iter().sum();
        if alphas.iter().any(|alpha| alpha.is_nan() || *alpha < 0.0)
            || !(sum.is_finite() && sum > 0.0)
        {
            return Err(EpisodicScoreError::Weights(alphas));
        }
        let [alpha_recency, alpha_importance, alpha_relevance] = alphas;
        Ok(Self {
            recency,
            alpha_recency,
            alpha_importance,
            alpha_relevance,
        })
    }

    /// Scores an entry for a query at this time: the documented `score_episodic_memory`.
    #[must_use]
    pub fn of(&self, entry: &JournalEntry, query: &str, now: Timestamp) -> EpisodicParts {
        let keywords = QueryKeywords::of(query);
        let content = QueryKeywords::of(&entry.content);
        let shared = keywords.0.iter();
        let shared = shared.filter(|(term, _)| content.0.contains_key(*term));
        let shared = shared.map(|(_, word)| word.clone()).collect();
        self.parts(entry, shared, keywords.0.len(), now)
    }

    fn mean(&self, recency: f64, importance: f64, relevance: f64) -> f64 {
        let sum = self.alpha_recency + self.alpha_importance + self.alpha_relevance;
        (self.alpha_recency * recency
            + self.alpha_importance * importance
            + self.alpha_relevance * relevance)
            / sum
    }

    fn parts(
        &self,
        entry: &JournalEntry,
        keywords: Vec<String>,
        of: usize,
        now: Timestamp,
    ) -> EpisodicParts {
        let recency = self.recency.of(entry.timestamp, now);
        let importance = entry.importance.share();
        let relevance = ratio(keywords.len(), of);
        let score = self.mean(recency, importance, relevance);
        EpisodicParts {
            score,
            recency,
            importance,
            relevance,
            keywords,
        }
    }
}

impl Default for EpisodicScore {
    /// A decay of 30 days, and equal weights.
    fn default() -> Self {
        Self {
            recency: Recency::DecayDays(30.0),
            alpha_recency: 1.0,
            alpha_importance: 1.0,
            alpha_relevance: 1.0,
        }
    }
}

/// The parts of a score, each from 0 to 1.
#[derive(Clone, Debug, PartialEq)]
pub struct EpisodicParts {
    /// The weighted mean of the three.
    pub score: f64,
    /// How recent the entry is.
    pub recency: f64,
    /// Its importance divided by 10.
    pub importance: f64,
    /// The share of the query's keywords that occur in it.
    pub relevance: f64,
    /// These keywords, as they are written in the query.
    pub keywords: Vec<String>,
}

/// "recency 0.93, importance 0.70, relevance 0.50 (address, formal)".
impl fmt::Display for EpisodicParts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            recency,
            importance,
            relevance,
            keywords,
            ..
        } = self;
        write!(
            f,
            "recency {recency:.2}, importance {importance:.2}, relevance {relevance:.2}"
        )?;
        match keywords.is_empty() {
            true => Ok(()),
            false => write!(f, " ({})", keywords.join(", ")),
        }
    }
}

/// The keywords of a text by their base forms, so that "kettles" and "kettle" are the same keyword.
pub(super) struct QueryKeywords(pub(super) BTreeMap<String, String>);

impl QueryKeywords {
    fn of(text: &str) -> Self {
        let words = extract_keywords(text).into_iter();
        Self(words.map(|word| (base_form(&word), word)).collect())
    }
}

impl JournalIndex {
    /// The best entries by the documented score, one of each group.
    ///
    /// The result is exact although not all entries are scored. Entries with a keyword are found by the index. Of two
    /// entries without a keyword and with the same importance, the newer one has the higher score, so the newest ones
    /// of each importance are enough.
    pub(super) fn episodic<'a>(
        &self,
        journal: &'a Journal,
        query: &JournalQuery,
        bounds: &Bounds<'_>,
        score: &EpisodicScore,
        now: Timestamp,
    ) -> Vec<JournalMatch<'a>> {
        let keywords = QueryKeywords::of(&query.query);
        let of = keywords.0.len();
        let counts = self.keyword_counts(&keywords);
        let scored = |entry: &'a JournalEntry, count: usize| {
            let recency = score.recency.of(entry.timestamp, now);
            let mean = score.mean(recency, entry.importance.share(), ratio(count, of));
            (mean, entry)
        };
        let with_keyword = counts.iter().filter_map(|(id, count)| {
            let entry = journal.entry(*id).filter(|entry| bounds.admit(entry));
            entry.map(|entry| scored(entry, *count))
        });
        let mut ranked: Vec<(f64, &JournalEntry)> = with_keyword.collect();
        let has_keyword = |id: EntryId| counts.contains_key(&id);
        let newest = self.newest_of_each_importance(journal, bounds, query.limit, &has_keyword);
        ranked.extend(newest.into_iter().map(|entry| scored(entry, 0)));
        ranked.sort_unstable_by(by_rank);
        // Only returned entries need the keywords by which they were found.
        let mut groups = HashSet::new();
        let shown = ranked.into_iter();
        let shown = shown.filter(|(_, entry)| groups.insert(entry.group()));
        let shown = shown.take(query.limit).map(|(_, entry)| {
            let parts = score.parts(entry, self.keywords_in(&keywords, entry.id), of, now);
            found_by(entry, parts.score, WhyMatched::Episodic(parts))
        });
        shown.collect()
    }
}

fn by_rank(one: &(f64, &JournalEntry), other: &(f64, &JournalEntry)) -> Ordering {
    let newest = |entry: &JournalEntry| (entry.timestamp, entry.id);
    let by_score = other.0.total_cmp(&one.0);
    by_score.then_with(|| newest(other.1).cmp(&newest(one.1)))
}

#[expect(clippy::cast_precision_loss, reason = "numbers of words")]
fn ratio(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}
