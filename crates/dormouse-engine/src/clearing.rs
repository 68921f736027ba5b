//! Triggering and clearing the emergency stop by hand. Every way goes through [`trigger_stop`] and [`clear_stop`], whether the
//! assistant runs or not.

use crate::{
    event::{EmergencyStopCleared, EmergencyStopTriggered, Event, HistoryReset, StopCause},
    state::State,
};

/// The event by which somebody stops the assistant, for this reason if it is not blank; nothing if it is stopped already.
#[must_use]
pub fn trigger_stop(state: &State, by: &str, reason: &str) -> Option<Event> {
    let cause = StopCause::Operator(by.to_owned());
    let reason = (!reason.trim().is_empty()).then(|| reason.to_owned());
    let stop = EmergencyStopTriggered { cause, reason };
    (!state.stop.is_on()).then_some(Event::EmergencyStopTriggered(stop))
}

/// The event by which somebody clears the emergency stop, and with it the errors that led to it; nothing if it is not on.
#[must_use]
pub fn clear_stop(state: &State, by: &str) -> Option<Event> {
    let cleared_by = by.to_owned();
    let cleared = || Event::EmergencyStopCleared(EmergencyStopCleared { cleared_by });
    state.stop.is_on().then(cleared)
}

/// The events by which somebody resets the history, in order. They also clear the emergency stop, if it is on.
#[must_use]
pub fn reset_history(state: &State, by: &str) -> Vec<Event> {
    let reset_by = by.to_owned();
    let reset = Event::HistoryReset(HistoryReset { reset_by });
    [reset].into_iter().chain(clear_stop(state, by)).collect()
}
