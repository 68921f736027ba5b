//! Memory that searches use again and again.

use std::sync::{Mutex, PoisonError};

use crate::{
    Index,
    index::{column::Column, threads::NONE},
    search::plan::Plan,
};

/// What the first pass sees of a unit by itself.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Glimpse {
    /// A bit for each term of the query that occurs.
    pub(super) terms: u64,
    /// BM25.
    pub(super) turn: f32,
    /// The rarity of these terms together.
    pub(super) covered: f32,
}

/// What one search writes on. Between searches every value that a search reads is zero.
#[derive(Debug, Default)]
pub(super) struct Scratch {
    /// By slot: what the first pass sees of the unit by itself.
    pub(super) glimpses: Column<Glimpse>,
    /// The slots of `glimpses` that are not zero.
    pub(super) touched: Vec<u32>,
    /// By slot: how the first pass ranks the unit; the higher the better.
    pub(super) nearby: Column<u32>,
    /// The slots of `nearby` that are not zero.
    pub(super) near: Vec<u32>,
    /// By session: how often the term at hand occurs.
    pub(super) session_counts: Column<u32>,
    /// The sessions of `session_counts` that are not zero.
    pub(super) counted_sessions: Vec<u32>,
    /// The most that BM25 of a session could be.
    pub(super) most_session: f32,
    /// By session: BM25 of the session.
    pub(super) sessions: Column<f32>,
    /// The sessions of `sessions` that are not zero.
    pub(super) touched_sessions: Vec<u32>,
    /// By slot: its row among `counts`, plus one.
    pub(super) rows: Column<u32>,
    /// The slots that have a row, in its order.
    pub(super) rowed: Vec<u32>,
    /// Row by row: how often each term of the query occurs.
    pub(super) counts: Vec<u8>,
    /// The sessions of which all units are looked at.
    pub(super) best_sessions: Vec<u32>,
    /// By session: which of the named speakers take part, plus one.
    pub(super) participations: Column<f32>,
    /// The sessions of `participations` that are not zero.
    pub(super) asked_sessions: Vec<u32>,
    /// The similarity of a unit whose vector was not given.
    pub(super) least_similar: f32,
    /// By slot: similarity by vector, above zero.
    pub(super) dense: Column<f32>,
    /// The slots of `dense` that are not zero.
    pub(super) dense_slots: Vec<u32>,
    /// What the first pass found.
    pub(super) candidates: Vec<u32>,
    /// Slots by rank while the best are chosen.
    pub(super) ranked: Vec<(u32, u32)>,
}

impl Scratch {
    /// BM25 of a session as a share of the most.
    #[inline]
    pub(super) fn session(&self, number: u32) -> f32 {
        let score = self.sessions.at(number);
        if score > 0.0 {
            score / self.most_session
        } else {
            0.0
        }
    }

    /// Which of the named speakers take part in a session, as a share of them.
    #[inline]
    pub(super) fn participation(&mut self, index: &Index, plan: &Plan<'_>, session: u32) -> f32 {
        if plan.named.is_empty() {
            return 0.0;
        }
        let known = self.participations.at(session);
        if known > 0.0 {
            return known - 1.0;
        }
        let share = plan.participation(index, session);
        self.participations.set(session, share + 1.0);
        self.asked_sessions.push(session);
        share
    }

    /// How similar a unit and its neighbours are by vector.
    #[inline]
    pub(super) fn similarity(&self, index: &Index, slot: u32) -> f32 {
        if self.dense_slots.is_empty() {
            return 0.0;
        }
        let own = self.own_similarity(slot);
        let place = index.threads.place(slot);
        let beside = |slot| match slot {
            NONE => own,
            slot => self.own_similarity(slot),
        };
        (beside(place.prev) + 2.0 * own + beside(place.next)) / 4.0
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

    /// How often each term of the query occurs in a unit; empty without a row.
    #[inline]
    pub(super) fn counts_of(&self, slot: u32, terms: usize) -> &[u8] {
        let Some(row) = self.rows.at(slot).checked_sub(1) else {
            return &[];
        };
        let start = row as usize * terms;
        self.counts.get(start..start + terms).unwrap_or_default()
    }

    fn clear(&mut self) {
        zero(&mut self.glimpses, &mut self.touched);
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

/// Sets the listed places back to zero, and forgets the list.
pub(super) fn zero<T: Copy + Default>(column: &mut Column<T>, places: &mut Vec<u32>) {
    for place in places.drain(..) {
        if let Some(value) = column.at_mut(place) {
            *value = T::default();
        }
    }
}

/// Scratches that are not in use: as many as there have been searches at the same time.
#[derive(Debug, Default)]
pub(crate) struct ScratchPool(Mutex<Vec<Scratch>>);

impl ScratchPool {
    pub(super) fn take(&self) -> Scratch {
        let mut pool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pool.pop().unwrap_or_default()
    }

    /// A search that panics does not give its scratch back, so one in the pool is always clean.
    pub(super) fn give_back(&self, mut scratch: Scratch) {
        scratch.clear();
        let mut pool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        pool.push(scratch);
    }
}
