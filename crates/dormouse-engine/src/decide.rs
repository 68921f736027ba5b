//! What comes next, as a function of the state.
//!
//! Pure: no I/O, no clock, no randomness. An [`Assistant`](crate::Assistant) carries out each decision, writes the
//! result into the log, and asks again. So a program that was killed at any point resumes where it was.

mod action;
mod admission;
mod approvals;
mod assessing;
mod budget;
mod calls;
mod commitment;
mod compaction;
mod delayed;
mod delegation;
mod hearing;
mod naming;
mod offering;
mod outcomes;
mod perception;
mod prepared;
mod pursuit;
mod recall_query;
mod reflection;
mod repeats;
mod spending;
mod stop_notice;
mod unanswered;
mod view;
mod waits;

use dormouse_contracts::Effect;
use dormouse_tools::{LoopEffect, after};

pub(crate) use action::{Action, Next, OutsideCall};
pub(crate) use admission::{Admitted, Before, admit};
pub(crate) use assessing::on_assessed;
pub(crate) use calls::{answer_with, effect_key_of, unanswered as call_unanswered, without_advice};
pub(crate) use compaction::{Summarized, on_extracted, on_summary};
pub(crate) use delayed::on_delay;
pub(crate) use delegation::overdue_at as overdue_task;
pub(crate) use offering::of as tools_offered;
pub(crate) use outcomes::{
    Answered, Asked, noted, on_failure, on_memory_answer, on_observed, on_recollected, on_reply,
    on_settled, on_world_failure, shortened_reply, within_limits,
};
pub(crate) use perception::{classification, perceived};
pub(crate) use prepared::Prepared;
pub use spending::{BudgetKind, BudgetStatus, OverBudget, reserve_for_server};
pub(crate) use spending::{CallWish, each as each_budget, longest_reply, low_line};
pub(crate) use stop_notice::is_due as stop_notice_is_due;
pub(crate) use view::View;
pub(crate) use waits::Failed;

use crate::{
    builtin,
    config::ExecutionPattern,
    context::context_of,
    event::{Event, NOOP, StopCause, StopReason, TickEnded, TickStarted, Verdict},
    gate::{Reason, Skip, Survey, survey},
    prompt::{self, Offer},
    sleeping,
    state::{CallState, Heard, Phase, Step, Turn},
};

/// Decides what comes next.
pub(crate) fn next(view: View<'_>) -> Next {
    let state = view.state;
    // If a message ends without an answer, its sender learns that before the assistant stops.
    let is_ending = |turn: &Turn| matches!(turn.phase, Phase::Ending(_));
    if !state.stop.is_on()
        && !state.turns.current().is_some_and(is_ending)
        && let Some(cause) = stop_cause(view)
    {
        return Next::Act(outcomes::stop(cause).into());
    }
    if state.stop.is_on()
        && let Some(answered) = delegation::stopped(view)
    {
        return Next::Act(answered.into());
    }
    if let Some(notice) = stop_notice::next(view) {
        return Next::Act(notice);
    }
    match survey(state, view.now) {
        Survey::Rest(Skip::Idle) if let Some(it) = sleeping::falls_asleep(state, view.now) => {
            Next::Act(Event::FellAsleep(it).into())
        }
        Survey::Rest(Skip::Asleep(_)) if let Some(it) = sleeping::wakes(state, view.now) => {
            Next::Act(Event::WokeUp(it).into())
        }
        Survey::Rest(skip) => Next::Rest(skip),
        // A tick that is under way belongs to the actor that asks: an assistant has one actor, and that runs one tick
        // at a time.
        Survey::InTick(turn) => {
            let action = pursuit::with_end(view, turn, in_tick(view, turn));
            Next::Act(reflection::with_end(view, turn, action))
        }
        Survey::Begin(Reason::Expired(_)) => {
            match commitment::expired(view).or_else(|| delegation::overdue(view)) {
                Some(ended) => Next::Act(ended.into()),
                None => Next::Rest(Skip::Idle),
            }
        }
        Survey::Begin(reason) => {
            let started = TickStarted {
                tick: state.counts.ticks.saturating_add(1),
                context: context_of(state, reason.trigger()),
                trigger: reason.trigger(),
            };
            Next::Act(Event::TickStarted(started).into())
        }
    }
}

fn stop_cause(view: View<'_>) -> Option<StopCause> {
    let errors = &view.state.errors;
    if errors.consecutive >= view.config().limits.max_consecutive_errors() {
        return Some(StopCause::ConsecutiveErrors(errors.consecutive));
    }
    if let Some(tool) = errors.failing_tool() {
        return Some(StopCause::FailureRate(tool.to_owned()));
    }
    None
}

fn in_tick(view: View<'_>, turn: &Turn) -> Action {
    if let Some(open) = turn.open_effect() {
        let effect = Effect {
            key: open.key.clone(),
            actor: view.key.clone(),
            tool: open.tool.clone(),
            arguments: open.arguments.clone(),
            reply_to: turn.trigger.message().map(Heard::delivery).cloned(),
            within: open.within.clone(),
        };
        return Action::Call(if view.fresh == Some(&effect.key) {
            OutsideCall::Perform(effect)
        } else {
            OutsideCall::AskAfter(effect)
        });
    }
    if let Phase::Ending(cause) = turn.phase {
        return unanswered::conclude(view, turn, cause);
    }
    if let Some(cause) = unanswered::hopeless(view, turn) {
        return unanswered::end(view, turn, cause).into();
    }
    match (turn.steps.last(), turn.open_call()) {
        (Some(step), Some(call)) => open_call(view, turn, step, call),
        (Some(step), None) if turn.steps_this_tick > 0 => match stop_reason(view, turn, step) {
            Some(ended) => match unanswered::silent(view, turn, &ended) {
                Some(cause) => unanswered::end(view, turn, cause).into(),
                None => commitment::closed(view, turn, ended).into(),
            },
            None => ask(view, turn),
        },
        _ => ask(view, turn),
    }
}

/// What is done about the next call of a reply.
fn open_call(view: View<'_>, turn: &Turn, step: &Step, call: &CallState) -> Action {
    let is_part = step.part_of().is_some();
    let is_free = is_part || step.only_speaks() || step.is_notice();
    if step.is_broken_off() {
        calls::skip_the_rest(view, step, call, BROKEN_OFF).into()
    } else if !may_follow(view, step, call) {
        calls::skip(view, call, ALREADY_ENDED).into()
    } else if budget::is_bookkeeping(view, call) {
        match budget::may_keep_books(view, turn) {
            true => calls::next_call(view, turn, call),
            false => calls::skip(view, call, TOO_MUCH_BOOKKEEPING).into(),
        }
    } else if !budget::may_act(view, turn) && !is_free {
        calls::skip(view, call, TOO_MANY).into()
    } else if view.speaks(&call.call.name) && acts_of_speech(view, step) >= speech_limit(view) {
        calls::skip(view, call, TOO_LONG).into()
    } else {
        calls::next_call(view, turn, call)
    }
}

const ALREADY_ENDED: &str = "not done: the turn had already ended with the call before it";
const BROKEN_OFF: &str = "not done: the part of your answer before this one was not said, as far as is known. What was said \
                          before that was heard: do not repeat it. Say in few words what is missing, or that you \
                          cannot say it";
const TOO_MANY: &str = "not done: so many calls are not made in one tick";
const TOO_MUCH_BOOKKEEPING: &str =
    "not done: so much is not noted or looked up in your memory in one tick";
const TOO_LONG: &str =
    "not done: you have said as much as one reply may say. Say in few words what is missing";

/// How many acts of speech one reply may make.
fn speech_limit(view: View<'_>) -> usize {
    view.config().limits.max_parts()
}

/// How many acts of speech this reply has made.
fn acts_of_speech(view: View<'_>, step: &Step) -> usize {
    let made = step.calls.iter().filter(|call| call.may_be_made());
    made.filter(|call| view.speaks(&call.call.name)).count()
}

/// Whether a call may be made after the calls before it in the same reply. Speech ends the loop at the end of its
/// reply; until then the reply may speak again, look things up, and call tools that may be chained.
fn may_follow(view: View<'_>, step: &Step, call: &CallState) -> bool {
    let is_chained = |category| after(category) == LoopEffect::Continue;
    match loop_end(view, step) {
        None => true,
        Some(StopReason::Noop) => view.speaks(&call.call.name),
        Some(StopReason::TerminalTool) => {
            let tool = view.tools.get(&call.call.name);
            tool.is_some_and(|tool| tool.speech.is_some() || is_chained(tool.category))
        }
        Some(_) => false,
    }
}

/// Why the loop ends after this step, if it does.
fn stop_reason(view: View<'_>, turn: &Turn, step: &Step) -> Option<TickEnded> {
    let closed = |reason| Some(TickEnded::new(reason, None));
    let later = |reason, at| Some(TickEnded::new(reason, Some(at)));
    if step.parse_failed.is_some() {
        return later(StopReason::ParseError, waits::after_error(view, turn));
    }
    if let Some(reason) = loop_end(view, step) {
        return closed(reason);
    }
    // A goal is divided in one step, and bookkeeping does not count as one. The model may only correct what was refused.
    let has_divided = |call: &CallState| call.verdict == Some(Verdict::Success);
    if turn.divides().is_some() && step.calls.iter().any(has_divided) {
        return closed(StopReason::MaxIterations);
    }
    match view.bounds.mode {
        _ if step.only_speaks() && repeats::is_reached(view, turn) => {
            closed(StopReason::RepeatedCall)
        }
        // It was the last step. The reason depends on whether the steps or calls are used up.
        _ if step.only_speaks() && budget::has_used_up(view, turn, 0) => {
            closed(StopReason::MaxIterations)
        }
        _ if step.only_speaks() => closed(StopReason::CriticalTokens),
        ExecutionPattern::ReactLoop => None,
        ExecutionPattern::SingleAction => {
            let next = view.now.plus(view.config().limits.tick_rate());
            later(StopReason::MaxIterations, next)
        }
    }
}

/// Why the answered calls of this step end the loop, if they do.
fn loop_end(view: View<'_>, step: &Step) -> Option<StopReason> {
    // A wait notice does not answer anybody. If only the beginning of an answer was said, it is the model's turn, as
    // after any rejected call.
    if step.is_notice() || step.has_hole() {
        return None;
    }
    // Speech that continues in the next call is not complete yet.
    let over = step.part_of().unwrap_or(step.calls.len());
    let mut end = None;
    for call in step.calls.iter().take(over) {
        let Some(verdict) = call.verdict else { break };
        let tool = view.tools.get(&call.call.name);
        // Words before a look-up announce an answer, which the model gives when it knows the result.
        // In the last step no look-up is made, so the words before it are the answer.
        if !step.only_speaks() && tool.is_some_and(builtin::is_look_up) {
            end = None;
            continue;
        }
        let is_lost = verdict != Verdict::Success && !call.is_unknown();
        match call.category {
            // The model rephrases speech that was not delivered.
            _ if is_lost && view.speaks(&call.call.name) => end = None,
            // A rejected call leaves the turn with the model, so that it can correct the call. A call that may have
            // happened counts as made.
            _ if is_lost => {}
            // Words after it in the same reply are still said.
            _ if call.call.name == NOOP => end = end.or(Some(StopReason::Noop)),
            Some(category) => match after(category) {
                LoopEffect::Continue => {}
                LoopEffect::EndTerminal => end = Some(StopReason::TerminalTool),
                LoopEffect::EndDangerous => return Some(StopReason::DangerousTool),
            },
            None => {}
        }
    }
    end
}

fn ask(view: View<'_>, turn: &Turn) -> Action {
    if sleeping::ends_turn(view.state, turn, view.now) {
        return Event::TickEnded(TickEnded::new(StopReason::Woken, None)).into();
    }
    if let Some(ended) = delegation::pointless(view, turn, 0) {
        return ended.into();
    }
    // This comes before everything that depends on the number of tokens of the instructions.
    if let Some(offered) = offering::of(view, turn) {
        return offered.into();
    }
    if let Some(shorter) = compaction::before_asking(view, turn) {
        return shorter;
    }
    // After a refused prompt, the next prompt holds the message alone.
    if turn.is_to_be_recollected() && turn.failures.refusals == 0 {
        let question = recall_query::question(view, turn);
        return Action::Call(OutsideCall::Recall(Box::new(question)));
    }
    if let Some(told) = delayed::in_outage(view, turn) {
        return told.into();
    }
    if let Some(assessed) = assessing::of(view, turn) {
        return assessed;
    }
    let offer = offer_for(view, turn);
    let preamble = view.preamble();
    // The reservation depends only on the size of the prompt. The prompt itself is built after it, because a prompt
    // shows what is left of a budget.
    if spending::is_to_be_reserved(view) {
        let size = prompt::size(view.state, turn, &preamble, offer);
        return match delegation::pointless(view, turn, size.tokens) {
            Some(ended) => ended.into(),
            None => spending::reserve(view, turn, size),
        };
    }
    let prompt = prompt::build(view.state, turn, &preamble, offer);
    if let Some(ended) = delegation::pointless(view, turn, prompt.tokens) {
        return ended.into();
    }
    Action::Call(OutsideCall::Ask(Box::new(prompt)))
}

/// The tools that the prompt for the next step of a turn offers.
pub(crate) fn offer_for(view: View<'_>, turn: &Turn) -> Offer {
    match budget::is_last(view, turn) || repeats::is_reached(view, turn) {
        true => Offer::Speech,
        false => Offer::All,
    }
}
