//! How much of its budgets a turn has used up: steps, acts, bookkeeping, and the context window.
//!
//! Bookkeeping is what stays within the assistant: notes, profiles, and looks into its own memory. It has a budget of
//! its own, so that a model that notes much can still act and answer.

use dormouse_contracts::ToolReach;

use super::view::View;
use crate::{
    config::ExecutionPattern,
    event::{NOOP, Verdict},
    prompt,
    state::{CallState, Step, Turn},
};

/// At this share of the context window, in percent, the loop ends.
const CRITICAL_PERCENT: u64 = 80;
/// At this share of the context window, in percent, the model is advised to finish.
const WARNING_PERCENT: u64 = 60;
/// Into how many parts one turn can divide a goal.
const MOST_PARTS: u32 = 5;

/// Whether a call stays within the assistant.
pub(super) fn is_bookkeeping(view: View<'_>, call: &CallState) -> bool {
    let tool = view.tools.get(&call.call.name);
    tool.is_some_and(|tool| tool.reach == ToolReach::Builtin && tool.name.as_str() != NOOP)
}

/// Whether this tick may make one more call that is not bookkeeping.
pub(super) fn may_act(view: View<'_>, turn: &Turn) -> bool {
    acts(view, turn) < act_limit(view)
}

/// Whether this tick may make one more bookkeeping call.
pub(super) fn may_keep_books(view: View<'_>, turn: &Turn) -> bool {
    let made = calls_made(steps(view, turn));
    let bookkeeping = made.filter(|call| is_bookkeeping(view, call));
    let most = match turn.divides() {
        // One step divides a goal, and each part is a call.
        Some(_) => view.bounds.max_iterations.max(MOST_PARTS),
        None => view.bounds.max_iterations,
    };
    count(bookkeeping) < most
}

/// How many acts one tick may make.
fn act_limit(view: View<'_>) -> u32 {
    match view.bounds.mode {
        ExecutionPattern::SingleAction => 1,
        ExecutionPattern::ReactLoop => view.bounds.max_iterations,
    }
}

/// How many calls of this tick were not bookkeeping.
fn acts(view: View<'_>, turn: &Turn) -> u32 {
    let made = calls_made(turn.steps_of_this_tick());
    count(made.filter(|call| !is_bookkeeping(view, call)))
}

/// The steps that share one budget of steps: those of a tick, or those of a turn that takes one step in each tick.
fn steps<'a>(view: View<'_>, turn: &'a Turn) -> Box<dyn Iterator<Item = &'a Step> + 'a> {
    match view.bounds.mode {
        ExecutionPattern::ReactLoop => Box::new(turn.steps_of_this_tick()),
        ExecutionPattern::SingleAction => Box::new(turn.own_steps()),
    }
}

/// The calls that were made in these steps. All parts of an answer are one call.
fn calls_made<'a>(steps: impl Iterator<Item = &'a Step>) -> impl Iterator<Item = &'a CallState> {
    let calls = steps.flat_map(|step| &step.calls);
    calls.filter(|call| {
        let was_made = call
            .verdict
            .is_some_and(|verdict| !matches!(verdict, Verdict::Skipped | Verdict::Deferred));
        was_made && !call.call.continues
    })
}

/// Whether a step does nothing but bookkeeping. A step whose bookkeeping was refused does not: so a model that goes on
/// and on comes to its last step.
fn only_keeps_books(view: View<'_>, step: &Step) -> bool {
    let was_refused = |call: &CallState| call.verdict == Some(Verdict::Skipped);
    let mut calls = step.calls.iter();
    !step.calls.iter().all(was_refused) && calls.all(|call| is_bookkeeping(view, call))
}

fn count<T>(items: impl Iterator<Item = T>) -> u32 {
    u32::try_from(items.count()).unwrap_or(u32::MAX)
}

/// Whether the next step is the last one, in which the model can only speak: only one step or act is left, or the
/// context window is full. The first step is never the last, so that no message is dropped unasked.
pub(super) fn is_last(view: View<'_>, turn: &Turn) -> bool {
    let is_first = turn.own_steps().next().is_none();
    !is_first && (has_used_up(view, turn, 1) || is_critical(view, turn))
}

/// Whether the next prompt takes so much of the context window that the loop ends.
fn is_critical(view: View<'_>, turn: &Turn) -> bool {
    let preamble = view.preamble();
    let percent_of = |tokens: u32| {
        let window = prompt::window(view.state, &preamble);
        u64::from(tokens) * 100 / u64::from(window).max(1)
    };
    // Nearly always the turn is short, and then nothing has to be chosen for its prompt.
    let is_possible =
        percent_of(prompt::most_tokens(view.state, turn, &preamble)) >= CRITICAL_PERCENT;
    is_possible && percent(view, turn, 0) >= CRITICAL_PERCENT
}

/// Whether all steps or acts are used up after `more` further steps.
pub(super) fn has_used_up(view: View<'_>, turn: &Turn, more: u32) -> bool {
    let limit = view.bounds.max_iterations;
    let steps = count(steps(view, turn).filter(|step| !only_keeps_books(view, step)));
    let acts = match view.bounds.mode {
        ExecutionPattern::ReactLoop => acts(view, turn),
        // Each tick has its own limit of one act.
        ExecutionPattern::SingleAction => 0,
    };
    (steps > 0 && steps.saturating_add(more) >= limit) || acts >= limit
}

/// The share of the context window, in percent, that the next prompt takes with `more` further tokens.
pub(super) fn percent(view: View<'_>, turn: &Turn, more: u32) -> u64 {
    let preamble = view.preamble();
    let tokens = prompt::tokens(view.state, turn, &preamble);
    let window = prompt::window(view.state, &preamble);
    u64::from(tokens.saturating_add(more)) * 100 / u64::from(window).max(1)
}

/// The advice about its use of the context window that the model gets in a result of `result` tokens, if it needs any.
pub(super) fn advisory(view: View<'_>, result: u32) -> Option<&'static str> {
    let turn = view.state.turns.current()?;
    match percent(view, turn, result) {
        _ if has_used_up(view, turn, 1) => Some("Provide final response now"),
        CRITICAL_PERCENT.. => Some("Provide final response now"),
        WARNING_PERCENT.. => Some("Consider concluding soon"),
        _ => None,
    }
}
