//! From what the postings say to the units worth a closer look.

use crate::{
    Index, Query,
    index::threads::NONE,
    search::{
        estimate,
        features::RADIUS,
        plan::Plan,
        reading::{read_postings, read_turns},
        scratch::Scratch,
        sessions,
    },
};

/// Fills in turns, sessions, dense similarities, and the candidates.
pub(super) fn find_candidates(
    index: &Index,
    plan: &Plan<'_>,
    query: &Query<'_>,
    limit: usize,
    scratch: &mut Scratch,
) {
    let is_small = index.len() <= index.config.exhaustive_up_to;
    let budget = if is_small {
        usize::MAX
    } else {
        index.config.posting_budget
    };
    read_postings(index, plan, budget, scratch);
    read_dense(index, query, scratch);
    sessions::pick_best(index, plan, scratch);
    if is_small {
        let admitted = index.occupied().filter(|slot| admits(index, query, *slot));
        scratch.candidates.extend(admitted);
        return;
    }
    let most = index.config.candidates.max(limit);
    spread(index, plan, most, scratch);
    choose(index, query, most, scratch);
}

/// Fills in turns and the candidates of plain BM25.
pub(super) fn find_plain(
    index: &Index,
    plan: &Plan<'_>,
    query: &Query<'_>,
    limit: usize,
    scratch: &mut Scratch,
) {
    read_turns(index, plan, usize::MAX, scratch);
    scratch.nearby.reach(index.slot_bound());
    for place in 0..scratch.touched.len() {
        let slot = scratch.touched.get(place).copied().unwrap_or(NONE);
        scratch
            .nearby
            .set(slot, rank_of(scratch.glimpses.at(slot).turn));
        scratch.near.push(slot);
    }
    choose(index, query, limit, scratch);
}

fn admits(index: &Index, query: &Query<'_>, slot: u32) -> bool {
    query.admit.is_none_or(|admit| admit(index.id(slot)))
}

fn read_dense(index: &Index, query: &Query<'_>, scratch: &mut Scratch) {
    scratch.dense.reach(index.slot_bound());
    let mut least = f32::INFINITY;
    for hit in query.dense.iter().filter(|hit| hit.score.is_finite()) {
        let Some(slot) = index.slot(hit.id) else {
            continue;
        };
        // Above zero, so that it is known to have been given.
        let score = hit.score.clamp(f32::MIN_POSITIVE, 1.0);
        least = least.min(score);
        if scratch.dense.at(slot) == 0.0 {
            scratch.dense_slots.push(slot);
        }
        scratch.dense.set(slot, score.max(scratch.dense.at(slot)));
    }
    if least.is_finite() {
        scratch.least_similar = least;
    }
}

/// How many turns have their neighbours looked at for each candidate that is wanted.
const SPREAD_PER_CANDIDATE: usize = 2;

/// Ranks the best turns and their neighbours, and what is similar by vector, roughly as the score will.
///
/// A unit without one of the best turns in its window is no candidate, however many middling ones it has.
fn spread(index: &Index, plan: &Plan<'_>, most: usize, scratch: &mut Scratch) {
    scratch.nearby.reach(index.slot_bound());
    pick_best_turns(
        index,
        plan,
        most.saturating_mul(SPREAD_PER_CANDIDATE),
        scratch,
    );
    for place in 0..scratch.ranked.len() {
        let Some(&(_, slot)) = scratch.ranked.get(place) else {
            continue;
        };
        let around = index.threads.backwards(slot).take(RADIUS + 1);
        for slot in around.chain(index.threads.forwards(slot).skip(1).take(RADIUS)) {
            mark(scratch, slot);
        }
    }
    scratch.ranked.clear();
    for session in 0..scratch.best_sessions.len() {
        let session = scratch.best_sessions.get(session).copied();
        let first = session.map_or(NONE, |session| index.threads.session(session).first);
        for slot in index.threads.forwards(first).take(sessions::MOST_UNITS) {
            mark(scratch, slot);
        }
    }
    for place in 0..scratch.dense_slots.len() {
        let slot = scratch.dense_slots.get(place).copied().unwrap_or(NONE);
        mark(scratch, slot);
    }
    for place in 0..scratch.near.len() {
        let slot = scratch.near.get(place).copied().unwrap_or(NONE);
        let estimate = estimate::of_unit(index, plan, scratch, slot);
        scratch.nearby.set(slot, rank_of(estimate));
    }
}

/// Puts the `most` units that do best by themselves among those touched into `ranked`.
fn pick_best_turns(index: &Index, plan: &Plan<'_>, most: usize, scratch: &mut Scratch) {
    let mut best = Best::new(std::mem::take(&mut scratch.ranked), most);
    let touched = std::mem::take(&mut scratch.touched);
    for &slot in &touched {
        let rank = rank_of(estimate::by_itself(index, plan, scratch, slot));
        if best.takes(rank) {
            best.push(index, rank, slot);
        }
    }
    scratch.touched = touched;
    scratch.ranked = best.finish(index);
}

/// A number above zero in the order of the scores.
fn rank_of(score: f32) -> u32 {
    let bits = score.to_bits();
    let rank = if score.is_sign_negative() {
        !bits
    } else {
        bits | 1 << 31
    };
    rank.max(1)
}

/// Puts a slot on the list of those to be looked at.
#[inline]
fn mark(scratch: &mut Scratch, slot: u32) {
    if let Some(rank) = scratch.nearby.at_mut(slot)
        && *rank == 0
    {
        *rank = 1;
        scratch.near.push(slot);
    }
}

/// Puts the `most` best of the slots in `near` that are admitted into the candidates.
fn choose(index: &Index, query: &Query<'_>, most: usize, scratch: &mut Scratch) {
    let mut best = Best::new(std::mem::take(&mut scratch.ranked), most);
    for &slot in &scratch.near {
        let rank = scratch.nearby.at(slot);
        if best.takes(rank) && admits(index, query, slot) {
            best.push(index, rank, slot);
        }
    }
    scratch.ranked = best.finish(index);
    let candidates = scratch.ranked.iter().map(|(_, slot)| *slot);
    scratch.candidates.extend(candidates);
}

/// The best slots of those seen so far, and up to as many that will turn out not to be.
struct Best {
    ranked: Vec<(u32, u32)>,
    most: usize,
    /// A lower rank is not among the best.
    least: u32,
}

impl Best {
    fn new(ranked: Vec<(u32, u32)>, most: usize) -> Self {
        Self {
            ranked,
            most,
            least: 0,
        }
    }

    /// Whether a slot of this rank may be among the best.
    #[inline]
    fn takes(&self, rank: u32) -> bool {
        rank >= self.least
    }

    fn push(&mut self, index: &Index, rank: u32, slot: u32) {
        self.ranked.push((rank, slot));
        if self.ranked.len() >= self.most.saturating_mul(2) {
            self.cut(index);
        }
    }

    fn finish(mut self, index: &Index) -> Vec<(u32, u32)> {
        self.cut(index);
        self.ranked
    }

    fn cut(&mut self, index: &Index) {
        if self.ranked.len() <= self.most {
            return;
        }
        let Some(last) = self.most.checked_sub(1) else {
            return self.ranked.clear();
        };
        // Equal ranks in an order that does not depend on when a unit came.
        let (_, (rank, _), _) = self.ranked.select_nth_unstable_by(last, |a, b| {
            b.0.cmp(&a.0).then_with(|| {
                let at = |slot| index.threads.place(slot).at;
                let newer = at(b.1).cmp(&at(a.1));
                newer.then_with(|| index.id(a.1).cmp(&index.id(b.1)))
            })
        });
        self.least = *rank;
        self.ranked.truncate(self.most);
    }
}
