//! How tasks end without a result: too late, not needed any more, stopped, or over the budget.

use super::{action::Decided, commitment, view::View};
use crate::{
    event::{
        DelegationEnded, DelegationFailure, EndedBy, Event, StopReason, TaskAnswered, TaskCost,
        TaskOutcome, TickEnded,
    },
    state::{GivenTask, State, TakenTask, Turn},
};
use dormouse_contracts::{Seq, Sources, Timestamp};

/// A reply that has no room for this many tokens is not worth asking for.
const SHORTEST_REPLY: u64 = 256;

/// A task that has to be ended, and how.
enum Overdue<'a> {
    Given(&'a GivenTask, DelegationFailure),
    Taken(&'a TakenTask, DelegationFailure),
}

impl Overdue<'_> {
    fn seq(&self) -> Seq {
        match self {
            Self::Given(given, _) => given.seq,
            Self::Taken(taken, _) => taken.seq,
        }
    }
}

/// The first task that has to be ended at `now`, while no tick is under way.
fn first(state: &State, now: Timestamp) -> Option<Overdue<'_>> {
    let tasks = &state.delegations;
    let given = tasks.open().find_map(|given| {
        let above = given.delegated.part_of.as_ref();
        let above = above.and_then(|key| tasks.taken(key));
        let failure = match above {
            // Cancelling goes from above to below, one log at a time.
            Some(above) if !above.is_open() => DelegationFailure::Cancelled,
            _ if given.delegated.task.expires_at <= now => DelegationFailure::TimedOut,
            _ => return None,
        };
        Some(Overdue::Given(given, failure))
    });
    given.or_else(|| {
        let mut taken = tasks.taken_tasks().filter(|taken| taken.is_open());
        taken.find_map(|taken| {
            let failure = match taken.task.expires_at <= now {
                true => DelegationFailure::TimedOut,
                false if has_nothing_left(state, taken) => DelegationFailure::NoResult,
                false => return None,
            };
            Some(Overdue::Taken(taken, failure))
        })
    })
}

/// Whether no turn for the task is open or waits, and nothing that follows from it is waited for.
fn has_nothing_left(state: &State, taken: &TakenTask) -> bool {
    let is_for_it = |trigger: Seq| {
        let task = state.delegations.task_of(trigger);
        task.is_some_and(|task| task.seq == taken.seq)
    };
    let mut open = state.turns.open().map(Turn::trigger_seq);
    let mut waiting = state.turns.waiting().map(|waiting| waiting.seq());
    let is_part = |given: &GivenTask| given.delegated.part_of.as_ref() == Some(&taken.task.key);
    !open.any(is_for_it) && !waiting.any(is_for_it) && !state.delegations.open().any(is_part)
}

/// The event of the first task that has to be ended now, if there is one: for the gate.
pub(crate) fn overdue_at(state: &State, now: Timestamp) -> Option<Seq> {
    Some(first(state, now)?.seq())
}

/// Ends the first task that has to be ended now.
pub(super) fn overdue(view: View<'_>) -> Option<Event> {
    Some(match first(view.state, view.now)? {
        Overdue::Given(given, failure) => withdrawn(given, failure),
        Overdue::Taken(taken, failure) => failed(taken, failure),
    })
}

/// While the assistant is stopped, those who gave it a task learn that, and nobody goes on with what it gave away.
pub(super) fn stopped(view: View<'_>) -> Option<Event> {
    let tasks = &view.state.delegations;
    let taken = tasks.taken_tasks().find(|taken| taken.is_open());
    let taken = taken.map(|taken| failed(taken, DelegationFailure::EmergencyStop));
    let given = || tasks.open().next();
    taken.or_else(|| given().map(|given| withdrawn(given, DelegationFailure::Cancelled)))
}

/// The one who gave a task does not wait for it any more. Nobody can have begun with it before somebody was chosen.
fn withdrawn(given: &GivenTask, failure: DelegationFailure) -> Event {
    let took = given.delegate.is_none().then(TaskCost::default);
    Event::DelegationEnded(DelegationEnded {
        key: given.key().clone(),
        by: EndedBy::Itself,
        outcome: TaskOutcome::Failed(failure),
        took,
    })
}

fn failed(taken: &TakenTask, failure: DelegationFailure) -> Event {
    Event::TaskAnswered(TaskAnswered {
        key: taken.task.key.clone(),
        outcome: TaskOutcome::Failed(failure),
        took: taken.took,
        sources: Sources::default(),
    })
}

/// Whether something bounds what this turn may take. Then the model is asked for nothing but what the turn says and does.
pub(super) fn counts_tokens(view: View<'_>, turn: &Turn) -> bool {
    let task = view.state.delegations.task_of(turn.trigger_seq());
    task.is_some() || view.config().budgets.is_limited()
}

/// The end of a turn for a task of another assistant, before the model is asked: nobody waits for it any more, it is too late,
/// or no further reply fits into what the task may take. `prompt_tokens` is the length of the prompt.
pub(super) fn pointless(view: View<'_>, turn: &Turn, prompt_tokens: u32) -> Option<Decided> {
    let taken = view.state.delegations.task_of(turn.trigger_seq())?;
    let needed = u64::from(prompt_tokens).saturating_add(SHORTEST_REPLY);
    let failure = match taken.is_open() {
        false => None,
        true if taken.task.expires_at <= view.now => Some(DelegationFailure::TimedOut),
        true if taken.tokens_left() < needed => Some(DelegationFailure::BudgetUsedUp),
        true => return None,
    };
    let ended = failure.map(|failure| failed(taken, failure));
    let tick = TickEnded::new(StopReason::GivenUp, None);
    let closed = commitment::closed(view, turn, tick);
    Some(Decided::all(ended.into_iter().collect(), closed))
}
