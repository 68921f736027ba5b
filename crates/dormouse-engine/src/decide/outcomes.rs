//! What follows from an answer of the model or the world.

use std::time::Duration;

use dormouse_contracts::{
    CallId, ChatReply, EffectKey, ModelErrorKind, ModelName, Outcome, Rejection, Timestamp,
};
use serde_json::{Value, json};

use super::{View, calls};
use crate::{
    event::{
        Call, EffectSettled, EmergencyStopTriggered, Event, Misread, ModelFailed, Replied,
        StopCause, StopReason, TickEnded, Verdict,
    },
    reply::{self, RawCall, Reading},
};

/// The longest wait after an error.
const LONGEST_WAIT: Duration = Duration::from_secs(300);

/// An answer of the model, and what it took to get it.
pub(crate) struct Answered {
    pub(crate) model: ModelName,
    pub(crate) prompt_tokens: u32,
    pub(crate) duration: Duration,
}

fn milliseconds(duration: Duration) -> f64 {
    duration.as_secs_f64() * 1_000.0
}

/// The events that follow from a reply.
pub(crate) fn on_reply(view: View<'_>, reply: ChatReply, answered: Answered) -> Vec<Event> {
    let Some(turn) = &view.state.turn else {
        return Vec::new();
    };
    let is_tool = |name: &str| view.tools.get(name).is_some();
    let reading = reply::read(&reply, view.config.tool_calling, &turn.trigger, is_tool);
    let (calls, note) = match reading {
        Reading::Calls(calls) => (named(view, calls), None),
        Reading::Unreadable(note) => (Vec::new(), Some(note)),
    };
    let told: usize = calls
        .iter()
        .map(|call| call.name.len() + call.arguments.len())
        .sum();
    let counted = |text: &str| view.counter.count(text).tokens;
    let tokens = calls.iter().fold(
        if told > 0 { 0 } else { counted(&reply.content) },
        |sum, call| {
            sum.saturating_add(counted(&call.name))
                .saturating_add(counted(&call.arguments))
        },
    );
    let Answered {
        model,
        prompt_tokens,
        duration,
    } = answered;
    let duration_ms = milliseconds(duration);
    let mut events = vec![Event::Replied(Replied {
        model,
        reply,
        calls,
        tokens,
        prompt_tokens,
        duration_ms,
    })];
    if let Some(note) = note {
        let tokens = counted(note);
        events.push(Event::Misread(Misread {
            note: note.to_owned(),
            tokens,
        }));
    }
    events
}

/// Gives the calls of a reply ids of our own: unique in the whole conversation, whatever the provider sent.
fn named(view: View<'_>, calls: Vec<RawCall>) -> Vec<Call> {
    let place = view.state.seq.next();
    calls
        .into_iter()
        .zip(0_u32..)
        .filter_map(|(RawCall { name, arguments }, index)| {
            let id = CallId::try_new(format!("call_{place}_{index}")).ok()?;
            Some(Call {
                id,
                name,
                arguments,
            })
        })
        .collect()
}

/// The events that follow when the model could not be reached, or refused.
pub(crate) fn on_failure(
    view: View<'_>,
    kind: ModelErrorKind,
    attempts: u32,
    duration: Duration,
) -> Vec<Event> {
    let duration_ms = milliseconds(duration);
    let mut events = vec![Event::ModelFailed(ModelFailed {
        kind,
        attempts,
        duration_ms,
    })];
    let wait = match kind {
        ModelErrorKind::RateLimited(Some(pause)) => {
            view.now.plus(pause).max(after_next_error(view))
        }
        _ => after_next_error(view),
    };
    events.push(Event::TickEnded(TickEnded {
        reason: StopReason::LlmError,
        resume_at: Some(wait),
    }));
    if kind == ModelErrorKind::Auth {
        let cause = StopCause::Credentials;
        events.push(Event::EmergencyStopTriggered(EmergencyStopTriggered {
            cause,
        }));
    }
    events
}

/// When to go on after the errors so far: one tick later, twice as long after each further one.
pub(super) fn after_error(view: View<'_>) -> Timestamp {
    wait(view, view.state.errors.consecutive)
}

fn after_next_error(view: View<'_>) -> Timestamp {
    wait(view, view.state.errors.consecutive.saturating_add(1))
}

fn wait(view: View<'_>, errors: u32) -> Timestamp {
    let factor = 1_u32
        .checked_shl(errors.saturating_sub(1))
        .unwrap_or(u32::MAX);
    view.now.plus(
        view.config
            .limits
            .tick_rate()
            .saturating_mul(factor)
            .min(LONGEST_WAIT),
    )
}

/// The event that follows when an effect's outcome is known, or known to be unknowable.
pub(crate) fn on_settled(view: View<'_>, key: EffectKey, outcome: Outcome) -> Vec<Event> {
    let captured = view
        .state
        .turn
        .as_ref()
        .and_then(|turn| turn.open_effect())
        .map(|effect| effect.captured.as_str());
    let mut content = match &outcome {
        Outcome::Done(receipt) => {
            json!({"success": true, "outcome": "done", "result": receipt.detail})
        }
        Outcome::Rejected(Rejection { reason }) => {
            json!({"success": false, "outcome": "rejected", "error": reason})
        }
        Outcome::Unknown => json!({
            "success": false,
            "outcome": "unknown",
            "error": "it cannot be told whether this happened; it will not be repeated",
        }),
    };
    if let (Some(captured), Value::Object(fields)) =
        (captured.filter(|text| !text.is_empty()), &mut content)
    {
        fields.insert("output".to_owned(), captured.into());
    }
    let (content, tokens) = calls::content_for_model(view, content);
    vec![Event::EffectSettled(EffectSettled {
        key,
        outcome,
        content,
        tokens,
    })]
}

/// The event that follows from a look at the world.
pub(crate) fn on_observed(
    view: View<'_>,
    id: &CallId,
    seen: Result<Value, Rejection>,
) -> Vec<Event> {
    let open = view
        .state
        .turn
        .as_ref()
        .and_then(|turn| turn.open_call())
        .filter(|call| call.id() == id);
    let Some(call) = open else { return Vec::new() };
    let (verdict, content) = match seen {
        Ok(value) => (Verdict::Success, calls::success(&value)),
        Err(Rejection { reason }) => (Verdict::Failure, calls::failure(&reason)),
    };
    vec![calls::answer(view, call, verdict, content)]
}
