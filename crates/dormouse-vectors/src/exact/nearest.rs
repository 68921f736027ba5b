//! Keeping the best while many pass by.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

use dormouse_contracts::Hit;

use super::code::Guess;
use crate::rank::rank;

/// Candidates that are kept beyond the limit before those that have fallen behind are dropped.
const SLACK: usize = 4_096;

/// Where a point is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Place {
    pub(super) block: u32,
    pub(super) row: u32,
}

/// The points that may be among the nearest, as far as the first pass can tell.
///
/// With a guess and its error each score is at least so much and at most so much. As soon as `limit` points are certain
/// to score at least so much, a point that scores at most less than that is out.
pub(super) struct Candidates {
    limit: usize,
    at_least: BinaryHeap<Reverse<Score>>,
    /// What a point must be able to reach.
    bar: f32,
    found: Vec<(Place, f32)>,
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
    pub(super) fn offer(&mut self, place: Place, guess: Guess) {
        let at_most = guess.score + guess.error;
        if at_most >= self.bar {
            self.keep(place, guess, at_most);
        }
    }

    fn keep(&mut self, place: Place, guess: Guess, at_most: f32) {
        self.found.push((place, at_most));
        self.raise(guess.score - guess.error);
        if self.found.len() > self.limit.saturating_mul(2).saturating_add(SLACK) {
            self.drop_hopeless();
        }
    }

    fn raise(&mut self, at_least: f32) {
        if self.at_least.len() < self.limit {
            self.at_least.push(Reverse(Score(at_least)));
        } else if at_least > self.bar
            && let Some(mut lowest) = self.at_least.peek_mut()
        {
            *lowest = Reverse(Score(at_least));
        }
        if self.at_least.len() >= self.limit {
            let lowest = self.at_least.peek();
            self.bar = lowest.map_or(f32::INFINITY, |Reverse(lowest)| lowest.0);
        }
    }

    fn drop_hopeless(&mut self) {
        let bar = self.bar;
        self.found.retain(|(_, at_most)| *at_most >= bar);
    }

    /// Each with what it scores at most, the most promising first.
    pub(super) fn best_first(mut self) -> Vec<(Place, f32)> {
        self.drop_hopeless();
        self.found.sort_unstable_by(|a, b| b.1.total_cmp(&a.1));
        self.found
    }
}

/// The nearest points so far.
pub(super) struct Nearest {
    limit: usize,
    worst_first: BinaryHeap<Ranked>,
}

impl Nearest {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            worst_first: BinaryHeap::with_capacity(limit.saturating_add(1)),
        }
    }

    /// Whether a point that scores at most so much, and all that score less, can be left out.
    pub(super) fn is_beyond(&self, at_most: f32) -> bool {
        self.worst_first.len() >= self.limit
            && self
                .worst_first
                .peek()
                .is_none_or(|worst| at_most < worst.0.score)
    }

    pub(super) fn best_first(self) -> Vec<Hit> {
        let sorted = self.worst_first.into_sorted_vec();
        sorted.into_iter().map(|Ranked(hit)| hit).collect()
    }
}

impl Extend<Hit> for Nearest {
    fn extend<I: IntoIterator<Item = Hit>>(&mut self, hits: I) {
        for hit in hits {
            self.worst_first.push(Ranked(hit));
            if self.worst_first.len() > self.limit {
                self.worst_first.pop();
            }
        }
    }
}

#[derive(Debug)]
struct Ranked(Hit);

impl Ord for Ranked {
    fn cmp(&self, other: &Self) -> Ordering {
        rank(&self.0, &other.0)
    }
}

impl PartialOrd for Ranked {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Ranked {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Ranked {}

#[derive(Clone, Copy, Debug)]
struct Score(f32);

impl Ord for Score {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for Score {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Score {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Score {}
