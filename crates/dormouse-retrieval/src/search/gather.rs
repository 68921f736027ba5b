//! Chooses the candidates that are scored in full.

use crate::{
    Index, SearchQuery,
    index::threads::NONE,
    search::{
        estimate,
        features::RADIUS,
        plan::QueryPlan,
        reading::{read_postings, read_turns},
        scratch::Scratch,
        sessions,
    },
};

/// Computes first-pass scores, sessions, vector similarities and candidates.
pub(super) fn find_candidates(
    index: &Index,
    plan: &QueryPlan<'_>,
    query: &SearchQuery<'_>,
    limit: usize,
    scratch: &mut Scratch,
) {
    // A small index skips all approximations, so its answers are exact.
    let is_small = index.passages <= index.config.exhaustive_up_to;
    let budget = if is_small {
        usize::MAX
    } else {
        index.config.posting_budget
    };
    read_postings(index, plan, budget, scratch);
    read_dense(index, query, scratch);
    // After `read_postings` and `read_dense`: the best sessions are ranked by their results.
    sessions::pick_best(index, plan, scratch);
    if is_small {
        let admitted = index.occupied().filter(|slot| admits(index, query, *slot));
        scratch.candidates.extend(admitted);
        return;
    }
    // Candidates are passages; a long unit must not keep others out.
    let passages_of_a_unit = index.passages.div_ceil(index.len().max(1));
    let most = index.config.candidates.max(limit) * passages_of_a_unit;
    spread(index, plan, most, scratch);
    choose(index, query, most, scratch);
}

/// Computes first-pass scores and candidates for plain BM25.
pub(super) fn find_plain(
    index: &Index,
    plan: &QueryPlan<'_>,
    query: &SearchQuery<'_>,
    limit: usize,
    scratch: &mut Scratch,
) {
    read_turns(index, plan, usize::MAX, scratch);
    scratch.nearby.reach(index.slot_bound());
    for place in 0..scratch.touched.len() {
        let slot = scratch.touched.get(place).copied().unwrap_or(NONE);
        scratch
            .nearby
            .set(slot, rank_of(scratch.first_pass.at(slot).turn));
        scratch.near.push(slot);
    }
    choose(index, query, limit, scratch);
}

fn admits(index: &Index, query: &SearchQuery<'_>, slot: u32) -> bool {
    query.admit.is_none_or(|admit| admit(index.id(slot)))
}

fn read_dense(index: &Index, query: &SearchQuery<'_>, scratch: &mut Scratch) {
    scratch.dense.reach(index.slot_bound());
    let mut least = f32::INFINITY;
    for hit in query.dense.iter().filter(|hit| hit.score.is_finite()) {
        // Zero means "not given" in this column, so a given score must be positive.
        let score = hit.score.clamp(f32::MIN_POSITIVE, 1.0);
        if index.contains(hit.id) {
            least = least.min(score);
        }
        // The vector is one of the whole text.
        for slot in index.slots_of(hit.id) {
            if scratch.dense.at(slot) == 0.0 {
                scratch.dense_slots.push(slot);
            }
            // A hit may be given twice; the better score counts.
            scratch.dense.set(slot, score.max(scratch.dense.at(slot)));
        }
    }
    // The hits are the nearest units, so a unit without a score is at most as similar as the worst of them.
    if least.is_finite() {
        scratch.least_similar = least;
    }
}

/// How many turns are expanded to their neighbours for each requested candidate.
const SPREAD_PER_CANDIDATE: usize = 2;

/// Estimates the scores of the best turns, their neighbours, the best sessions and the vector hits.
///
/// Many mediocre turns in the window of a unit do not make the unit a candidate; one of the best turns does.
fn spread(index: &Index, plan: &QueryPlan<'_>, most: usize, scratch: &mut Scratch) {
    scratch.nearby.reach(index.slot_bound());
    pick_best_turns(
        index,
        plan,
        most.saturating_mul(SPREAD_PER_CANDIDATE),
        scratch,
    );
    // Indexed loops: `mark` needs `scratch` mutably while its lists are read.
    for place in 0..scratch.ranked.len() {
        let Some(&(_, slot)) = scratch.ranked.get(place) else {
            continue;
        };
        // The whole window is marked, because a unit can match by its neighbours alone. `skip(1)`: both iterators start
        // with the unit itself.
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

/// Puts into `ranked` the `most` touched units with the highest [`estimate::by_itself`].
fn pick_best_turns(index: &Index, plan: &QueryPlan<'_>, most: usize, scratch: &mut Scratch) {
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

/// Maps a score to an integer above zero with the same order.
fn rank_of(score: f32) -> u32 {
    // IEEE 754: the bits of positive floats sort like integers, those of negative ones in reverse.
    let bits = score.to_bits();
    let rank = if score.is_sign_negative() {
        !bits
    } else {
        bits | 1 << 31
    };
    // 0 means "not listed" in the column `nearby`.
    rank.max(1)
}

/// Adds a slot to the list of units to be estimated, once.
#[inline]
fn mark(scratch: &mut Scratch, slot: u32) {
    if let Some(rank) = scratch.nearby.at_mut(slot)
        && *rank == 0
    {
        *rank = 1;
        scratch.near.push(slot);
    }
}

/// Puts the `most` best admitted slots of `near` into the candidates.
fn choose(index: &Index, query: &SearchQuery<'_>, most: usize, scratch: &mut Scratch) {
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

/// The best slots so far. The list grows to twice `most` slots before it is cut, so that cutting takes constant time
/// per slot.
struct Best {
    ranked: Vec<(u32, u32)>,
    most: usize,
    /// A slot with a lower rank is not among the best.
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

    /// Whether a slot with this rank may be among the best.
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
        // Ties are broken by time, id and passage, never by slot, which depends on the order of insertion.
        let (_, (rank, _), _) = self.ranked.select_nth_unstable_by(last, |a, b| {
            b.0.cmp(&a.0).then_with(|| {
                let at = |slot| index.threads.position(slot).at;
                let newer = at(b.1).cmp(&at(a.1));
                let place = |slot| {
                    let card = index.cards.at(slot);
                    (card.id, card.passage)
                };
                newer.then_with(|| place(a.1).cmp(&place(b.1)))
            })
        });
        self.least = *rank;
        self.ranked.truncate(self.most);
    }
}
