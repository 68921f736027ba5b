//! Clearing the emergency stop. Every way to clear it goes through [`clear_stop`], whether the assistant runs or not.

use crate::{
    event::{EmergencyStopCleared, Event, HistoryReset},
    state::State,
};

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
