//! The first pass over the postings of the query's terms.

use crate::{
    Index,
    index::lexicon::Posting,
    search::{
        bm25::{K1, inverse_frequency, length_norm, saturated},
        plan::QueryPlan,
        scratch::{Scratch, zero},
    },
};

/// Computes first-pass scores and session scores.
pub(super) fn read_postings(
    index: &Index,
    plan: &QueryPlan<'_>,
    budget: usize,
    scratch: &mut Scratch,
) {
    let bound = index.threads.session_bound();
    scratch.session_counts.reach(bound);
    scratch.sessions.reach(bound);
    for place in read_turns(index, plan, budget, scratch) {
        let term = plan.terms.get(place);
        let share = term.map_or(1.0, |term| term.share);
        let adds = term.is_none_or(|term| term.adds > 0.0);
        add_sessions(index, plan.postings(index, place), share, adds, scratch);
    }
}

/// Computes first-pass scores from the terms within the budget, and returns the positions of these terms in the query.
pub(super) fn read_turns(
    index: &Index,
    plan: &QueryPlan<'_>,
    budget: usize,
    scratch: &mut Scratch,
) -> Vec<usize> {
    scratch.first_pass.reach(index.slot_bound());
    let places = within_budget(index, plan, budget);
    for &place in &places {
        add_turns(index, plan, place, scratch);
    }
    places
}

/// The positions of the rarest terms that fit the budget, in the order of the query.
fn within_budget(index: &Index, plan: &QueryPlan<'_>, mut budget: usize) -> Vec<usize> {
    let frequency = |place: &usize| plan.postings(index, *place).len();
    let mut places: Vec<usize> = (0..plan.terms.len()).collect();
    places.retain(|place| frequency(place) > 0);
    // Rare terms first: they distinguish units best and cost least.
    places.sort_by_key(frequency);
    let mut read = 0;
    for place in &places {
        let frequency = frequency(place);
        // The rarest term is always read; otherwise a query of common words would find nothing.
        if frequency > budget && read > 0 {
            break;
        }
        budget = budget.saturating_sub(frequency);
        read += 1;
    }
    places.truncate(read);
    places.sort_unstable();
    places
}

fn add_turns(index: &Index, plan: &QueryPlan<'_>, place: usize, scratch: &mut Scratch) {
    let Some(idf) = plan.terms.get(place).map(|term| term.idf) else {
        return;
    };
    for posting in plan.postings(index, place) {
        let slot = posting.slot();
        let length = index.threads.position(slot).terms as f32;
        let gain = idf * saturated(posting.count() as f32, length_norm(length, plan.mean_turn));
        if let Some(score) = scratch.first_pass.at_mut(slot) {
            if score.terms == 0 {
                scratch.touched.push(slot);
            }
            score.terms |= 1 << place;
            score.turn += gain;
            score.covered += idf;
        }
    }
}

/// Adds the BM25 score of one term to each session, as far as the query means it. The document frequency is counted in
/// sessions.
fn add_sessions(
    index: &Index,
    postings: &[Posting],
    share: f32,
    adds: bool,
    scratch: &mut Scratch,
) {
    for posting in postings {
        let session = index.threads.position(posting.slot()).session;
        if let Some(counted) = scratch.session_counts.at_mut(session) {
            if *counted == 0 {
                scratch.counted_sessions.push(session);
            }
            *counted += posting.count();
        }
    }
    let counted = &scratch.counted_sessions;
    // A note without a thread does not count as a conversation. If notes counted, the conversations would seem longer, and their words rarer, the
    // more notes are made of them: with as many notes as turns, a point of evidence within 1,024 tokens was lost.
    let (sessions, with_term, terms) = match index.threads.conversations(index.terms) {
        Some((sessions, terms)) => {
            let with_term = counted.iter().filter(|session| !index.is_lone(**session));
            (sessions, with_term.count(), terms)
        }
        None => (index.threads.sessions(), counted.len(), index.terms),
    };
    let idf = inverse_frequency(with_term, sessions) * share;
    // A session is the document here, so its length is compared with the mean length of a session.
    let mean = terms as f32 / sessions.max(1) as f32;
    // The upper bound of the session score grows by the term's largest possible score.
    // A word that may only stand for another one adds nothing to what the query asks for.
    if adds {
        scratch.most_session += idf * (K1 + 1.0);
    }
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
