//! The cheap first pass: over the postings, to the units worth a closer look.

use crate::{
    Feature, Index, Query,
    index::{lexicon::Posting, threads::NONE},
    search::{
        bm25::{inverse_frequency, length_norm, saturated},
        plan::Plan,
        scratch::{Scratch, zero},
    },
};

/// One in the fixed point of [`Scratch::nearby`].
const ONE: f32 = 65_536.0;

/// Fills in turns, sessions, dense similarities, and the candidates.
pub(super) fn find_candidates(
    index: &Index,
    plan: &Plan,
    query: &Query<'_>,
    limit: usize,
    scratch: &mut Scratch,
) {
    read_postings(index, plan, scratch);
    read_dense(index, query, scratch);
    if index.len() <= index.config.exhaustive_up_to {
        let admitted = index.occupied().filter(|slot| admits(index, query, *slot));
        scratch.candidates.extend(admitted);
        return;
    }
    spread(index, plan, scratch);
    let most = index.config.candidates.max(limit);
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
    read_postings(index, plan, scratch);
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

fn read_postings(index: &Index, plan: &Plan, scratch: &mut Scratch) {
    scratch.turns.reach(index.slot_bound());
    scratch.session_counts.reach(index.threads.session_bound());
    scratch.sessions.reach(index.threads.session_bound());
    for &place in &within_budget(index, plan) {
        let Some((number, idf)) = plan
            .terms
            .get(place)
            .and_then(|term| Some((term.number?, term.idf)))
        else {
            continue;
        };
        let postings = index.lexicon.postings(number);
        add_turns(index, plan, postings, idf, scratch);
        add_sessions(index, scratch);
    }
}

/// The places of the terms to read, in order of the query: the rarest that fit the budget.
fn within_budget(index: &Index, plan: &Plan) -> Vec<usize> {
    let mut places: Vec<(usize, usize)> = plan
        .terms
        .iter()
        .enumerate()
        .filter_map(|(place, term)| Some((index.lexicon.frequency(term.number?), place)))
        .collect();
    places.sort_unstable();
    let mut budget = index.config.posting_budget;
    let mut chosen = Vec::with_capacity(places.len());
    for (frequency, place) in places {
        if frequency > budget && !chosen.is_empty() {
            break;
        }
        budget = budget.saturating_sub(frequency);
        chosen.push(place);
    }
    chosen.sort_unstable();
    chosen
}

fn add_turns(index: &Index, plan: &Plan, postings: &[Posting], idf: f32, scratch: &mut Scratch) {
    let [mean, ..] = plan.mean_terms;
    for posting in postings {
        let (slot, count) = (posting.slot(), posting.count());
        let place = index.threads.place(slot);
        let gain = idf * saturated(count as f32, length_norm(place.terms as f32, mean));
        if let Some(turn) = scratch.turns.at_mut(slot) {
            if *turn == 0.0 {
                scratch.touched.push(slot);
            }
            *turn += gain;
        }
        if let Some(counted) = scratch.session_counts.at_mut(place.session) {
            if *counted == 0 {
                scratch.counted_sessions.push(place.session);
            }
            *counted += count;
        }
    }
}

/// Adds what the term just counted makes for each session, whose frequency is over sessions.
fn add_sessions(index: &Index, scratch: &mut Scratch) {
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

/// Adds up what each unit, its neighbours, its session and its vector say, roughly as the score will weigh them.
fn spread(index: &Index, plan: &Plan, scratch: &mut Scratch) {
    scratch.nearby.reach(index.slot_bound());
    let weights = &index.config.weights;
    let weight = |feature| weights.weight(feature).max(0.0);
    let scale = ONE / plan.most;
    let far = weight(Feature::Window3) * 0.5;
    let near = far + weight(Feature::Window1) * 0.7;
    let own = near + weight(Feature::Turn);
    for place in 0..scratch.touched.len() {
        let slot = scratch.touched.get(place).copied().unwrap_or(NONE);
        let turn = scratch.turn(slot) * scale;
        add_nearby(scratch, slot, turn * own);
        let (mut before, mut after) = (slot, slot);
        for factor in [near, far, far] {
            before = index.threads.place(before).prev;
            after = index.threads.place(after).next;
            add_nearby(scratch, before, turn * factor);
            add_nearby(scratch, after, turn * factor);
        }
    }
    for place in 0..scratch.dense_slots.len() {
        let slot = scratch.dense_slots.get(place).copied().unwrap_or(NONE);
        let similar = scratch.dense.at(slot) * weight(Feature::Dense) * ONE;
        add_nearby(scratch, slot, similar);
    }
    let (of_session, of_speaker) = (weight(Feature::Session), weight(Feature::Speaker));
    for place in 0..scratch.near.len() {
        let slot = scratch.near.get(place).copied().unwrap_or(NONE);
        let session = scratch.sessions.at(index.threads.place(slot).session) * scale;
        let speaks = f32::from(u8::from(plan.is_named(index.cards.at(slot).speaker))) * ONE;
        add_nearby(scratch, slot, session * of_session + speaks * of_speaker);
    }
}

#[inline]
fn add_nearby(scratch: &mut Scratch, slot: u32, gain: f32) {
    if let Some(sum) = scratch.nearby.at_mut(slot) {
        if *sum == 0 {
            scratch.near.push(slot);
        }
        *sum = sum.saturating_add((gain as u32).max(1));
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
