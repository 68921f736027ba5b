//! The next call of a reply: checked, and turned into an event, a look, or an intention.

use dormouse_contracts::{EffectKey, Query, ToolCall, ToolReach};
use serde_json::{Value, json};

use super::{Next, View, advisory};
use crate::{
    event::{EffectIntended, Event, ToolAnswered, Verdict},
    inward::{self, Inward},
    remembering::words_of,
    state::{CallState, Step, Turn},
};

/// The longest result that is shown to a model, in bytes of JSON.
const RESULT_LIMIT: usize = 16 * 1024;

pub(super) fn next_call(view: View<'_>, turn: &Turn) -> Next {
    let Some(call) = turn.open_call() else {
        return Next::Decided(Vec::new());
    };
    let raw = ToolCall {
        id: call.id().clone(),
        name: call.call.name.clone(),
        arguments: call.call.arguments.clone(),
    };
    let checked = match view.tools.check(&raw) {
        Ok(checked) => checked,
        Err(error) => {
            let failed = failure(&error.to_string());
            return Next::Decided(vec![answer(view, call, Verdict::Failure, failed)]);
        }
    };
    let spec = checked.spec;
    match spec.reach {
        ToolReach::Query => Next::Observe(
            call.id().clone(),
            Query {
                actor: view.config.key.clone(),
                tool: spec.name.clone(),
                arguments: checked.arguments,
            },
        ),
        ToolReach::Effect => match effect_key(view) {
            Some(key) => Next::Decided(vec![Event::EffectIntended(EffectIntended {
                key,
                call: call.id().clone(),
                tool: spec.name.clone(),
                category: spec.category,
                trust: words_of(&checked.arguments)
                    .map(|words| inward::lineage(words, view.state, turn).trust),
                arguments: checked.arguments,
            })]),
            None => Next::Decided(vec![answer(
                view,
                call,
                Verdict::Failure,
                failure("the act could not be named"),
            )]),
        },
        _ => match inward::decide(spec.name.as_str(), &checked.arguments, view.state, turn) {
            Inward::Decided { mut events, result } => {
                events.push(answer(view, call, Verdict::Success, success(&result)));
                Next::Decided(events)
            }
            Inward::Consult(consult) => Next::Consult(call.id().clone(), Box::new(consult)),
            Inward::Refused(why) => {
                Next::Decided(vec![answer(view, call, Verdict::Failure, failure(&why))])
            }
        },
    }
}

/// The key of the effect that is intended next: unique in the life of the assistant by its place in the log, and
/// among all its lives by the time, so that a log restored from a backup does not meet the receipts of what it forgot.
fn effect_key(view: View<'_>) -> Option<EffectKey> {
    let (now, place) = (view.now.as_micros(), view.state.seq.next());
    EffectKey::try_new(format!("{}/{now}/{place}", view.config.key)).ok()
}

/// Results for the calls that are not made, and why.
pub(super) fn skip_the_rest(view: View<'_>, step: &Step, why: &str) -> Vec<Event> {
    let open = step.calls.iter().filter(|call| call.result.is_none());
    open.map(|call| {
        let content = failure(why);
        answer(view, call, Verdict::Skipped, content)
    })
    .collect()
}

pub(super) fn success(result: &Value) -> Value {
    json!({"success": true, "result": result})
}

pub(super) fn failure(error: &str) -> Value {
    json!({"success": false, "error": error})
}

/// The event that a call has its result.
pub(super) fn answer(view: View<'_>, call: &CallState, verdict: Verdict, content: Value) -> Event {
    let spec = view.tools.get(&call.call.name);
    let (content, tokens) = content_for_model(view, content);
    Event::ToolAnswered(ToolAnswered {
        call: call.id().clone(),
        tool: call.call.name.chars().take(64).collect(),
        category: spec.map(|spec| spec.category),
        verdict,
        content,
        tokens,
        sources: Vec::new(),
    })
}

/// A result as JSON text, word for word as the model will see it, and how many tokens it takes. Where it fills the
/// context window, a word of advice stands in it.
pub(super) fn content_for_model(view: View<'_>, content: Value) -> (String, u32) {
    let mut content = cut(content);
    let mut text = content.to_string();
    let mut tokens = view.counter.count(&text).tokens;
    if let (Some(advice), Value::Object(fields)) = (advisory(view, tokens), &mut content) {
        fields.insert("advisory".to_owned(), advice.into());
        text = content.to_string();
        tokens = view.counter.count(&text).tokens;
    }
    (text, tokens)
}

/// Keeps a result within [`RESULT_LIMIT`]: of a longer one the beginning is shown, as text.
fn cut(content: Value) -> Value {
    let text = content.to_string();
    if text.len() <= RESULT_LIMIT {
        return content;
    }
    let shown: String = text.chars().take(RESULT_LIMIT / 4).collect();
    let success = content.get("success").cloned().unwrap_or_default();
    json!({"success": success, "cut_off_after": shown.len(), "result_text": shown})
}
