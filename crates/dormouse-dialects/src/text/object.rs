//! Calls that are JSON objects.

use serde_json::{Map, Value};

use super::{CallContext, Certainty, Leading, PrintedCall, ScanBudget, json};
use crate::{Anomaly, CallFormat};

/// The keys that models use for the arguments of a call.
const ARGUMENTS: [&str; 4] = ["parameters", "arguments", "args", "input"];

/// The calls of the object or array at the start of a text. An array counts only if it contains nothing but calls.
pub(super) fn leading<'t>(
    text: &'t str,
    context: CallContext,
    budget: &mut ScanBudget,
) -> Option<Leading<'t>> {
    let (value, syntax, behind) = json::leading(text, budget)?;
    let calls = match &value {
        Value::Array(items) if !items.is_empty() => {
            let calls = items.iter().map(|item| one(item.as_object()?, context));
            // If one item is not a call, the array counts as data, and contains no calls.
            calls.collect::<Option<Vec<_>>>()?
        }
        Value::Object(fields) => calls(fields, context)?,
        _ => return None,
    };
    let calls = calls.into_iter().map(|found| found.mended(syntax));
    Some((calls.collect(), behind))
}

/// The calls of the object at the start of a text and of all objects within it, outer ones first. `None` if the object
/// is not valid JSON.
pub(super) fn calls_within<'t>(text: &'t str, budget: &mut ScanBudget) -> Option<Leading<'t>> {
    let (value, syntax, behind) = json::leading(text, budget)?;
    let mut found = Vec::new();
    gather(&value, &mut found);
    let found = found.into_iter().map(|found| found.mended(syntax));
    Some((found.collect(), behind))
}

/// Collects the calls. The recursion is as deep as the JSON, at most 128 levels. Objects within the arguments of a call
/// are not calls.
fn gather(value: &Value, found: &mut Vec<PrintedCall>) {
    match value {
        Value::Object(fields) => match calls(fields, CallContext::Bare) {
            Some(calls) => found.extend(calls),
            None => fields.values().for_each(|value| gather(value, found)),
        },
        Value::Array(items) => items.iter().for_each(|item| gather(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The calls of an object. The object is one call, or an API message with several calls that the model printed as text.
fn calls(fields: &Map<String, Value>, context: CallContext) -> Option<Vec<PrintedCall>> {
    let items = match (fields.get("tool_calls"), fields.get("content")) {
        (Some(Value::Array(items)), _) if !items.is_empty() => items.iter().collect(),
        (_, Some(Value::Array(parts))) if fields.contains_key("role") => {
            let is_call = |part: &&Value| part.get("type").is_some_and(|kind| kind == "tool_use");
            parts.iter().filter(is_call).collect()
        }
        _ => Vec::new(),
    };
    if items.is_empty() {
        return one(fields, context).map(|found| vec![found]);
    }
    let calls = items.into_iter().map(|item| {
        let mut found = one(item.as_object()?, CallContext::Marked)?;
        found.form = CallFormat::Message;
        if fields.contains_key("role") {
            found.anomalies.insert(Anomaly::WrappedMessage);
        }
        Some(found)
    });
    calls.collect()
}

/// The call of an object.
fn one(fields: &Map<String, Value>, context: CallContext) -> Option<PrintedCall> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let arguments = ARGUMENTS.iter().find_map(|key| fields.get(*key));
    // Dormouse asks models for the key `tool`, so this key alone shows that the object is a call.
    if let Some(name) = text("tool") {
        let certainty = Certainty::Explicit;
        return Some(PrintedCall::new(
            name,
            arguments,
            CallFormat::Tool,
            certainty,
        ));
    }
    if let Some(Value::Object(inner)) = fields.get("function_call") {
        let mut found = named(inner, CallContext::Marked, CallFormat::FunctionCall)?;
        if fields.contains_key("role") {
            found.anomalies.insert(Anomaly::WrappedMessage);
        }
        return Some(found);
    }
    // The type is sure evidence of a call, as good as a mark before the object.
    let is_typed = text("type").is_some_and(|kind| {
        matches!(
            kind,
            "function" | "tool_use" | "function_call" | "tool_call"
        )
    });
    let context = if is_typed {
        CallContext::Marked
    } else {
        context
    };
    if let Some(Value::Object(inner)) = fields.get("function") {
        return named(inner, context, CallFormat::Function);
    }
    if let (Some(name), Some(input)) = (text("action"), fields.get("action_input")) {
        let certainty = Certainty::Likely;
        return Some(PrintedCall::new(
            name,
            Some(input),
            CallFormat::Action,
            certainty,
        ));
    }
    named(fields, context, CallFormat::Named)
}

/// A call with a name. Without arguments, the object counts as a call only if a mark before it or its type says so.
fn named(
    fields: &Map<String, Value>,
    context: CallContext,
    form: CallFormat,
) -> Option<PrintedCall> {
    let keys = ["name", "tool_name", "function"];
    let name = keys.iter().find_map(|key| fields.get(*key)?.as_str())?;
    let arguments = ARGUMENTS.iter().find_map(|key| fields.get(*key));
    let certainty = match context {
        CallContext::Marked => Certainty::Explicit,
        CallContext::Bare => Certainty::Likely,
    };
    (arguments.is_some() || context == CallContext::Marked)
        .then(|| PrintedCall::new(name, arguments, form, certainty))
}

/// The text of a call's arguments. A string that contains an object counts as that object.
pub(super) fn arguments(value: Option<&Value>) -> (String, Option<Anomaly>) {
    match value {
        None | Some(Value::Null) => ("{}".to_owned(), None),
        Some(Value::String(text)) if text.trim().is_empty() => ("{}".to_owned(), None),
        Some(Value::String(text)) => match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(inner)) => (
                Value::Object(inner).to_string(),
                Some(Anomaly::DoubleEncoded),
            ),
            _ => (Value::String(text.clone()).to_string(), None),
        },
        Some(value) => (value.to_string(), None),
    }
}
