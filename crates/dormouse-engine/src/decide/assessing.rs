//! Assessing the task of a turn, before the model is asked for the first time.

use super::{
    action::{Action, OutsideCall},
    budget, delegation,
    view::View,
};
use crate::{
    assessment::{assess, request, signals},
    event::{AssessmentCall, AssessmentOutcome, Event, TaskAssessed},
    prompt::shown_trigger,
    state::Turn,
};

/// How the task of a turn is assessed, if it is to be and was not yet.
pub(super) fn of(view: View<'_>, turn: &Turn) -> Option<Action> {
    let execution = &view.config().execution;
    let is_due = execution.task_assessment_enabled && turn.assessment.is_none();
    if !is_due || turn.own_steps().next().is_some() {
        return None;
    }
    // A limited budget is reserved for the answer.
    if execution.use_quick_assessment || delegation::counts_tokens(view, turn) {
        return Some(assessed(view, turn, None).into());
    }
    let shown = shown_trigger(turn, view.counter);
    Some(Action::Call(OutsideCall::Assess(Box::new(request(&shown)))))
}

/// The event that follows when a model was asked for the complexity of a task.
pub(crate) fn on_assessed(view: View<'_>, call: AssessmentCall) -> Vec<Event> {
    let turn = view.state.turns.current();
    turn.map(|turn| assessed(view, turn, Some(call)))
        .into_iter()
        .collect()
}

fn assessed(view: View<'_>, turn: &Turn, asked: Option<AssessmentCall>) -> Event {
    let told = asked.as_ref().and_then(|call| match call.outcome {
        AssessmentOutcome::Replied { complexity, .. } => complexity,
        AssessmentOutcome::Failed(_) => None,
    });
    let situation = signals(view.state, &turn.trigger, budget::percent(view, turn, 0));
    Event::TaskAssessed(TaskAssessed {
        assessment: assess(turn.trigger.words(), situation, told),
        asked,
    })
}
