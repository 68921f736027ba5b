//! The sessions that a query is most likely about.
//!
//! The requested turn often shares no word with the query, and no word occurs near it. But its session as a whole may
//! match: by its words, by the month that the query names, or by its speakers.

use crate::{
    Feature, Index,
    search::{plan::QueryPlan, scratch::Scratch},
};

/// How many sessions contribute all their units as candidates.
const MOST_SESSIONS: usize = 5;
/// How many units of a session count; in a longer session, only the first ones.
pub(super) const MOST_UNITS: usize = 512;
/// How many sessions within a time that the query names are considered, even if they share no word with the query.
const MOST_DATED: usize = 1_000;

/// Chooses the best sessions.
pub(super) fn pick_best(index: &Index, plan: &QueryPlan<'_>, scratch: &mut Scratch) {
    let mut best: Vec<Rank> = Vec::with_capacity(MOST_SESSIONS + 1);
    let touched = std::mem::take(&mut scratch.touched_sessions);
    // A session within a named time may share no word with the query, so the postings alone would not find it.
    let dated = plan.sessions(index).take(MOST_DATED);
    for session in touched.iter().copied().chain(dated) {
        let Some(rank) = Rank::of(index, plan, scratch, session) else {
            continue;
        };
        if best.len() == MOST_SESSIONS && best.last().is_some_and(|last| *last >= rank) {
            continue;
        }
        // The postings and a named time can both contribute the same session.
        if best.iter().all(|other| other.session != session) {
            let place = best.partition_point(|other| *other > rank);
            best.insert(place, rank);
            best.truncate(MOST_SESSIONS);
        }
    }
    scratch.touched_sessions = touched;
    let best = best.into_iter().map(|rank| rank.session);
    scratch.best_sessions.extend(best);
}

/// The rank of a session: by score, then by the time of its start, then by its first unit. The session's number is not
/// used: it differs between indexes of the same units.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Rank {
    score: f32,
    begun_at: i64,
    first: u64,
    session: u32,
}

impl Rank {
    /// `None` if nothing connects the session to the query.
    fn of(
        index: &Index,
        plan: &QueryPlan<'_>,
        scratch: &mut Scratch,
        session: u32,
    ) -> Option<Self> {
        let tally = index.threads.session(session);
        // None of the three parts requires reading the units of the session.
        let score = plan.weight(Feature::Session) * scratch.session(session)
            + plan.weight(Feature::Participants) * plan.participation(index, scratch, session)
            + plan.weight(Feature::Date) * plan.closeness(tally.begun_at);
        (score > 0.0).then(|| Self {
            score,
            begun_at: tally.begun_at,
            first: index.id(tally.first),
            session,
        })
    }
}
