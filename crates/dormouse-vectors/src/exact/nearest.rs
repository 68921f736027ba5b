//! Keeps the best of many candidates.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

use dormouse_contracts::Hit;

use super::code::ScoreEstimate;
use crate::rank::rank;

/// How many candidates beyond the limit are kept before those that cannot be among the nearest are dropped.
const SLACK: usize = 4_096;

/// The position of a point.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct PointPosition {
    pub(super) block: u32,
    pub(super) row: u32,
}

/// The points that may be among the nearest, after the first pass.
///
/// An estimate and its error give a lower and an upper bound of each score. Once `limit` points have a lower bound of
/// at least some value, a point with a smaller upper bound cannot be among the nearest.
pub(super) struct Candidates {
    limit: usize,
    /// The `limit` largest lower bounds so far, smallest first.
    at_least: BinaryHeap<Reverse<OrderedScore>>,
    /// The smallest of these bounds, once there are `limit`. A new candidate needs at least this upper bound.
    bar: f32,
    found: Vec<(PointPosition, f32)>,
}

impl Candidates {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            at_least: BinaryHeap::with_capacity(limit.saturating_add(1)),
            bar: f32::NEG_INFINITY,
            found: Vec::new(),
        }
    }

    #[inline]
    pub(super) fn offer(&mut self, position: PointPosition, estimate: ScoreEstimate) {
        let at_most = estimate.score + estimate.error;
        // Almost every point fails this test, so the cheap part is inlined and the rest is a call.
        if at_most >= self.bar {
            self.keep(position, estimate, at_most);
        }
    }

    fn keep(&mut self, position: PointPosition, estimate: ScoreEstimate, at_most: f32) {
        self.found.push((position, at_most));
        self.raise(estimate.score - estimate.error);
        // This bounds the memory. Dropping candidates takes linear time, but it happens only after as many have been
        // added again.
        if self.found.len() > self.limit.saturating_mul(2).saturating_add(SLACK) {
            self.drop_hopeless();
        }
    }

    fn raise(&mut self, at_least: f32) {
        if self.at_least.len() < self.limit {
            self.at_least.push(Reverse(OrderedScore(at_least)));
        } else if at_least > self.bar
            && let Some(mut lowest) = self.at_least.peek_mut()
        {
            *lowest = Reverse(OrderedScore(at_least));
        }
        if self.at_least.len() >= self.limit {
            // `limit` points certainly score at least this much. The heap is empty only if `limit` is zero: then no
            // point passes.
            let lowest = self.at_least.peek();
            self.bar = lowest.map_or(f32::INFINITY, |Reverse(lowest)| lowest.0);
        }
    }

    fn drop_hopeless(&mut self) {
        let bar = self.bar;
        // Ties are kept, because a point with an equal upper bound may still be among the nearest.
        self.found.retain(|(_, at_most)| *at_most >= bar);
    }

    /// Each candidate with its upper bound, highest bound first.
    pub(super) fn best_first(mut self) -> Vec<(PointPosition, f32)> {
        self.drop_hopeless();
        self.found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        self.found
    }
}

/// The nearest points so far.
pub(super) struct TopHits {
    limit: usize,
    worst_first: BinaryHeap<RankedHit>,
}

impl TopHits {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            worst_first: BinaryHeap::with_capacity(limit.saturating_add(1)),
        }
    }

    /// Whether a point with this upper bound, and every later one, can be skipped.
    pub(super) fn is_beyond(&self, at_most: f32) -> bool {
        self.worst_first.len() >= self.limit
            && self
                .worst_first
                .peek()
                .is_none_or(|worst| at_most < worst.0.score)
    }

    pub(super) fn best_first(self) -> Vec<Hit> {
        let sorted = self.worst_first.into_sorted_vec();
        sorted.into_iter().map(|RankedHit(hit)| hit).collect()
    }
}

impl Extend<Hit> for TopHits {
    fn extend<I: IntoIterator<Item = Hit>>(&mut self, hits: I) {
        for hit in hits {
            self.worst_first.push(RankedHit(hit));
            if self.worst_first.len() > self.limit {
                self.worst_first.pop();
            }
        }
    }
}

#[derive(Debug)]
struct RankedHit(Hit);

impl Ord for RankedHit {
    fn cmp(&self, other: &Self) -> Ordering {
        rank(&self.0, &other.0)
    }
}

impl PartialOrd for RankedHit {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for RankedHit {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for RankedHit {}

#[derive(Clone, Copy, Debug)]
struct OrderedScore(f32);

impl Ord for OrderedScore {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for OrderedScore {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for OrderedScore {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for OrderedScore {}
