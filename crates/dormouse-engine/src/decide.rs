//! What comes next, as a function of the state.
//!
//! Pure: no I/O, no clock, no randomness. An [`Assistant`](crate::Assistant) carries out each decision, writes the
//! result into the log, and asks again. So a program that was killed at any point resumes where it was.

mod calls;
mod delayed;
mod outcomes;
mod perception;
mod prepared;
mod recall_query;
mod unanswered;

use std::time::Duration;

use dormouse_contracts::{AssistantId, CallId, Effect, EffectKey, Query, Timestamp, TokenCounter};
use dormouse_tools::{LoopEffect, Registry, after};

pub(crate) use calls::{answer_with, without_advice};
pub(crate) use delayed::on_delay;
pub(crate) use outcomes::{
    Answered, Asked, Failed, noted, on_failure, on_memory_answer, on_observed, on_recollected,
    on_reply, on_settled, on_world_failure,
};
pub(crate) use perception::{classification, perceived};
pub(crate) use prepared::Prepared;

use crate::{
    builtin::{self, MemoryQuery},
    config::{ExecutionPattern, Settings},
    event::{
        ContextType, EmergencyStopTriggered, Event, NOOP, StopCause, StopReason, TickEnded,
        TickStarted, Verdict,
    },
    gate::{Skip, gate},
    prompt::{self, Offer, Preamble, Prompt},
    state::{CallState, Heard, Phase, State, Step, Turn},
    work::RecallQuery,
};

/// At this share of the context window, in percent, the loop ends.
const CRITICAL_PERCENT: u64 = 80;
/// At this share of the context window, in percent, the model is advised to finish.
const WARNING_PERCENT: u64 = 60;

/// Everything a decision may look at.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) key: &'a AssistantId,
    pub(crate) state: &'a State,
    pub(crate) tools: &'a Registry,
    pub(crate) preamble: &'a Preamble,
    pub(crate) counter: &'a dyn TokenCounter,
    /// The time of the events that are decided.
    pub(crate) now: Timestamp,
    /// The effect that this process itself intended and has not begun. Any other open effect was left by an earlier
    /// process or tick.
    pub(crate) fresh: Option<&'a EffectKey>,
}

impl<'a> View<'a> {
    /// The operator's settings.
    fn config(&self) -> &'a Settings {
        &self.state.configuration.settings
    }

    /// How long somebody has waited since then. The time in which the program was off does not count, because the model
    /// was not asked.
    fn waited_since(&self, since: Timestamp) -> Duration {
        let awake_since = self.state.configuration.awake_since.unwrap_or(since);
        self.now.since(since.max(awake_since))
    }
}

/// What comes next.
#[derive(Debug)]
pub(crate) enum Next {
    /// Nothing, and why.
    Rest(Skip),
    /// These events; no call to the outside is needed.
    Decided(Vec<Event>),
    /// A call to the outside.
    Outside(OutsideCall),
}

/// A call to the model, the world or the memory. One at a time is under way.
#[derive(Debug)]
pub(crate) enum OutsideCall {
    /// Ask the model.
    Ask(Box<Prompt>),
    /// Carry out an effect that was just intended.
    Perform(Effect),
    /// Find out what became of an effect that was left behind, and carry it out only if that is safe.
    AskAfter(Effect),
    /// Look at the world.
    Observe(CallId, Query),
    /// Search the memory for a turn, before the model is asked.
    Recall(Box<RecallQuery>),
    /// Ask the memory for a call.
    AskMemory(CallId, Box<MemoryQuery>),
}

/// Decides what comes next.
pub(crate) fn next(view: View<'_>) -> Next {
    let state = view.state;
    // If a message ends without an answer, its sender learns that before the assistant stops.
    let is_ending = |turn: &Turn| matches!(turn.phase, Phase::Ending(_));
    if !state.stop.is_on()
        && !state.turns.current().is_some_and(is_ending)
        && let Some(cause) = stop_cause(view)
    {
        return Next::Decided(vec![Event::EmergencyStopTriggered(
            EmergencyStopTriggered { cause },
        )]);
    }
    match gate(state, view.now) {
        // The tick under way is this one: there is one actor, and it asks what comes next in its own tick.
        Err(Skip::Collision) => state
            .turns
            .current()
            .map_or(Next::Rest(Skip::Idle), |turn| in_tick(view, turn)),
        Err(skip) => Next::Rest(skip),
        Ok(reason) => Next::Decided(vec![Event::TickStarted(TickStarted {
            tick: state.counts.ticks.saturating_add(1),
            context: ContextType::TickEvent,
            trigger: reason.trigger(),
        })]),
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

fn in_tick(view: View<'_>, turn: &Turn) -> Next {
    if let Some(open) = turn.open_effect() {
        let effect = Effect {
            key: open.key.clone(),
            actor: view.key.clone(),
            tool: open.tool.clone(),
            arguments: open.arguments.clone(),
            reply_to: turn.trigger.message().map(Heard::delivery).cloned(),
        };
        return if view.fresh == Some(&effect.key) {
            Next::Outside(OutsideCall::Perform(effect))
        } else {
            Next::Outside(OutsideCall::AskAfter(effect))
        };
    }
    if let Phase::Ending(cause) = turn.phase {
        return unanswered::conclude(view, turn, cause);
    }
    if let Some(cause) = unanswered::hopeless(view, turn) {
        return Next::Decided(unanswered::end(view, turn, cause));
    }
    match (turn.steps.last(), turn.open_call()) {
        (Some(step), Some(call)) => {
            let is_part = step.part_of().is_some();
            let is_free = is_part || step.only_speaks() || step.is_notice();
            if step.is_broken_off() {
                Next::Decided(calls::skip_the_rest(view, step, BROKEN_OFF))
            } else if !may_follow(view, step, call) {
                Next::Decided(vec![calls::skip(view, call, ALREADY_ENDED)])
            } else if turn.calls_this_tick >= call_limit(view) && !is_free {
                Next::Decided(calls::skip_the_rest(view, step, TOO_MANY))
            } else if speaks(view, call) && acts_of_speech(view, step) >= speech_limit(view) {
                Next::Decided(vec![calls::skip(view, call, TOO_LONG)])
            } else {
                calls::next_call(view, turn, call)
            }
        }
        (Some(step), None) if turn.steps_this_tick > 0 => match stop_reason(view, turn, step) {
            Some(ended) => Next::Decided(match unanswered::silent(view, turn, &ended) {
                Some(cause) => unanswered::end(view, turn, cause),
                None => vec![Event::TickEnded(ended)],
            }),
            None => ask(view, turn),
        },
        _ => ask(view, turn),
    }
}

const ALREADY_ENDED: &str = "not done: the turn had already ended with the call before it";
const BROKEN_OFF: &str = "not done: the part of your answer before this one was not said, as far as is known. What was said \
                          before that was heard: do not repeat it. Say in few words what is missing, or that you \
                          cannot say it";
const TOO_MANY: &str = "not done: so many calls are not made in one tick";
const TOO_LONG: &str =
    "not done: you have said as much as one reply may say. Say in few words what is missing";

/// How many calls one tick may make.
fn call_limit(view: View<'_>) -> u32 {
    match view.config().pattern {
        ExecutionPattern::SingleAction => 1,
        ExecutionPattern::ReactLoop => view.config().limits.max_iterations(),
    }
}

/// How many acts of speech one reply may make.
fn speech_limit(view: View<'_>) -> usize {
    view.config().limits.max_parts()
}

fn speaks(view: View<'_>, call: &CallState) -> bool {
    let tool = view.tools.get(&call.call.name);
    tool.is_some_and(|tool| tool.speech.is_some())
}

/// How many acts of speech this reply has made.
fn acts_of_speech(view: View<'_>, step: &Step) -> usize {
    let made = step.calls.iter().filter(|call| call.may_be_made());
    made.filter(|call| speaks(view, call)).count()
}

/// Whether a call may be made after the calls before it in the same reply. Speech ends the loop at the end of its
/// reply; until then the reply may speak again, look things up, and call tools that may be chained.
fn may_follow(view: View<'_>, step: &Step, call: &CallState) -> bool {
    let is_chained = |category| after(category) == LoopEffect::Continue;
    match loop_end(view, step) {
        None => true,
        Some(StopReason::Noop) => speaks(view, call),
        Some(StopReason::TerminalTool) => {
            let tool = view.tools.get(&call.call.name);
            tool.is_some_and(|tool| tool.speech.is_some() || is_chained(tool.category))
        }
        Some(_) => false,
    }
}

/// Why the loop ends after this step, if it does.
fn stop_reason(view: View<'_>, turn: &Turn, step: &Step) -> Option<TickEnded> {
    let closed = |reason| {
        Some(TickEnded {
            reason,
            resume_at: None,
        })
    };
    if step.parse_failed.is_some() {
        return Some(TickEnded {
            reason: StopReason::ParseError,
            resume_at: Some(outcomes::after_error(view, turn)),
        });
    }
    if let Some(reason) = loop_end(view, step) {
        return closed(reason);
    }
    match view.config().pattern {
        // It was the last step. The reason depends on whether the steps or calls are used up.
        _ if step.only_speaks() && has_used_up(view, turn, 0) => closed(StopReason::MaxIterations),
        _ if step.only_speaks() => closed(StopReason::CriticalTokens),
        ExecutionPattern::ReactLoop => None,
        ExecutionPattern::SingleAction => Some(TickEnded {
            reason: StopReason::MaxIterations,
            resume_at: Some(view.now.plus(view.config().limits.tick_rate())),
        }),
    }
}

/// Why the calls of this step that were answered end the loop, if they do.
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
        if tool.is_some_and(builtin::is_look_up) {
            end = None;
            continue;
        }
        let is_lost = verdict != Verdict::Success && !call.is_unknown();
        match call.category {
            // The model rephrases speech that was not delivered.
            _ if is_lost && speaks(view, call) => end = None,
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

fn ask(view: View<'_>, turn: &Turn) -> Next {
    // After a refused prompt, the next prompt holds the message alone.
    if turn.recollected.is_none() && turn.failures.refusals == 0 {
        let question = recall_query::question(view, turn);
        return Next::Outside(OutsideCall::Recall(Box::new(question)));
    }
    if let Some(told) = delayed::in_outage(view, turn) {
        return Next::Decided(vec![told]);
    }
    let offer = if is_last(view, turn) {
        Offer::Speech
    } else {
        Offer::All
    };
    let prompt = prompt::build(view.state, turn, view.config(), view.preamble, offer);
    Next::Outside(OutsideCall::Ask(Box::new(prompt)))
}

/// Whether the next step is the last one, in which the model can only speak: only one step or call is left, or the
/// context window is full. The first step is never the last, so that no message is dropped unasked.
fn is_last(view: View<'_>, turn: &Turn) -> bool {
    let is_first = turn.own_steps().next().is_none();
    !is_first && (has_used_up(view, turn, 1) || percent(view, turn, 0) >= CRITICAL_PERCENT)
}

/// Whether all steps or calls are used up after `more` further steps.
fn has_used_up(view: View<'_>, turn: &Turn, more: u32) -> bool {
    let limit = view.config().limits.max_iterations();
    let steps = match view.config().pattern {
        ExecutionPattern::ReactLoop => turn.steps_this_tick,
        ExecutionPattern::SingleAction => {
            u32::try_from(turn.own_steps().count()).unwrap_or(u32::MAX)
        }
    };
    let calls = match view.config().pattern {
        ExecutionPattern::ReactLoop => turn.calls_this_tick,
        // Each tick has its own limit of one call.
        ExecutionPattern::SingleAction => 0,
    };
    (steps > 0 && steps.saturating_add(more) >= limit) || calls >= limit
}

/// The share of the context window, in percent, that the next prompt takes with `more` further tokens.
fn percent(view: View<'_>, turn: &Turn, more: u32) -> u64 {
    let tokens = prompt::tokens(view.state, turn, view.config(), view.preamble);
    let window = prompt::window(view.state, view.config(), view.preamble);
    percent_of(window, tokens.saturating_add(more))
}

fn percent_of(window: u32, tokens: u32) -> u64 {
    u64::from(tokens) * 100 / u64::from(window).max(1)
}

/// The advice about its use of the context window that the model gets in a result of `result` tokens, if it needs any.
fn advisory(view: View<'_>, result: u32) -> Option<&'static str> {
    let turn = view.state.turns.current()?;
    match percent(view, turn, result) {
        _ if has_used_up(view, turn, 1) => Some("Provide final response now"),
        CRITICAL_PERCENT.. => Some("Provide final response now"),
        WARNING_PERCENT.. => Some("Consider concluding soon"),
        _ => None,
    }
}
