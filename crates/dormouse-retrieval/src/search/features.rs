//! The features of one candidate.

use crate::{
    Feature, Index,
    index::threads::{NONE, RADIUS},
    search::{
        bm25::{length_norm, saturated},
        plan::{MAX_TERMS, Plan},
        scratch::Scratch,
    },
    weights::FeatureValues,
};

/// The features of the unit in `slot`; `None` if nothing connects it to the query.
pub(super) fn of_candidate(
    index: &Index,
    plan: &Plan,
    scratch: &Scratch,
    slot: u32,
) -> Option<FeatureValues> {
    let windows = Windows::around(index, plan, scratch, slot);
    let place = index.threads.place(slot);
    let session = scratch.sessions.at(place.session) / plan.most;
    let dense = scratch.dense.at(slot);
    let wide = windows.score(plan, 3);
    if wide == 0.0 && session == 0.0 && dense == 0.0 {
        return None;
    }
    let mut values = FeatureValues::default();
    values.set(Feature::Turn, windows.score(plan, 0));
    values.set(Feature::Window1, windows.score(plan, 1));
    values.set(Feature::Window3, wide);
    values.set(Feature::Session, session);
    let speaks = plan.is_named(index.cards.at(slot).speaker);
    values.set(Feature::Speaker, f32::from(u8::from(speaks)));
    values.set(Feature::Dense, dense);
    Some(values)
}

/// Counts of the query's terms in the unit and in windows of each radius around it, and how long these are.
struct Windows {
    counts: [[u16; MAX_TERMS]; RADIUS + 1],
    terms: [u32; RADIUS + 1],
}

impl Windows {
    fn around(index: &Index, plan: &Plan, scratch: &Scratch, slot: u32) -> Self {
        let mut windows = Self {
            counts: [[0; MAX_TERMS]; RADIUS + 1],
            terms: [0; RADIUS + 1],
        };
        let width = plan.terms.len();
        let mut counts = [0; MAX_TERMS];
        let mut terms = 0;
        let (mut before, mut after) = (slot, NONE);
        for radius in 0..=RADIUS {
            for side in [before, after] {
                terms += index.threads.place(side).terms;
                for (sum, count) in counts.iter_mut().zip(scratch.counts_of(side, width)) {
                    *sum += u16::from(*count);
                }
            }
            if let (Some(all), Some(long)) = (
                windows.counts.get_mut(radius),
                windows.terms.get_mut(radius),
            ) {
                (*all, *long) = (counts, terms);
            }
            after = index
                .threads
                .place(if radius == 0 { slot } else { after })
                .next;
            before = index.threads.place(before).prev;
        }
        windows
    }

    /// BM25 of the window of this radius, as a share of the most that the query can reach.
    fn score(&self, plan: &Plan, radius: usize) -> f32 {
        let (Some(counts), Some(&terms), Some(&mean)) = (
            self.counts.get(radius),
            self.terms.get(radius),
            plan.mean_terms.get(radius),
        ) else {
            return 0.0;
        };
        let norm = length_norm(terms as f32, mean);
        let sum: f32 = plan
            .terms
            .iter()
            .zip(counts)
            .filter(|(_, count)| **count > 0)
            .map(|(term, count)| term.idf * saturated(f32::from(*count), norm))
            .sum();
        sum / plan.most
    }
}
