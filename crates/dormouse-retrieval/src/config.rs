//! The configuration of an index.

use std::time::Duration;

use crate::{SearchQuery, Weights};

/// How an index links and searches units. Every value is valid; the defaults are measured.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The longest pause within a session. A longer one between two units of a thread starts a new session. Default: 60
    /// minutes.
    pub session_gap: Duration,
    /// How many words of a unit are indexed. Stop words are not indexed and do not count. Queries do not find the words
    /// after this limit. Default: 4,096.
    pub max_terms_per_unit: usize,
    /// A unit of more words is indexed as passages of whole sentences, each of at most this many words, and found by its
    /// best passage. Default: 60.
    pub passage_words: usize,
    /// An index with at most this many passages scores all of them, so its answers are exact. Default: 2,048.
    pub exhaustive_up_to: usize,
    /// How many units of a larger index are scored in full, after a cheap first pass over all units that share a word
    /// with the query. If a query requests more results than this, that number is used. Default: 256.
    pub candidates: usize,
    /// How many postings the first pass reads at most, rarest words first. Words beyond the budget contribute only to
    /// units that other words found. The rarest word is always read. Default: 50,000.
    pub posting_budget: usize,
    /// The weight of each feature in a query without vectors. Default: [`Weights::lexical`].
    pub lexical_weights: Weights,
    /// The weight of each feature in a query with vectors. Default: [`Weights::hybrid`].
    pub hybrid_weights: Weights,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            session_gap: Duration::from_secs(60 * 60),
            max_terms_per_unit: 4_096,
            passage_words: 60,
            exhaustive_up_to: 2_048,
            candidates: 256,
            posting_budget: 50_000,
            lexical_weights: Weights::lexical(),
            hybrid_weights: Weights::hybrid(),
        }
    }
}

impl Config {
    /// The weights that rank the matches of a query.
    pub(crate) fn weights_for(&self, query: &SearchQuery<'_>) -> &Weights {
        match query.dense {
            [] => &self.lexical_weights,
            _ => &self.hybrid_weights,
        }
    }
}
