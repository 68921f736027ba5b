//! Decides whether earlier turns are shown shorter before the model is asked.

use dormouse_contracts::{ChatReply, ModelErrorKind, ModelName};

use super::{
    action::{Action, OutsideCall},
    delegation,
    view::View,
};
use crate::{
    compacting::{self, SummaryAsk},
    event::{CompactionMode, Event, FactsBefore, SummaryFailure},
    prompt::{self, Component},
    state::Turn,
};

/// The action before the first request of a tick. If the prompt would fill the context window, the history is shown shorter,
/// after facts were extracted from it. Otherwise a due summary is requested.
pub(super) fn before_asking(view: View<'_>, turn: &Turn) -> Option<Action> {
    let settings = &view.config().compaction;
    // Not in a turn that tries a smaller limit after a refusal: this one message may be the cause.
    let is_usual =
        turn.failures.refusals == 0 && turn.shown_from() == 0 && turn.context_limit.is_none();
    if !settings.is_on || turn.steps_this_tick > 0 || !is_usual {
        return None;
    }
    let preamble = view.preamble();
    // A prompt without earlier turns gets no shorter by showing them shorter.
    if !preamble.shows(Component::ConversationHistory) {
        return None;
    }
    let found = prompt::measure(view.state, turn, &preamble);
    if let Some(compacted) = compacting::plan(view.state, &found, CompactionMode::Emergency) {
        // A budget reserves for it; a task does not pay for what the delegate remembers of others.
        let is_for_task = view.state.delegations.task_of(turn.trigger_seq()).is_some();
        let is_looked_at =
            settings.extracts_facts && !is_for_task && compacting::is_worth_a_request(&compacted);
        return Some(match is_looked_at {
            true => Action::Call(OutsideCall::ExtractFacts),
            false => Event::Compacted(compacted).into(),
        });
    }
    // A limited budget is reserved for answers. Without a summary the words can still be recalled.
    if delegation::counts_tokens(view, turn) {
        return None;
    }
    let open = view.state.compactions.due(view.now)?;
    Some(match SummaryAsk::of(view.state, view.counter, &open.span) {
        Some(ask) => Action::Call(OutsideCall::Summarize(Box::new(ask))),
        None => {
            let nothing = SummaryFailure::NothingToShow;
            compacting::failed(view.state, view.now, &open.span, nothing).into()
        }
    })
}

/// The events after an extraction of facts: the history is shown shorter, even if no fact was found.
pub(crate) fn on_extracted(view: View<'_>, facts: FactsBefore) -> Vec<Event> {
    let Some(turn) = view.state.turns.current() else {
        return Vec::new();
    };
    let found = prompt::measure(view.state, turn, &view.preamble());
    vec![Event::Compacted(compacting::plan_after(
        view.state, &found, facts,
    ))]
}

/// How a request for a summary ended.
pub(crate) type Summarized = Result<(ModelName, ChatReply), ModelErrorKind>;

/// The events that follow from a reply to a request for a summary.
pub(crate) fn on_summary(
    view: View<'_>,
    ask: &SummaryAsk,
    outcome: Summarized,
    duration_ms: f64,
) -> Vec<Event> {
    let (state, now) = (view.state, view.now);
    vec![match outcome {
        Ok((model, reply)) => {
            let reply = super::shortened_reply(reply);
            compacting::summarized(state, view.counter, now, ask, model, reply, duration_ms)
        }
        Err(kind) => compacting::failed(state, now, &ask.span, SummaryFailure::Model(kind)),
    }]
}
