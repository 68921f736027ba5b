//! The loop guard: a model that makes the same call again and again, and gets the same result, is offered nothing but speech,
//! once.

use super::{calls::without_advice, view::View};
use crate::{
    event::Verdict,
    state::{CallState, Step, Turn},
};

/// Whether the model has made its last call as often as the operator allows, each time with the same arguments and the same
/// result. What it calls several times in one reply counts once, because it has not seen the result before.
pub(super) fn is_reached(view: View<'_>, turn: &Turn) -> bool {
    let Some(most) = view.config().limits.max_repeated_calls() else {
        return false;
    };
    // In a step of speech nothing else was made.
    let last = turn.own_steps().rfind(|step| !step.only_speaks());
    let Some(last) = last.and_then(|step| step.calls.last()) else {
        return false;
    };
    let repeats = |step: &&Step| step.calls.iter().any(|call| is_same(call, last));
    turn.own_steps().filter(repeats).count() >= usize::try_from(most).unwrap_or(usize::MAX)
}

fn was_made(call: &CallState) -> bool {
    matches!(call.verdict, Some(Verdict::Success | Verdict::Failure))
}

fn is_same(one: &CallState, other: &CallState) -> bool {
    let result = |call: &CallState| call.result.as_deref().map(without_advice);
    was_made(one)
        && was_made(other)
        && one.call.name == other.call.name
        && one.call.has_arguments_of(&other.call)
        && result(one) == result(other)
}
