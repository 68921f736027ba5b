//! Asking a sender to wait whose answer takes long.

use super::{naming, unanswered, view::View};
use crate::{
    event::{DelayCause, Delayed, Event},
    state::Turn,
};

/// The events by which the sender of the message is asked to wait: once for each message, if the operator wants that.
/// The words are said after them, while the model works on.
pub(crate) fn on_delay(view: View<'_>) -> Vec<Event> {
    let waiting = view.state.turns.current();
    let waiting = waiting.filter(|turn| turn.is_ticking() && !turn.is_delayed());
    let asked = waiting.and_then(|turn| ask(view, turn, DelayCause::Slow));
    asked.into_iter().collect()
}

/// The event by which the sender of the message is notified, once, that the model gives no answers. The sender of a
/// message that is about to be given up for that is notified in another way.
pub(super) fn in_outage(view: View<'_>, turn: &Turn) -> Option<Event> {
    let waited = view.waited_since(turn.trigger.since());
    let is_due =
        view.state.services.recent.is_silent() && waited >= view.config().limits.word_after();
    let is_due = is_due
        && !turn.is_delayed_by(DelayCause::Outage)
        && !unanswered::may_be_its_own(view, turn);
    is_due.then(|| ask(view, turn, DelayCause::Outage))?
}

pub(super) fn ask(view: View<'_>, turn: &Turn, cause: DelayCause) -> Option<Event> {
    let notice = match cause {
        DelayCause::Slow => &view.config().wait_notice,
        DelayCause::Outage => &view.config().outage_notice,
        DelayCause::Budget => &view.config().budget_notice,
    };
    let (calls, tokens) = naming::said(view, turn.message()?, notice);
    (!calls.is_empty()).then(|| {
        Event::Delayed(Delayed {
            trigger: turn.trigger_seq(),
            cause,
            calls,
            tokens,
        })
    })
}
