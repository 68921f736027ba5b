//! What follows from an answer of the model or the world.

use dormouse_contracts::{
    Audience, Author, CallId, ChatReply, EffectKey, FinishReason, Message, ModelErrorKind,
    ModelName, Outcome, Receipt, Rejection, Trust, WorldErrorKind,
};
use dormouse_entities::EntityChange;
use dormouse_redact::clean_error;
use dormouse_text::{beginning_bytes, escape_template_tokens, floor_char_boundary};
use serde_json::{Value, json};

use super::{
    calls, naming, stop_notice, unanswered,
    view::View,
    waits::{self, Failed},
};
use crate::{
    builtin::{self, MemoryAnswer},
    event::{
        ContextLimit, EffectSettled, EmergencyStopTriggered, EntityChanged, Event, ModelFailed,
        Omitted, ParseFailed, RecalledLine, Recollected, Replied, StopCause, StopReason, TickEnded,
        UnansweredCause, Verdict, WorldFailed,
    },
    prompt::{self, Offer, Prompt},
    reply::{self, Reading},
    results,
    state::{CallState, Turn},
    work::{Done, Seen, WorldFailure},
};

/// If a world could be reached this many times without answering an act, its next such failure settles the act as
/// unknown.
const UNANSWERED: u32 = 4;

/// The longest reply that is kept whole, in bytes. Longer replies may not fit into the log.
const REPLY_LIMIT: usize = 512 * 1024;
/// The longest reason of a failure that is kept, in bytes.
const REASON_LIMIT: usize = 500;
/// The largest receipt that is kept, in bytes of JSON, and how deep it may be nested.
const RECEIPT_LIMIT: usize = 256 * 1024;
const RECEIPT_DEPTH: usize = 64;

fn size(reply: &ChatReply) -> usize {
    let calls = reply
        .tool_calls
        .iter()
        .map(|call| call.name.len() + call.arguments.len());
    let said = reply.content.len().saturating_add(reply.reasoning.len());
    calls.fold(said, usize::saturating_add)
}

/// An answer of the model, and what it took to get it.
pub(crate) struct Answered {
    pub(crate) model: ModelName,
    pub(crate) asked: Asked,
    pub(crate) duration_ms: f64,
}

/// What a decision needs to know of a prompt when the model has answered it.
#[derive(Clone, Debug)]
pub(crate) struct Asked {
    pub(crate) tokens: u32,
    pub(crate) length: prompt::Length,
    /// Whether the model can only speak.
    pub(crate) speech_only: bool,
    /// The hash of the request.
    pub(crate) hash: String,
    /// The lowest trust of everything that it may show. More may be overheard while the model answers.
    pub(crate) least_shown: Trust,
    /// Who may hear what is made of it.
    pub(crate) within: Option<Audience>,
    /// What it does not show for want of room.
    pub(crate) omitted: Omitted,
}

impl Asked {
    pub(crate) fn of(prompt: &Prompt) -> Self {
        Self {
            tokens: prompt.tokens,
            length: prompt::Length::of(prompt),
            speech_only: prompt.offer == Offer::Speech,
            hash: prompt.hash(),
            least_shown: prompt.least_shown,
            within: prompt.within.clone(),
            omitted: prompt.omitted.clone(),
        }
    }
}

/// The events that follow from a reply.
pub(crate) fn on_reply(view: View<'_>, reply: ChatReply, answered: Answered) -> Vec<Event> {
    let Some(turn) = view.state.turns.current() else {
        return Vec::new();
    };
    let reply = shortened_reply(reply);
    if size(&reply) > REPLY_LIMIT {
        let failed = Failed {
            kind: ModelErrorKind::Malformed,
            attempts: 1,
            prompt: None,
            duration_ms: answered.duration_ms,
            service: None,
            reason: None,
        };
        return on_failure(view, &failed);
    }
    let is_tool = |name: &str| view.tools.get(name).is_some();
    let tools: Vec<_> = view.tools.specs().collect();
    let form = view.config().tool_calling;
    let was_shown = |text: &str| was_shown(view, turn, text);
    let reading = reply::read(&reply, form, &turn.trigger, is_tool, &tools, was_shown);
    let is_unsayable = reading == Reading::Unsayable;
    let (calls, left_out, note) = match reading {
        Reading::Calls { calls, left_out } => (naming::named(view, calls), left_out, None),
        Reading::Unreadable(note) => (Vec::new(), 0, Some(note)),
        Reading::Unsayable => (Vec::new(), 0, None),
    };
    let left_out = u32::try_from(left_out).unwrap_or(u32::MAX);
    // Counts a text in the form in which the model sees it again.
    let counted = |text: &str| view.counter.count(&escape_template_tokens(text)).tokens;
    // If the calls were parsed out of the text, they already hold all that the text said.
    let text_is_shown = calls.is_empty() || !reply.tool_calls.is_empty();
    let text = if text_is_shown {
        counted(&reply.content)
    } else {
        0
    };
    let text = match left_out {
        0 => text,
        _ => text.saturating_add(counted(&reply::left_out_note(left_out))),
    };
    let tokens = calls.iter().fold(text, |sum, call| {
        sum.saturating_add(counted(&call.name))
            .saturating_add(counted(&call.arguments))
    });
    let Answered {
        model,
        asked,
        duration_ms,
    } = answered;
    let (trust, sources) = builtin::support_of_reply(&reply.content, &calls, view.state, turn);
    let mut events = vec![Event::Replied(Replied {
        model,
        reply,
        calls,
        left_out,
        tokens,
        prompt_tokens: asked.tokens,
        prompt_hash: asked.hash,
        duration_ms,
        purpose: turn.trigger.purpose(),
        trust,
        least_shown: asked.least_shown,
        speech_only: asked.speech_only,
        within: asked.within,
        omitted: asked.omitted,
        sources: Some(sources),
    })];
    if is_unsayable {
        let end = unanswered::end(view, turn, UnansweredCause::NoSpeech);
        events.extend(end.into_events());
    }
    if let Some(note) = note {
        let tokens = counted(note);
        events.push(Event::ParseFailed(ParseFailed {
            note: note.to_owned(),
            tokens,
        }));
    }
    events
}

/// Whether somebody wrote a text in what the model is shown in this turn.
fn was_shown(view: View<'_>, turn: &Turn, text: &str) -> bool {
    let prompt = prompt::build(view.state, turn, &view.preamble(), Offer::All);
    let mut messages = prompt.request.messages.iter();
    messages.any(|message| match message {
        Message::User { content } | Message::Tool { content, .. } => {
            reply::is_written_in(text, content)
        }
        _ => false,
    })
}

/// Cuts a reply to the length that the log can take. Text that is cut counts as cut off by the model.
pub(crate) fn shortened_reply(mut reply: ChatReply) -> ChatReply {
    if size(&reply) > REPLY_LIMIT {
        reply.reasoning = beginning_bytes(&reply.reasoning, REASON_LIMIT).to_owned();
    }
    if size(&reply) > REPLY_LIMIT && reply.tool_calls.is_empty() {
        reply.content = beginning_bytes(&reply.content, REPLY_LIMIT / 2).to_owned();
        reply.finish = FinishReason::Length;
    }
    reply
}

/// The events that follow when the model could not be reached, or refused.
pub(crate) fn on_failure(view: View<'_>, failed: &Failed) -> Vec<Event> {
    let kind = failed.kind;
    let context_limit = context_limit(view, failed);
    let mut events = vec![Event::ModelFailed(ModelFailed {
        kind,
        attempts: failed.attempts,
        duration_ms: failed.duration_ms,
        reason: failed.reason.as_deref().map(shortened),
        service: failed.service.clone(),
        paused_until: waits::paused_until(view, failed),
        context_limit,
    })];
    if context_limit.is_some() {
        // The tick goes on with a shorter prompt. Each one is shorter than the one before, so this ends.
        return events;
    }
    let wait = waits::wait_until(view, failed).max(waits::after_failed_call(view, kind));
    // A prompt that is refused is tried once more with nothing in it but the message. If that is refused too, or
    // nothing is left to shorten, the message is given up. Otherwise it would block all others for ever.
    let refused_before = view
        .state
        .turns
        .current()
        .is_some_and(|turn| turn.failures.refusals > 0);
    let too_long = failed.prompt.map_or(0, |length| length.prompt());
    let refused = match kind {
        ModelErrorKind::ContextExceeded => Some(UnansweredCause::WindowTooSmall(too_long)),
        _ => (kind.refuses_the_prompt() && refused_before).then_some(UnansweredCause::Refused),
    };
    let cause = refused.or_else(|| unanswered::outlasted(view, kind));
    if let (Some(cause), Some(turn)) = (cause, view.state.turns.current()) {
        events.extend(unanswered::end(view, turn, cause).into_events());
        return events;
    }
    let ended = TickEnded::new(StopReason::LlmError, Some(wait));
    events.push(Event::TickEnded(ended));
    if kind == ModelErrorKind::Auth {
        let cause = StopCause::Credentials;
        events.push(stop(cause));
    }
    events
}

/// The event by which the assistant stops itself.
pub(super) fn stop(cause: StopCause) -> Event {
    Event::EmergencyStopTriggered(EmergencyStopTriggered {
        cause,
        reason: None,
    })
}

/// The beginning of a reason, cut to the length that is kept.
fn shortened(reason: &str) -> String {
    beginning_bytes(reason, REASON_LIMIT).to_owned()
}

/// How long the next prompt may be, if this one was too long and a shorter one can be made.
fn context_limit(view: View<'_>, failed: &Failed) -> Option<ContextLimit> {
    let turn = view.state.turns.current()?;
    let length = failed.prompt?;
    if failed.kind != ModelErrorKind::ContextExceeded {
        return None;
    }
    let preamble_within = |tokens| view.preamble_within(tokens);
    prompt::shrink(view.state, turn, preamble_within, length)
}

/// An answer of the world that is small enough to be looked through for secrets and kept. A tool may return anything.
pub(crate) fn within_limits(done: Done) -> Done {
    match done {
        Done::Settled { key, outcome } => Done::Settled {
            key,
            outcome: bounded(outcome),
        },
        Done::Observed {
            call,
            seen: Seen::Shown(value),
        } => {
            let seen = match is_deeper(&value, RECEIPT_DEPTH) {
                true => Seen::NoAnswer("the answer was nested too deeply".to_owned()),
                false => Seen::Shown(results::beginning_of(value, RECEIPT_LIMIT)),
            };
            Done::Observed { call, seen }
        }
        other => other,
    }
}

/// The event that follows when an effect's outcome is known, or will never be known.
pub(crate) fn on_settled(view: View<'_>, key: EffectKey, outcome: Outcome) -> Vec<Event> {
    if let Some(settled) = stop_notice::on_settled(view, &key, &outcome) {
        return vec![settled];
    }
    let captured = view
        .state
        .turns
        .current()
        .and_then(Turn::open_effect)
        .filter(|effect| effect.key == key)
        .map(|effect| effect.captured.as_str());
    let outcome = bounded(outcome);
    let mut content = match &outcome {
        Outcome::Done(receipt) => {
            json!({"success": true, "outcome": "done", "result": receipt.detail})
        }
        Outcome::Rejected(Rejection { reason, .. }) => {
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

/// The events that follow when the world could not be reached. Nothing was refused, so the call stays open: it is made
/// again by a later tick.
pub(crate) fn on_world_failure(view: View<'_>, failure: &WorldFailure) -> Vec<Event> {
    if let Some(settled) = stop_notice::on_world_failure(view, failure) {
        return vec![settled];
    }
    let Some(turn) = view.state.turns.current() else {
        return Vec::new();
    };
    let is_silent = failure.kind == WorldErrorKind::Unanswered;
    if is_silent
        && turn.world.silences >= UNANSWERED
        && let Some(effect) = turn.open_effect()
    {
        // The world can be reached and still never answers this act, so nobody knows what the act did.
        return on_settled(view, effect.key.clone(), Outcome::Unknown);
    }
    let Some(call) = turn.open_call() else {
        return Vec::new();
    };
    let failed = Event::WorldFailed(WorldFailed {
        call: call.id().clone(),
        reason: failure.reason.as_deref().map(shortened),
        silent: is_silent,
    });
    let pause = waits::for_the_world(view, turn);
    let ended = TickEnded::new(StopReason::WorldUnreachable, Some(pause));
    vec![failed, Event::TickEnded(ended)]
}

/// An outcome that fits into the log and can be read back. For a receipt that is too large or too deep, only that fact
/// is kept.
pub(super) fn bounded(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Done(Receipt {
            detail,
            last_output,
            heard_by,
        }) => {
            let detail = if is_deeper(&detail, RECEIPT_DEPTH) {
                json!({"left_out": "the world's answer was nested too deeply"})
            } else {
                match results::is_longer(&detail, RECEIPT_LIMIT) {
                    true => json!({"left_out_bytes": detail.to_string().len()}),
                    false => detail,
                }
            };
            Outcome::Done(Receipt {
                detail,
                last_output,
                heard_by: heard_by.filter(|all| !all.is_too_long()),
            })
        }
        Outcome::Rejected(mut rejection) => {
            let reason = &mut rejection.reason;
            reason.truncate(floor_char_boundary(reason, RECEIPT_LIMIT));
            if let Some(heard_by) = rejection.heard_by.take_if(|all| all.is_too_long()) {
                // So many listeners count as everyone.
                rejection.heard_by = Some(heard_by.union(&Audience::Public));
            }
            Outcome::Rejected(rejection)
        }
        Outcome::Unknown => Outcome::Unknown,
    }
}

/// Whether a value is nested deeper than `limit`. Goes level by level, so that no depth overflows the stack.
fn is_deeper(value: &Value, limit: usize) -> bool {
    let mut level = vec![value];
    for _ in 0..limit {
        level = level
            .into_iter()
            .flat_map(|value| match value {
                Value::Array(items) => items.iter().collect::<Vec<_>>(),
                Value::Object(fields) => fields.values().collect(),
                Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => Vec::new(),
            })
            .collect();
        if level.is_empty() {
            return false;
        }
    }
    true
}

/// The event that follows from a look at the world.
pub(crate) fn on_observed(view: View<'_>, id: &CallId, seen: Seen) -> Vec<Event> {
    let open = view
        .state
        .turns
        .current()
        .and_then(Turn::open_call)
        .filter(|call| call.id() == id);
    let Some(call) = open else { return Vec::new() };
    let (verdict, content) = match seen {
        Seen::Shown(value) => (Verdict::Success, calls::success(&value)),
        Seen::Refused(Rejection { reason, .. }) => (Verdict::Failure, calls::failure(&reason)),
        Seen::NoAnswer(why) => {
            // The model may say it aloud.
            let content = results::bounded(calls::failure(&clean_error(&why)));
            return vec![calls::unanswered(view, call, content)];
        }
    };
    vec![calls::answer(view, call, verdict, content)]
}

/// The event that follows when the memory was searched for a turn.
pub(crate) fn on_recollected(view: View<'_>, found: Recollected<RecalledLine>) -> Vec<Event> {
    match view.state.turns.current() {
        Some(turn) if turn.is_ticking() => {
            let found = found.with_items(|lines| view.state.recalled.named(lines));
            vec![Event::Recollected(found)]
        }
        _ => Vec::new(),
    }
}

/// The events by which a call changes what is known of somebody.
pub(crate) fn noted(call: &CallState, changes: Vec<EntityChange>) -> Vec<Event> {
    let noted = |change| {
        Event::EntityChanged(EntityChanged {
            change,
            author: Author::Tool(call.id().clone()),
            reason: call.call.name.clone(),
        })
    };
    changes.into_iter().map(noted).collect()
}

/// The events that follow when the memory was asked for a call.
pub(crate) fn on_memory_answer(view: View<'_>, id: &CallId, answer: MemoryAnswer) -> Vec<Event> {
    let open = view.state.turns.current().and_then(Turn::open_call);
    let Some(call) = open.filter(|call| call.id() == id) else {
        return Vec::new();
    };
    let (mut events, verdict, content, trust) = match answer {
        MemoryAnswer::Similar(hits) => return calls::found_similar(view, call, &hits),
        MemoryAnswer::Found { result, trust } => {
            (Vec::new(), Verdict::Success, calls::success(&result), trust)
        }
        MemoryAnswer::Stored { remembered, result } => (
            vec![Event::Remembered(*remembered)],
            Verdict::Success,
            calls::success(&result),
            None,
        ),
        MemoryAnswer::Fits { changes, result } => {
            let events = noted(call, changes);
            let content = calls::success(&result);
            (events, Verdict::Success, content, None)
        }
        MemoryAnswer::Refused(why) => (Vec::new(), Verdict::Failure, calls::failure(&why), None),
    };
    let content = results::bounded(content);
    events.push(calls::answer_with(view, call, verdict, content, trust));
    events
}
