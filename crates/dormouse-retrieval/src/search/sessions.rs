//! The sessions that a query is most likely about.
//!
//! The turn that is sought often shares no word with the query, and stands near none that does, but lies in a session that
//! as a whole is about it, of the month that it names, among those that it names.

use crate::{
    Feature, Index,
    search::{plan::Plan, scratch::Scratch},
};

/// Of so many sessions all units are looked at.
const MOST_SESSIONS: usize = 5;
/// Of a longer session only the beginning.
pub(super) const MOST_UNITS: usize = 512;
/// Of the times that a query names, so many sessions are considered that share no word with it.
const MOST_DATED: usize = 1_000;

/// Fills in the best sessions.
pub(super) fn pick_best(index: &Index, plan: &Plan<'_>, scratch: &mut Scratch) {
    let mut best: Vec<Rank> = Vec::with_capacity(MOST_SESSIONS + 1);
    let touched = std::mem::take(&mut scratch.touched_sessions);
    let dated = plan.sessions(index).take(MOST_DATED);
    for session in touched.iter().copied().chain(dated) {
        let Some(rank) = Rank::of(index, plan, scratch, session) else {
            continue;
        };
        if best.len() == MOST_SESSIONS && best.last().is_some_and(|last| *last >= rank) {
            continue;
        }
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

/// How a session ranks: by its score, then by when it begins and with which unit, never by its number, which differs
/// between indexes of the same units.
#[derive(Clone, Copy, PartialEq, PartialOrd)]
struct Rank {
    score: f32,
    begun_at: i64,
    first: u64,
    session: u32,
}

impl Rank {
    /// `None` if nothing speaks for the session.
    fn of(index: &Index, plan: &Plan<'_>, scratch: &mut Scratch, session: u32) -> Option<Self> {
        let tally = index.threads.session(session);
        let score = plan.weight(Feature::Session) * scratch.session(session)
            + plan.weight(Feature::Participants) * scratch.participation(index, plan, session)
            + plan.weight(Feature::Date) * plan.closeness(tally.begun_at);
        (score > 0.0).then(|| Self {
            score,
            begun_at: tally.begun_at,
            first: index.id(tally.first),
            session,
        })
    }
}
