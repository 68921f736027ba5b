//! The idle gate: decides whether there is a reason to think.
//!
//! Pure and cheap. Without a reason no prompt is built and no model is called.

use std::time::Duration;

use dormouse_contracts::{Seq, ServiceName, Timestamp};

use crate::{
    config::Switch,
    decide::overdue_task,
    sleeping,
    state::{State, Trigger, Turn, Wait},
};

/// Longer than any wait of the engine.
const LONGEST_WAIT: Duration = Duration::from_secs(2 * 3_600);
/// Longer than any wait for a budget.
const LONGEST_BUDGET_WAIT: Duration = Duration::from_secs(25 * 3_600);
/// For this time at most, a failed message that is due again gives priority to new messages.
const LONGEST_YIELD: Duration = Duration::from_secs(5 * 60);

/// Why a tick does nothing, in the order in which the reasons are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Skip {
    /// The emergency stop is on.
    EmergencyStop,
    /// The assistant is switched off.
    Disabled,
    /// The previous tick is still under way.
    Collision,
    /// Every service of the model asked for a pause, at least until then.
    Paused(Timestamp),
    /// The open turn waits, after an error or between two single actions.
    Waiting(Timestamp),
    /// It is asleep, at most until then.
    Asleep(Timestamp),
    /// Nothing to do.
    Idle,
}

/// Why a tick thinks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Reason {
    /// A message, or something that became due, waits for its turn.
    Waiting(Seq),
    /// A turn is open, and it is time to continue.
    OpenTurn(Seq),
    /// The deadline of what this event noted has passed. That is recorded without calling a model.
    Expired(Seq),
}

impl Reason {
    /// The sequence number of what calls for the turn.
    #[must_use]
    pub fn trigger(self) -> Seq {
        match self {
            Self::Waiting(seq) | Self::OpenTurn(seq) | Self::Expired(seq) => seq,
        }
    }
}

/// The result of checking for a reason.
#[derive(Debug)]
pub(crate) enum Survey<'a> {
    /// Nothing to do, and why.
    Rest(Skip),
    /// A turn that is being worked on.
    InTick(&'a Turn),
    /// A reason to begin.
    Begin(Reason),
}

/// Decides whether a tick at `now` has a reason to think.
///
/// # Errors
///
/// The first [`Skip`] that applies.
pub fn gate(state: &State, now: Timestamp) -> Result<Reason, Skip> {
    match survey(state, now) {
        Survey::Rest(skip) => Err(skip),
        Survey::InTick(_) => Err(Skip::Collision),
        Survey::Begin(reason) => Ok(reason),
    }
}

/// After a tick was skipped for this reason: when there will be a reason to think, if nothing else happens until then.
#[must_use]
pub fn next_reason(state: &State, skip: Skip, now: Timestamp) -> Option<Timestamp> {
    let due = state.next_due_after(now);
    match skip {
        Skip::Idle => due
            .into_iter()
            .chain(sleeping::next_change(state, now))
            .min(),
        Skip::Asleep(_) => sleeping::next_change(state, now),
        Skip::Waiting(at) => Some(due.map_or(at, |due| due.min(at))),
        Skip::Paused(at) => Some(at),
        Skip::EmergencyStop | Skip::Disabled | Skip::Collision => None,
    }
}

/// Checks whether a tick at `now` has a reason to think.
pub(crate) fn survey(state: &State, now: Timestamp) -> Survey<'_> {
    let services = &state.configuration.services;
    if state.stop.is_on() {
        return Survey::Rest(Skip::EmergencyStop);
    }
    if state.configuration.settings.switch == Switch::Disabled {
        return Survey::Rest(Skip::Disabled);
    }
    let begun = match state.turns.current() {
        Some(turn) if turn.is_ticking() => return Survey::InTick(turn),
        _ if let Some(turn) = sleeping::turn_at(state, now) => Ok(turn),
        _ if let Some(until) = state.sleep.scheduled_wake_time() => Err(Skip::Asleep(until)),
        _ if let Some(promise) = state.promises.expired(now) => Ok(Reason::Expired(promise.seq)),
        _ if let Some(task) = overdue_task(state, now) => Ok(Reason::Expired(task)),
        // A turn that waits for its world continues with its act, and needs no model for that.
        Some(turn) if turn.open_call().is_some() => open_turn(turn, services, now),
        turn => match (state.services.pauses.of_all(services, now), turn) {
            _ if state.turns.is_empty() && state.due_at_beat(now).is_none() => Err(Skip::Idle),
            (Some(pause), _) => Err(Skip::Paused(pause.until)),
            (None, Some(turn)) if !turn.may_step_aside() => open_turn(turn, services, now),
            (None, _) => among_all(state, services, now),
        },
    };
    begun.map_or_else(Survey::Rest, Survey::Begin)
}

/// Which message comes next, if none has a fixed priority.
fn among_all(state: &State, services: &[ServiceName], now: Timestamp) -> Result<Reason, Skip> {
    if let Some(at) = state.services.recent.held_until(services)
        && !is_past(at, now)
    {
        return Err(Skip::Waiting(at));
    }
    let open = state.turns.open();
    let resume_at = |turn: &Turn| turn.wait().map(|wait| wait.until);
    let next = open.min_by_key(|turn| (resume_at(turn), turn.trigger_seq()));
    let open = next.map_or(Err(Skip::Idle), |turn| open_turn(turn, services, now));
    // It may be the cause of the failures. Each further try could open the circuit, so that all others must wait, too.
    let yields = next.is_some_and(|turn| {
        turn.failures.calls > 0 && resume_at(turn).is_none_or(|at| now.since(at) < LONGEST_YIELD)
    });
    let fresh = next_fresh(state).map(Trigger::seq);
    // People who wait for an answer go first.
    let fresh = fresh
        .or_else(|| state.due_at_beat(now))
        .map(Reason::Waiting);
    match (open, fresh) {
        // A message that has not failed yet shows whether the model answers other messages.
        (_, Some(fresh)) if state.services.recent.is_silent() || yields => Ok(fresh),
        (Err(_), Some(fresh)) => Ok(fresh),
        (open, _) => open,
    }
}

/// The next message that was not tried yet. People whose messages have just failed come last, so that others need not
/// wait for all messages of one person.
fn next_fresh(state: &State) -> Option<&Trigger> {
    let suspects = state.turns.open().filter(|turn| turn.failures.is_suspect);
    let suspects: Vec<_> = suspects.filter_map(|turn| turn.trigger.person()).collect();
    let is_free = |trigger: &&Trigger| {
        let person = trigger.person();
        person.is_none_or(|person| !suspects.contains(&person))
    };
    // The person who was answered longest ago goes first. So nobody waits for more than one message of each other
    // person, however much somebody says.
    let is_fair = !state.configuration.settings.admission.is_off();
    let turn_of = |trigger: &&Trigger| {
        let message = trigger.message().filter(|_| is_fair);
        message.map_or(Seq(0), |message| {
            let person = state.identities.person(&message.perception.attested.sender);
            state.admission.taken(person)
        })
    };
    let in_order = |trigger: &&Trigger| (turn_of(trigger), trigger.seq());
    let next = |is_eligible: &dyn Fn(&&Trigger) -> bool| {
        let eligible = || state.turns.waiting().filter(is_eligible);
        let message = eligible().filter(|it| it.message().is_some());
        let (message, occasion) = (
            message.min_by_key(in_order),
            eligible().find(|it| it.message().is_none()),
        );
        match (message, occasion) {
            // What else is due keeps its place, so neither waits for all of the other.
            (Some(message), Some(occasion)) if occasion.seq() < message.seq() => Some(occasion),
            (message, occasion) => message.or(occasion),
        }
    };
    next(&is_free).or_else(|| next(&|_| true))
}

fn open_turn(turn: &Turn, services: &[ServiceName], now: Timestamp) -> Result<Reason, Skip> {
    let is_for_others = |wait: &Wait| {
        let service = wait.service.as_ref();
        service.is_some_and(|service| !services.contains(service))
    };
    match turn.wait() {
        Some(wait) if turn.waits_for_a_budget() && wait.until > now => {
            match wait.until.since(now) <= LONGEST_BUDGET_WAIT {
                true => Err(Skip::Waiting(wait.until)),
                false => Ok(Reason::OpenTurn(turn.trigger_seq())),
            }
        }
        Some(wait) if !is_past(wait.until, now) && !is_for_others(wait) => {
            Err(Skip::Waiting(wait.until))
        }
        _ => Ok(Reason::OpenTurn(turn.trigger_seq())),
    }
}

fn is_past(at: Timestamp, now: Timestamp) -> bool {
    // The engine never waits that long: the clock was set back meanwhile.
    at <= now || at.since(now) > LONGEST_WAIT
}
