//! How a commitment to somebody ends: kept or broken.

use super::{action::Decided, view::View};
use crate::{
    builtin,
    event::{BrokenCause, CommitmentEnded, CommitmentOutcome, Event, TickEnded, Verdict},
    state::{BegunPromise, CallState, Promise, Turn, completion_outcome},
};

/// The event that ends a commitment whose time has passed, if there is one.
pub(super) fn expired(view: View<'_>) -> Option<Event> {
    let promise = view.state.promises.expired(view.now)?;
    let outcome = CommitmentOutcome::Broken(BrokenCause::Expired);
    Some(ended(promise, outcome))
}

/// The events by which a turn closes. If the turn was begun for a commitment, the first event says how the commitment
/// ended.
pub(super) fn closed(view: View<'_>, turn: &Turn, tick: TickEnded) -> Decided {
    let begun = view.state.promises.begun(turn.trigger_seq());
    let begun = begun.filter(|_| tick.resume_at.is_none());
    let ended = begun.map(|begun| ended(&begun.promise, outcome(turn, begun)));
    Decided::after(ended.into_iter().collect(), Event::TickEnded(tick))
}

fn ended(promise: &Promise, outcome: CommitmentOutcome) -> Event {
    Event::CommitmentEnded(CommitmentEnded {
        commitment: promise.seq,
        entity: promise.entity.clone(),
        noted_at: promise.noted_at,
        outcome,
    })
}

/// Acts count before calls: an action that a call completed, but whose act the world refused, was not done. An act that
/// may have happened counts as done, since it is not repeated.
fn outcome(turn: &Turn, begun: &BegunPromise) -> CommitmentOutcome {
    let calls = || turn.own_steps().flat_map(|step| &step.calls);
    let acts = || calls().filter(|call| call.effect.is_some());
    if acts().next().is_some() {
        return match acts().any(CallState::may_be_made) {
            true => CommitmentOutcome::Kept,
            false => CommitmentOutcome::Broken(BrokenCause::GivenUp),
        };
    }
    let notes = |call: &CallState| {
        builtin::is_note(&call.call.name) && call.verdict == Some(Verdict::Success)
    };
    match begun.completion {
        Some(completion) => completion_outcome(completion),
        None if calls().any(notes) => CommitmentOutcome::Kept,
        None => CommitmentOutcome::Broken(BrokenCause::GivenUp),
    }
}
