//! Keeps the threshold of the best scores.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

/// The best scores so far, at most `limit`.
pub(super) struct BestScores {
    limit: usize,
    /// Lowest first.
    scores: BinaryHeap<Reverse<OrderedScore>>,
}

impl BestScores {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            scores: BinaryHeap::new(),
        }
    }

    /// Whether `limit` scores are known, all above `score`.
    pub(super) fn are_above(&self, score: f32) -> bool {
        let lowest = self
            .scores
            .peek()
            .map(|Reverse(OrderedScore(lowest))| *lowest);
        self.scores.len() >= self.limit && lowest.is_some_and(|lowest| lowest > score)
    }

    pub(super) fn note(&mut self, score: f32) {
        // The lowest score is on top of the heap, so `pop` removes it.
        self.scores.push(Reverse(OrderedScore(score)));
        if self.scores.len() > self.limit {
            self.scores.pop();
        }
    }
}

/// A score with a total order.
#[derive(Clone, Copy, PartialEq)]
struct OrderedScore(f32);

impl Eq for OrderedScore {}

impl PartialOrd for OrderedScore {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for OrderedScore {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
