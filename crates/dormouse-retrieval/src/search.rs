//! Finds the best units for a query.
//!
//! First, a [`QueryPlan`] describes what the query asks for. A cheap pass over the postings then finds candidates, and
//! only these are scored with all features.

mod best;
mod bm25;
mod confidence;
mod estimate;
mod everyday;
mod features;
mod gather;
mod plan;
mod rarity;
mod reading;
mod scratch;
mod sessions;
mod spelling;
mod windows;

use std::{cmp::Ordering, collections::HashSet};

use crate::{
    Feature, Index, Ranking, ScoreParts, SearchMatch, SearchQuery, Weights, index::Card,
    weights::FeatureValues,
};
use best::BestScores;
use plan::QueryPlan;
pub(crate) use rarity::Rarity;
pub(crate) use scratch::ScratchPool;

impl Index {
    /// The best units for the query, at most `limit`, best first.
    ///
    /// Equal scores are ordered newest first, then by id. A match shares a word with the query, is up to three turns
    /// away from a unit that does, is among the query's vector hits, or belongs to one of the five sessions that match
    /// best by words, speakers and time. So the answer may have fewer than `limit` matches, or none.
    ///
    /// In an index of up to [`Config::exhaustive_up_to`](crate::Config::exhaustive_up_to) units, the answer is exact.
    /// In larger indexes a first pass estimates the scores from the words of the query and their positions, and only
    /// the best [`Config::candidates`](crate::Config::candidates) are scored in full. Among 20,000 turns the best ten
    /// are the same as with exact scoring for at least 99 of 100 questions.
    ///
    /// Does no I/O and takes time linear in the number of occurrences of the query's words.
    #[must_use]
    pub fn search(&self, query: &SearchQuery<'_>, limit: usize) -> Vec<SearchMatch> {
        if limit == 0 || self.is_empty() {
            return Vec::new();
        }
        let plan = QueryPlan::new(self, query);
        let mut scratch = self.pool.take();
        let mut found = match query.ranking {
            Ranking::Fused => self.search_fused(&plan, query, limit, &mut scratch),
            Ranking::PlainBm25 => self.search_plain(&plan, query, limit, &mut scratch),
        };
        self.pool.give_back(scratch);
        found.sort_unstable_by(|a, b| by_rank(self, a, b));
        if self.has_passages() {
            // A unit is found by its best passage.
            let mut seen = HashSet::with_capacity(found.len());
            found.retain(|unit| seen.insert(unit.id));
        }
        found.truncate(limit);
        found
    }

    fn search_fused(
        &self,
        plan: &QueryPlan<'_>,
        query: &SearchQuery<'_>,
        limit: usize,
        scratch: &mut scratch::Scratch,
    ) -> Vec<SearchMatch> {
        gather::find_candidates(self, plan, query, limit, scratch);
        windows::count_terms(self, plan, scratch);
        // Taken out of `scratch`, because scoring borrows `scratch` mutably.
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

    /// Adds the most expensive feature, but only to units that it can still raise into the best `limit`.
    fn finish(
        &self,
        mut unfinished: Vec<Unfinished>,
        limit: usize,
        weights: &Weights,
    ) -> Vec<SearchMatch> {
        unfinished.sort_unstable_by(|a, b| b.so_far.total_cmp(&a.so_far));
        // Features are at most 1, so this feature adds at most its share of the weights. A negative weight adds
        // nothing.
        let most_gain = weights.weight(Feature::Informative).max(0.0) * weights.scale();
        let mut best = BestScores::new(limit);
        let mut counted = HashSet::new();
        let mut found = Vec::new();
        for mut unit in unfinished {
            // The units are sorted, so no later unit can reach the best either.
            if best.are_above(unit.so_far + most_gain + ROUNDING) {
                break;
            }
            let informative = features::informative(self, unit.slot);
            unit.values.set(Feature::Informative, informative);
            let parts = ScoreParts::of(&unit.values, weights);
            let score = parts.total();
            let Card { id, passage, .. } = self.cards.at(unit.slot);
            // Each unit counts once, or its passages would keep others out.
            if !self.has_passages() || counted.insert(id) {
                best.note(score);
            }
            found.push(SearchMatch {
                id,
                passage,
                score,
                parts,
            });
        }
        found
    }

    fn search_plain(
        &self,
        plan: &QueryPlan<'_>,
        query: &SearchQuery<'_>,
        limit: usize,
        scratch: &mut scratch::Scratch,
    ) -> Vec<SearchMatch> {
        let limit = if self.has_passages() {
            usize::MAX
        } else {
            limit
        };
        gather::find_plain(self, plan, query, limit, scratch);
        scratch
            .candidates
            .iter()
            .map(|&slot| {
                let parts = ScoreParts::plain(scratch.first_pass.at(slot).turn);
                let Card { id, passage, .. } = self.cards.at(slot);
                SearchMatch {
                    id,
                    passage,
                    score: parts.total(),
                    parts,
                }
            })
            .collect()
    }
}

/// A candidate whose score does not include [`Feature::Informative`] yet.
struct Unfinished {
    /// The score without that feature.
    so_far: f32,
    slot: u32,
    values: FeatureValues,
}

/// A bound that exceeds the rounding error of adding the same parts in another order.
const ROUNDING: f32 = 1e-5;

/// Best first, then newest, then by id and passage.
fn by_rank(index: &Index, a: &SearchMatch, b: &SearchMatch) -> Ordering {
    b.score
        .total_cmp(&a.score)
        .then_with(|| index.at(b.id).cmp(&index.at(a.id)))
        .then_with(|| (a.id, a.passage).cmp(&(b.id, b.passage)))
}
