//! The cheap first pass: over the postings, to the units worth a closer look.

use crate::{
    Feature, Index, Query,
    index::{lexicon::Posting, threads::NONE},
    search::{
        bm25::{inverse_frequency, length_norm, saturated},
        features::RADIUS,
        plan::Plan,
        scratch::{Scratch, zero},
    },
};

/// Fills in turns, sessions, dense similarities, and the candidates.
pub(super) fn find_candidates(
    index: &Index,
    plan: &Plan,
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
    plan: &Plan,
    query: &Query<'_>,
    limit: usize,
    scratch: &mut Scratch,
) {
    read_turns(index, plan, usize::MAX, scratch);
    scratch.nearby.reach(index.slot_bound());
    for place in 0..scratch.touched.len() {
        let slot = scratch.touched.get(place).copied().unwrap_or(NONE);
        // All that matters is the order, and floats above zero are in the order of their bits.
        scratch.nearby.set(slot, scratch.turn(slot).to_bits());
        scratch.near.push(slot);
    }
    choose(index, query, limit, scratch);
}

fn admits(index: &Index, query: &Query<'_>, slot: u32) -> bool {
    query.admit.is_none_or(|admit| admit(index.id(slot)))
}

fn read_postings(index: &Index, plan: &Plan, budget: usize, scratch: &mut Scratch) {
    let bound = index.threads.session_bound();
    scratch.session_counts.reach(bound);
    scratch.sessions.reach(bound);
    for (number, _) in read_turns(index, plan, budget, scratch) {
        add_sessions(index, index.lexicon.postings(number), scratch);
    }
}

/// Reads the postings of the terms that fit the budget, and tells these terms.
fn read_turns(index: &Index, plan: &Plan, budget: usize, scratch: &mut Scratch) -> Vec<(u32, f32)> {
    scratch.turns.reach(index.slot_bound());
    let terms = within_budget(index, plan, budget);
    for &(number, idf) in &terms {
        add_turns(index, plan, index.lexicon.postings(number), idf, scratch);
    }
    terms
}

/// Number and rarity of the terms to read, in order of the query: the rarest that fit the budget.
fn within_budget(index: &Index, plan: &Plan, mut budget: usize) -> Vec<(u32, f32)> {
    let frequency = |place: &usize| {
        let number = plan.terms.get(*place).and_then(|term| term.number);
        number.map_or(0, |number| index.lexicon.frequency(number))
    };
    let mut places: Vec<usize> = (0..plan.terms.len()).collect();
    places.sort_by_key(frequency);
    let mut chosen: Vec<usize> = Vec::with_capacity(places.len());
    for place in places {
        let frequency = frequency(&place);
        if frequency > budget && !chosen.is_empty() {
            break;
        }
        budget = budget.saturating_sub(frequency);
        if frequency > 0 {
            chosen.push(place);
        }
    }
    chosen.sort_unstable();
    let terms = chosen.iter().filter_map(|place| plan.terms.get(*place));
    terms
        .filter_map(|term| Some((term.number?, term.idf)))
        .collect()
}

fn add_turns(index: &Index, plan: &Plan, postings: &[Posting], idf: f32, scratch: &mut Scratch) {
    for posting in postings {
        let slot = posting.slot();
        let length = index.threads.place(slot).terms as f32;
        let gain = idf * saturated(posting.count() as f32, length_norm(length, plan.mean_turn));
        if let Some(turn) = scratch.turns.at_mut(slot) {
            if *turn == 0.0 {
                scratch.touched.push(slot);
            }
            *turn += gain;
        }
    }
}

/// Adds what a term makes for each session; how rare it is, is counted in sessions here.
fn add_sessions(index: &Index, postings: &[Posting], scratch: &mut Scratch) {
    for posting in postings {
        let session = index.threads.place(posting.slot()).session;
        if let Some(counted) = scratch.session_counts.at_mut(session) {
            if *counted == 0 {
                scratch.counted_sessions.push(session);
            }
            *counted += posting.count();
        }
    }
    let sessions = index.threads.sessions();
    let idf = inverse_frequency(scratch.counted_sessions.len(), sessions);
    let mean = index.terms as f32 / sessions.max(1) as f32;
    for &session in &scratch.counted_sessions {
        let count = scratch.session_counts.at(session) as f32;
        let terms = index.threads.session(session).terms as f32;
        if let Some(score) = scratch.sessions.at_mut(session) {
            if *score == 0.0 {
                scratch.touched_sessions.push(session);
            }
            *score += idf * saturated(count, length_norm(terms, mean));
        }
    }
    zero(&mut scratch.session_counts, &mut scratch.counted_sessions);
}

/// Scales the similarities from the least to the most similar hit.
fn read_dense(index: &Index, query: &Query<'_>, scratch: &mut Scratch) {
    let scores = || {
        query
            .dense
            .iter()
            .map(|hit| hit.score)
            .filter(|s| s.is_finite())
    };
    let (Some(least), Some(most)) = (scores().reduce(f32::min), scores().reduce(f32::max)) else {
        return;
    };
    scratch.dense.reach(index.slot_bound());
    for hit in query.dense.iter().filter(|hit| hit.score.is_finite()) {
        let Some(slot) = index.slot(hit.id) else {
            continue;
        };
        let scaled = if most > least {
            (hit.score - least) / (most - least)
        } else {
            1.0
        };
        // The least similar one was still found: not quite zero.
        scratch.dense.set(slot, scaled.max(f32::EPSILON));
        scratch.dense_slots.push(slot);
    }
}

/// How many turns have their neighbours looked at for each candidate that is wanted.
const SPREAD_PER_CANDIDATE: usize = 2;

/// Ranks the best turns and their neighbours, and what is similar by vector, roughly as the score will.
///
/// A unit without one of the best turns in its window is no candidate, however many middling ones it has.
fn spread(index: &Index, plan: &Plan, most: usize, scratch: &mut Scratch) {
    scratch.nearby.reach(index.slot_bound());
    pick_best_turns(index, most.saturating_mul(SPREAD_PER_CANDIDATE), scratch);
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
    for place in 0..scratch.dense_slots.len() {
        let slot = scratch.dense_slots.get(place).copied().unwrap_or(NONE);
        mark(scratch, slot);
    }
    for place in 0..scratch.near.len() {
        let slot = scratch.near.get(place).copied().unwrap_or(NONE);
        let estimate = estimate(index, plan, scratch, slot);
        scratch.nearby.set(slot, estimate.to_bits());
    }
}

/// Puts the `most` highest turns among those touched into `ranked`.
fn pick_best_turns(index: &Index, most: usize, scratch: &mut Scratch) {
    let turns = &scratch.turns;
    let ranked = scratch
        .touched
        .iter()
        .map(|slot| (turns.at(*slot).to_bits(), *slot));
    scratch.ranked.extend(ranked);
    if scratch.ranked.len() > most {
        cut(index, &mut scratch.ranked, most);
    }
}

/// About what the score will be. Positive, so that it is in the order of its bits.
fn estimate(index: &Index, plan: &Plan, scratch: &Scratch, slot: u32) -> f32 {
    let weight = |feature| index.config.weights.weight(feature).max(0.0);
    let place = index.threads.place(slot);
    let mut around = 0.0_f32;
    let (mut before, mut after) = (place.prev, place.next);
    for reach in NEIGHBOUR_REACH {
        around += reach * (scratch.turn(before) + scratch.turn(after));
        before = index.threads.place(before).prev;
        after = index.threads.place(after).next;
    }
    let own = weight(Feature::Turn) + weight(Feature::RareTurn) + weight(Feature::Reach);
    let words = own * scratch.turn(slot)
        + weight(Feature::Reach) * around
        + weight(Feature::Session) * scratch.sessions.at(place.session);
    let card = index.cards.at(slot);
    let speaks = f32::from(u8::from(plan.is_named(card.speaker)));
    let score = words / plan.most
        + weight(Feature::Speaker) * speaks
        + weight(Feature::Date) * plan.closeness(card.at)
        + weight(Feature::Dense) * scratch.dense.at(slot);
    score.max(f32::MIN_POSITIVE)
}

/// What a neighbour's turn is worth, one, two and three turns away.
const NEIGHBOUR_REACH: [f32; RADIUS] = [0.5, 0.3, 0.2];

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
    let ranked = &mut scratch.ranked;
    let mut least = 0;
    for &slot in &scratch.near {
        let rank = scratch.nearby.at(slot);
        if rank < least || !admits(index, query, slot) {
            continue;
        }
        ranked.push((rank, slot));
        if ranked.len() >= most.saturating_mul(2) {
            least = cut(index, ranked, most);
        }
    }
    if ranked.len() > most {
        cut(index, ranked, most);
    }
    scratch
        .candidates
        .extend(ranked.iter().map(|(_, slot)| *slot));
}

/// Keeps the `most` best, and tells the least rank among them.
fn cut(index: &Index, ranked: &mut Vec<(u32, u32)>, most: usize) -> u32 {
    let Some(last) = most.checked_sub(1) else {
        ranked.clear();
        return u32::MAX;
    };
    // Equal ranks in an order that does not depend on when a unit came.
    let (_, (rank, _), _) = ranked.select_nth_unstable_by(last, |a, b| {
        let (x, y) = (index.cards.at(a.1), index.cards.at(b.1));
        (b.0, y.at, x.id).cmp(&(a.0, x.at, y.id))
    });
    let rank = *rank;
    ranked.truncate(most);
    rank
}
