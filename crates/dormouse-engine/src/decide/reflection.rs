//! The end of a turn in which the assistant looked back over its journal.

use dormouse_journal::EntryId;

use super::{action::Action, view::View};
use crate::{
    event::{Event, ReflectionRecorded, TickEnded},
    state::Turn,
};

/// The same action; if it closes such a turn, with the event that says what was written in it.
pub(super) fn with_end(view: View<'_>, turn: &Turn, action: Action) -> Action {
    let begun = view.state.reflections.under_way;
    match (begun.filter(|_| turn.trigger.is_reflection()), action) {
        (Some(from), Action::Decide(decided)) => match decided.last() {
            Some(Event::TickEnded(TickEnded {
                resume_at: None, ..
            })) => {
                let recorded = ReflectionRecorded {
                    trigger: turn.trigger_seq(),
                    entries: written_since(view, from),
                };
                decided
                    .before_last(Event::ReflectionRecorded(recorded))
                    .into()
            }
            _ => decided.into(),
        },
        (_, action) => action,
    }
}

fn written_since(view: View<'_>, from: EntryId) -> Vec<EntryId> {
    let entries = view.state.journal.journal().entries();
    entries
        .map(|entry| entry.id)
        .filter(|id| *id >= from)
        .collect()
}
