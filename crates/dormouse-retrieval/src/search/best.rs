//! The score that is just among the best.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

/// The best scores so far, as many as are asked for.
pub(super) struct BestScores {
    limit: usize,
    /// Lowest first.
    scores: BinaryHeap<Reverse<Score>>,
}

impl BestScores {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            scores: BinaryHeap::new(),
        }
    }

    /// Whether there are enough of them, all above `score`.
    pub(super) fn are_above(&self, score: f32) -> bool {
        let lowest = self.scores.peek().map(|Reverse(Score(lowest))| *lowest);
        self.scores.len() >= self.limit && lowest.is_some_and(|lowest| lowest > score)
    }

    pub(super) fn note(&mut self, score: f32) {
        self.scores.push(Reverse(Score(score)));
        if self.scores.len() > self.limit {
            self.scores.pop();
        }
    }
}

/// A score in its order.
#[derive(Clone, Copy, PartialEq)]
struct Score(f32);

impl Eq for Score {}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}
