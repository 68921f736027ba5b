//! How likely it is that an index contains an answer at all.
//!
//! The best match is always the best, also if nothing answers the query. How good it is in itself says whether it is an answer:
//! scores are shares of what the query allows. The share of the query's words that an index knows would tell a little more
//! (AUROC .835 instead of .830), but it would also tell a listener which words occur in records that they must not know.

use crate::{Feature, Index, Ranking, SearchMatch, SearchQuery, Weights};

/// How many of the best matches are looked at: with vectors, another match may be the best by words.
const BEST: usize = 5;
/// How much the score by words changes the logarithm of the odds; fitted by logistic regression (`docs/recall.md`).
const SCORE: f32 = 20.8;
/// The logarithm of the odds at a score of zero.
const BASE: f32 = -8.2;

impl Index {
    /// How likely it is that the index contains an answer to the query, from 0 to 1, judged by its best matches.
    ///
    /// It is calibrated for as many queries with an answer as without one. It says little about which match is the answer, and
    /// nothing about whether the answer is true. Without matches it is 0, and with [`Ranking::PlainBm25`] too. Vectors are not
    /// considered.
    #[must_use]
    pub fn confidence(&self, query: &SearchQuery<'_>, matches: &[SearchMatch]) -> f32 {
        if matches.is_empty() || query.ranking == Ranking::PlainBm25 {
            return 0.0;
        }
        let used = self.config.weights_for(query);
        let best = matches.iter().take(BEST);
        let scores = best.map(|one| by_words(one, used, &self.config.lexical_weights));
        let odds = SCORE * scores.fold(0.0, f32::max) + BASE;
        1.0 / (1.0 + (-odds).exp())
    }
}

/// The score that a match has without vectors.
fn by_words(one: &SearchMatch, used: &Weights, lexical: &Weights) -> f32 {
    let (used_scale, scale) = (used.scale(), lexical.scale());
    let parts = one.parts.iter().map(|(feature, part)| {
        let used = used.weight(feature) * used_scale;
        match feature {
            Feature::Dense => 0.0,
            _ if used == 0.0 => 0.0,
            _ => part / used * lexical.weight(feature) * scale,
        }
    });
    parts.sum()
}
