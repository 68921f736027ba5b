//! From a query to the best units.
//!
//! First a [`Plan`] of what the query asks for, then a cheap pass over the postings that finds candidates, then all
//! features of these.

mod best;
mod bm25;
mod estimate;
mod features;
mod gather;
mod plan;
mod reading;
mod scratch;
mod sessions;
mod windows;

use crate::{
    Feature, Index, Match, Query, Ranking, ScoreParts, Weights, query::by_rank,
    weights::FeatureValues,
};
use best::BestScores;
use plan::Plan;
pub(crate) use scratch::ScratchPool;

impl Index {
    /// The at most `limit` units that fit the query best, best first.
    ///
    /// Equal scores are ordered newest first, then by number. What is answered shares a word with the query, or stands up
    /// to three turns from one that does, or is among the query's vectors, or belongs to one of the five sessions that as a
    /// whole fit best by their words, speakers and time. So the answer may be shorter than `limit` or empty.
    ///
    /// Up to [`Config::exhaustive_up_to`](crate::Config::exhaustive_up_to) units the answer is exact. Beyond, a first pass
    /// estimates scores from which of the query's words occur where, and only the best
    /// [`Config::candidates`](crate::Config::candidates) are scored in full; among 20,000 turns the best ten are the same
    /// for at least 99 of 100 questions.
    ///
    /// Does no I/O and takes time in proportion to how often the query's words occur.
    #[must_use]
    pub fn search(&self, query: &Query<'_>, limit: usize) -> Vec<Match> {
        if limit == 0 || self.is_empty() {
            return Vec::new();
        }
        let plan = Plan::new(self, query);
        let mut scratch = self.pool.take();
        let mut found = match query.ranking {
            Ranking::Fused => self.search_fused(&plan, query, limit, &mut scratch),
            Ranking::PlainBm25 => self.search_plain(&plan, query, limit, &mut scratch),
        };
        self.pool.give_back(scratch);
        found.sort_unstable_by(|a, b| by_rank(self, a, b));
        found.truncate(limit);
        found
    }

    fn search_fused(
        &self,
        plan: &Plan<'_>,
        query: &Query<'_>,
        limit: usize,
        scratch: &mut scratch::Scratch,
    ) -> Vec<Match> {
        gather::find_candidates(self, plan, query, limit, scratch);
        windows::count_terms(self, plan, scratch);
        let candidates = std::mem::take(&mut scratch.candidates);
        let unfinished = candidates.iter().filter_map(|&slot| {
            let values = features::of_candidate(self, plan, scratch, slot)?;
            let so_far = ScoreParts::of(&values, plan.weights).total();
            Some(Unfinished {
                so_far,
                slot,
                values,
            })
        });
        let unfinished = unfinished.collect();
        scratch.candidates = candidates;
        self.finish(unfinished, limit, plan.weights)
    }

    /// Adds what takes longest to find out, which only those need that it can still lift among the best.
    fn finish(
        &self,
        mut unfinished: Vec<Unfinished>,
        limit: usize,
        weights: &Weights,
    ) -> Vec<Match> {
        unfinished.sort_unstable_by(|a, b| b.so_far.total_cmp(&a.so_far));
        let most_gain = weights.weight(Feature::Informative).max(0.0) * weights.scale();
        let mut best = BestScores::new(limit);
        let mut found = Vec::new();
        for mut unit in unfinished {
            if best.are_above(unit.so_far + most_gain + ROUNDING) {
                break;
            }
            let informative = features::informative(self, unit.slot);
            unit.values.set(Feature::Informative, informative);
            let parts = ScoreParts::of(&unit.values, weights);
            let score = parts.total();
            best.note(score);
            found.push(Match {
                id: self.id(unit.slot),
                score,
                parts,
            });
        }
        found
    }

    fn search_plain(
        &self,
        plan: &Plan<'_>,
        query: &Query<'_>,
        limit: usize,
        scratch: &mut scratch::Scratch,
    ) -> Vec<Match> {
        gather::find_plain(self, plan, query, limit, scratch);
        scratch
            .candidates
            .iter()
            .map(|&slot| {
                let parts = ScoreParts::plain(scratch.glimpses.at(slot).turn);
                Match {
                    id: self.id(slot),
                    score: parts.total(),
                    parts,
                }
            })
            .collect()
    }
}

/// A candidate whose own words have not been asked how rare they are.
struct Unfinished {
    /// Its score without that.
    so_far: f32,
    slot: u32,
    values: FeatureValues,
}

/// More than adding up in another order can make of a score.
const ROUNDING: f32 = 1e-5;
