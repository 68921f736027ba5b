//! Reusable memory for searches.

use std::sync::{Mutex, PoisonError};

use dormouse_contracts::invariant;

use crate::index::{
    column::Column,
    threads::{NONE, UnitPosition},
};

/// The first-pass score of a unit, without its neighbours.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct FirstPassScore {
    /// A bit for each term of the query that occurs in the unit.
    pub(super) terms: u64,
    /// The BM25 score.
    pub(super) turn: f32,
    /// The sum of the inverse document frequencies of these terms.
    pub(super) covered: f32,
}

/// The working memory of one search. Between searches, every value that a search reads is zero.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// By slot: the first-pass score.
    pub(super) first_pass: Column<FirstPassScore>,
    /// The slots whose `first_pass` is not zero.
    pub(super) touched: Vec<u32>,
    /// By slot: the rank after the first pass, higher is better.
    pub(super) nearby: Column<u32>,
    /// The slots whose `nearby` is not zero.
    pub(super) near: Vec<u32>,
    /// By session: the count of the current term.
    pub(super) session_counts: Column<u32>,
    /// The sessions whose `session_counts` is not zero.
    pub(super) counted_sessions: Vec<u32>,
    /// The highest possible BM25 score of a session.
    pub(super) most_session: f32,
    /// By session: the BM25 score.
    pub(super) sessions: Column<f32>,
    /// The sessions whose `sessions` is not zero.
    pub(super) touched_sessions: Vec<u32>,
    /// By slot: the index of its row in `counts`, plus one.
    pub(super) rows: Column<u32>,
    /// The slots with a row, in the order of rows.
    pub(super) rowed: Vec<u32>,
    /// Row by row: the count of each term of the query.
    pub(super) counts: Vec<u8>,
    /// The sessions of which all units are candidates.
    pub(super) best_sessions: Vec<u32>,
    /// By session: the share of the named speakers who take part, plus one.
    pub(super) participations: Column<f32>,
    /// The sessions whose `participations` is not zero.
    pub(super) asked_sessions: Vec<u32>,
    /// The similarity of a unit without a vector score.
    pub(super) least_similar: f32,
    /// By slot: the vector similarity, above zero.
    pub(super) dense: Column<f32>,
    /// The slots whose `dense` is not zero.
    pub(super) dense_slots: Vec<u32>,
    /// The slots to be scored in full.
    pub(super) candidates: Vec<u32>,
    /// Ranks and slots while the best are chosen.
    pub(super) ranked: Vec<(u32, u32)>,
}

impl Scratch {
    /// The BM25 score of a session as a share of the highest possible one.
    #[inline]
    pub(super) fn session(&self, number: u32) -> f32 {
        let score = self.sessions.at(number);
        if score > 0.0 {
            // Words that stand for others add to the score and not to what is possible.
            (score / self.most_session.max(f32::MIN_POSITIVE)).min(1.0)
        } else {
            0.0
        }
    }

    /// The vector similarity of a unit and its neighbours.
    #[inline]
    pub(super) fn similarity(&self, slot: u32, place: UnitPosition) -> f32 {
        if self.dense_slots.is_empty() {
            return 0.0;
        }
        let own = self.own_similarity(slot);
        // At the edge of a session the unit replaces the missing neighbour, so that the edge is not a disadvantage.
        let neighbour = |slot| match slot {
            NONE => own,
            slot => self.own_similarity(slot),
        };
        // Measured: these weights find more than the cosine alone or the greatest of the three (`docs/recall.md`).
        (neighbour(place.prev) + 2.0 * own + neighbour(place.next)) / 4.0
    }

    #[inline]
    fn own_similarity(&self, slot: u32) -> f32 {
        let known = self.dense.at(slot);
        if known > 0.0 {
            known
        } else {
            self.least_similar
        }
    }

    /// The count of each term of the query in a unit; empty without a row.
    #[inline]
    pub(super) fn counts_of(&self, slot: u32, terms: usize) -> &[u8] {
        let Some(row) = self.rows.at(slot).checked_sub(1) else {
            return &[];
        };
        let start = row as usize * terms;
        let counts = self.counts.get(start..start + terms);
        invariant!(counts, "every listed unit has a row of counts")
    }

    fn clear(&mut self) {
        zero(&mut self.first_pass, &mut self.touched);
        zero(&mut self.nearby, &mut self.near);
        zero(&mut self.sessions, &mut self.touched_sessions);
        zero(&mut self.rows, &mut self.rowed);
        zero(&mut self.dense, &mut self.dense_slots);
        zero(&mut self.participations, &mut self.asked_sessions);
        self.best_sessions.clear();
        self.most_session = 0.0;
        self.least_similar = 0.0;
        self.counts.clear();
        self.candidates.clear();
        self.ranked.clear();
    }
}

/// Resets the listed entries to zero, and clears the list.
pub(super) fn zero<T: Copy + Default>(column: &mut Column<T>, places: &mut Vec<u32>) {
    for place in places.drain(..) {
        if let Some(value) = column.at_mut(place) {
            *value = T::default();
        }
    }
}

/// Idle working memories; as many as there were concurrent searches.
#[derive(Debug, Default)]
pub(crate) struct ScratchPool(Mutex<Vec<Scratch>>);

/// Working memories belong to the searches of one index.
impl Clone for ScratchPool {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl ScratchPool {
    pub(super) fn take(&self) -> Scratch {
        let mut pool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pool.pop().unwrap_or_default()
    }

    /// Clears the scratch and returns it to the pool. A search that panics does not return its scratch, so everything
    /// in the pool is clean.
    pub(super) fn give_back(&self, mut scratch: Scratch) {
        scratch.clear();
        let mut pool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pool.push(scratch);
    }
}
