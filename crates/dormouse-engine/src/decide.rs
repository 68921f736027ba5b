//! What comes next, as a function of the state.
//!
//! Pure: no I/O, no clock, no chance. An [`Assistant`](crate::Assistant) carries out what is decided here, writes
//! what came of it into the log, and asks again. So a program that was killed anywhere goes on where it was.

mod calls;
mod outcomes;
mod recollect;

use dormouse_contracts::{CallId, Effect, EffectKey, Query, Timestamp, TokenCounter};
use dormouse_tools::{LoopEffect, Registry, after};

pub(crate) use outcomes::{
    Answered, Failed, on_consulted, on_failure, on_observed, on_recollected, on_reply, on_settled,
};

use crate::{
    config::{AssistantConfig, ExecutionPattern},
    event::{
        ContextType, EmergencyStopTriggered, Event, NOOP, StopCause, StopReason, TickEnded,
        TickStarted, Verdict,
    },
    gate::{Skip, gate},
    inward::Consult,
    prompt::{self, Preamble, Prompt},
    state::{State, Step, Turn},
    work::Recollect,
};

/// At this share of the context window, in percent, the loop ends.
const CRITICAL_PERCENT: u64 = 80;
/// At this share of the context window, in percent, the model is told to come to an end.
const WARNING_PERCENT: u64 = 60;
/// How many ticks one message may take. More than this is no outage, and nobody would notice what it costs.
const TICKS_PER_TURN: u32 = 20;

/// Everything a decision may look at.
#[derive(Clone, Copy)]
pub(crate) struct View<'a> {
    pub(crate) state: &'a State,
    pub(crate) config: &'a AssistantConfig,
    pub(crate) tools: &'a Registry,
    pub(crate) preamble: &'a Preamble,
    pub(crate) counter: &'a dyn TokenCounter,
    pub(crate) now: Timestamp,
    /// The effect that this process itself intended and has not begun; any other open one was left behind.
    pub(crate) fresh: Option<&'a EffectKey>,
}

/// What comes next.
#[derive(Debug)]
pub(crate) enum Next {
    /// Nothing, and why.
    Rest(Skip),
    /// These events, without anybody being asked.
    Decided(Vec<Event>),
    /// Ask the model.
    Ask(Box<Prompt>),
    /// Carry out an effect that was just intended.
    Perform(Effect),
    /// Find out what became of an effect that was left behind, and only then carry it out if it is safe.
    AskAfter(Effect),
    /// Look at the world.
    Observe(CallId, Query),
    /// Look up what is worth knowing, before thinking.
    Recollect(Box<Recollect>),
    /// Ask the memory for a call.
    Consult(CallId, Box<Consult>),
}

/// Decides what comes next.
pub(crate) fn next(view: View<'_>) -> Next {
    let state = view.state;
    if state.stopped.is_none()
        && let Some(cause) = stop_cause(view)
    {
        return Next::Decided(vec![Event::EmergencyStopTriggered(
            EmergencyStopTriggered { cause },
        )]);
    }
    match gate(state, view.config.switch, view.now) {
        // The tick under way is this one: there is one actor, and it asks what comes next in its own tick.
        Err(Skip::Collision) => state
            .turn
            .as_ref()
            .map_or(Next::Rest(Skip::Idle), |turn| in_tick(view, turn)),
        Err(skip) => Next::Rest(skip),
        Ok(reason) => Next::Decided(vec![Event::TickStarted(TickStarted {
            tick: state.ticks.saturating_add(1),
            context: ContextType::TickEvent,
            trigger: reason.trigger(),
        })]),
    }
}

fn stop_cause(view: View<'_>) -> Option<StopCause> {
    let errors = &view.state.errors;
    if errors.consecutive >= view.config.limits.max_consecutive_errors() {
        return Some(StopCause::ConsecutiveErrors(errors.consecutive));
    }
    if let Some(tool) = errors.failing_tool() {
        return Some(StopCause::FailureRate(tool.to_owned()));
    }
    let ticks = view.state.turn.as_ref().map_or(0, |turn| turn.ticks);
    (ticks > TICKS_PER_TURN).then_some(StopCause::EndlessTurn(ticks))
}

fn in_tick(view: View<'_>, turn: &Turn) -> Next {
    if let Some(open) = turn.open_effect() {
        let effect = Effect {
            key: open.key.clone(),
            actor: view.config.key.clone(),
            tool: open.tool.clone(),
            arguments: open.arguments.clone(),
        };
        return if view.fresh == Some(&effect.key) {
            Next::Perform(effect)
        } else {
            Next::AskAfter(effect)
        };
    }
    match turn.steps.last() {
        Some(step) if turn.open_call().is_some() => {
            if loop_end(step).is_some() {
                Next::Decided(calls::skip_the_rest(view, step, ALREADY_ENDED))
            } else if turn.calls_this_tick >= call_limit(view) {
                Next::Decided(calls::skip_the_rest(view, step, TOO_MANY))
            } else {
                calls::next_call(view, turn)
            }
        }
        Some(step) if turn.steps_this_tick > 0 => match stop_reason(view, turn, step) {
            Some(ended) => Next::Decided(vec![Event::TickEnded(ended)]),
            None => ask(view, turn),
        },
        _ => ask(view, turn),
    }
}

const ALREADY_ENDED: &str = "not done: the turn had already ended with the call before it";
const TOO_MANY: &str = "not done: so many calls are not made in one tick";

/// How many calls one tick may make.
fn call_limit(view: View<'_>) -> u32 {
    match view.config.pattern {
        ExecutionPattern::SingleAction => 1,
        ExecutionPattern::ReactLoop => view.config.limits.max_iterations(),
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
    if step.misread.is_some() {
        return Some(TickEnded {
            reason: StopReason::ParseError,
            resume_at: Some(outcomes::after_error(view)),
        });
    }
    if let Some(reason) = loop_end(step) {
        return closed(reason);
    }
    let limit = view.config.limits.max_iterations();
    match view.config.pattern {
        ExecutionPattern::ReactLoop if turn.steps_this_tick.max(turn.calls_this_tick) >= limit => {
            closed(StopReason::MaxIterations)
        }
        ExecutionPattern::ReactLoop => None,
        ExecutionPattern::SingleAction if turn.steps.len() >= limit as usize => {
            closed(StopReason::MaxIterations)
        }
        ExecutionPattern::SingleAction => Some(TickEnded {
            reason: StopReason::MaxIterations,
            resume_at: Some(view.now.plus(view.config.limits.tick_rate())),
        }),
    }
}

/// Whether a call of this step that was answered ends the loop.
fn loop_end(step: &Step) -> Option<StopReason> {
    step.calls.iter().find_map(|call| {
        let unknown = call
            .effect
            .as_ref()
            .is_some_and(|e| e.outcome == Some(dormouse_contracts::Outcome::Unknown));
        match (call.verdict?, call.category?) {
            (Verdict::Success, _) if call.call.name == NOOP => Some(StopReason::Noop),
            // A rejected call leaves the word with the model, so that it can mend it. One that may have happened
            // counts as made.
            (Verdict::Failure, _) if !unknown => None,
            (Verdict::Skipped, _) => None,
            (_, category) => match after(category) {
                LoopEffect::Continue => None,
                LoopEffect::EndTerminal => Some(StopReason::TerminalTool),
                LoopEffect::EndDangerous => Some(StopReason::DangerousTool),
            },
        }
    })
}

fn ask(view: View<'_>, turn: &Turn) -> Next {
    if has_been_told_to_end(view, turn) {
        return Next::Decided(vec![Event::TickEnded(TickEnded {
            reason: StopReason::CriticalTokens,
            resume_at: None,
        })]);
    }
    // A prompt that was refused is made again with the message alone.
    if turn.recollected.is_none() && turn.refusals == 0 {
        return Next::Recollect(Box::new(recollect::question(view, turn)));
    }
    let prompt = prompt::build(view.state, turn, view.config, view.preamble);
    Next::Ask(Box::new(prompt))
}

/// Whether the context window was full before the last step already. The step that fills it tells the model to give
/// its final response, and the model is asked for that once. A message is never dropped unasked.
fn has_been_told_to_end(view: View<'_>, turn: &Turn) -> bool {
    let [.., _, last] = turn.steps.as_slice() else {
        return false;
    };
    let tokens = prompt::tokens(view.state, turn, view.config, view.preamble);
    // By the configured window, since where a smaller one was learnt meanwhile the model has not been told.
    let window = view.config.limits.max_context_tokens();
    percent_of(window, tokens.saturating_sub(last.tokens)) >= CRITICAL_PERCENT
}

/// How much of the context window the next prompt takes, together with so many tokens more.
fn percent(view: View<'_>, turn: &Turn, more: u32) -> u64 {
    let tokens = prompt::tokens(view.state, turn, view.config, view.preamble);
    let window = prompt::window(view.state, view.config, view.preamble);
    percent_of(window, tokens.saturating_add(more))
}

fn percent_of(window: u32, tokens: u32) -> u64 {
    u64::from(tokens) * 100 / u64::from(window).max(1)
}

/// What the model is told about its use of the context window in a result of so many tokens, if it should be told
/// anything.
fn advisory(view: View<'_>, result: u32) -> Option<&'static str> {
    match percent(view, view.state.turn.as_ref()?, result) {
        CRITICAL_PERCENT.. => Some("Provide final response now"),
        WARNING_PERCENT.. => Some("Consider concluding soon"),
        _ => None,
    }
}
