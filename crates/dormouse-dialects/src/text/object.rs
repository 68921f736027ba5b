//! Calls that are JSON objects.

use serde_json::{Map, Value};

use super::{Certainty, Effort, Found, Leading, Place, json};
use crate::{Form, Oddity};

/// The words models use for the arguments of a call.
const ARGUMENTS: [&str; 4] = ["parameters", "arguments", "args", "input"];

/// The calls of the object or array a text begins with. An array counts if it holds nothing but calls.
pub(super) fn leading<'t>(text: &'t str, place: Place, effort: &mut Effort) -> Option<Leading<'t>> {
    let (value, syntax, behind) = json::leading(text, effort)?;
    let calls = match &value {
        Value::Array(items) if !items.is_empty() => {
            let calls = items.iter().map(|item| one(item.as_object()?, place));
            calls.collect::<Option<Vec<_>>>()?
        }
        Value::Object(fields) => calls(fields, place)?,
        _ => return None,
    };
    let calls = calls.into_iter().map(|found| found.mended(syntax));
    Some((calls.collect(), behind))
}

/// The calls of the object a text begins with, and of all objects in it, the outer ones first. None for an object that
/// is no JSON.
pub(super) fn calls_within<'t>(text: &'t str, effort: &mut Effort) -> Option<Leading<'t>> {
    let (value, syntax, behind) = json::leading(text, effort)?;
    let mut found = Vec::new();
    gather(&value, &mut found);
    let found = found.into_iter().map(|found| found.mended(syntax));
    Some((found.collect(), behind))
}

/// Goes no deeper than JSON is read. What is in the arguments of a call is no call.
fn gather(value: &Value, found: &mut Vec<Found>) {
    match value {
        Value::Object(fields) => match calls(fields, Place::Bare) {
            Some(calls) => found.extend(calls),
            None => fields.values().for_each(|value| gather(value, found)),
        },
        Value::Array(items) => items.iter().for_each(|item| gather(item, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

/// The calls of an object: one, or those of a message that was printed whole.
fn calls(fields: &Map<String, Value>, place: Place) -> Option<Vec<Found>> {
    let items = match (fields.get("tool_calls"), fields.get("content")) {
        (Some(Value::Array(items)), _) if !items.is_empty() => items.iter().collect(),
        (_, Some(Value::Array(parts))) if fields.contains_key("role") => {
            let is_call = |part: &&Value| part.get("type").is_some_and(|kind| kind == "tool_use");
            parts.iter().filter(is_call).collect()
        }
        _ => Vec::new(),
    };
    if items.is_empty() {
        return one(fields, place).map(|found| vec![found]);
    }
    let calls = items.into_iter().map(|item| {
        let mut found = one(item.as_object()?, Place::Marked)?;
        found.form = Form::Message;
        if fields.contains_key("role") {
            found.oddities.insert(Oddity::WrappedMessage);
        }
        Some(found)
    });
    calls.collect()
}

/// The one call of an object.
fn one(fields: &Map<String, Value>, place: Place) -> Option<Found> {
    let text = |key: &str| fields.get(key).and_then(Value::as_str);
    let arguments = ARGUMENTS.iter().find_map(|key| fields.get(*key));
    if let Some(name) = text("tool") {
        let certainty = Certainty::Explicit;
        return Some(Found::new(name, arguments, Form::Tool, certainty));
    }
    if let Some(Value::Object(inner)) = fields.get("function_call") {
        let mut found = named(inner, Place::Marked, Form::FunctionCall)?;
        if fields.contains_key("role") {
            found.oddities.insert(Oddity::WrappedMessage);
        }
        return Some(found);
    }
    let is_typed = text("type").is_some_and(|kind| {
        matches!(
            kind,
            "function" | "tool_use" | "function_call" | "tool_call"
        )
    });
    let place = if is_typed { Place::Marked } else { place };
    if let Some(Value::Object(inner)) = fields.get("function") {
        return named(inner, place, Form::Function);
    }
    if let (Some(name), Some(input)) = (text("action"), fields.get("action_input")) {
        let certainty = Certainty::Likely;
        return Some(Found::new(name, Some(input), Form::Action, certainty));
    }
    named(fields, place, Form::Named)
}

/// A call by name. Without arguments it is one only where something says that there is a call.
fn named(fields: &Map<String, Value>, place: Place, form: Form) -> Option<Found> {
    let keys = ["name", "tool_name", "function"];
    let name = keys.iter().find_map(|key| fields.get(*key)?.as_str())?;
    let arguments = ARGUMENTS.iter().find_map(|key| fields.get(*key));
    let certainty = match place {
        Place::Marked => Certainty::Explicit,
        Place::Bare => Certainty::Likely,
    };
    (arguments.is_some() || place == Place::Marked)
        .then(|| Found::new(name, arguments, form, certainty))
}

/// The text of a call's arguments. A string that holds an object is that object.
pub(super) fn arguments(value: Option<&Value>) -> (String, Option<Oddity>) {
    match value {
        None | Some(Value::Null) => ("{}".to_owned(), None),
        Some(Value::String(text)) if text.trim().is_empty() => ("{}".to_owned(), None),
        Some(Value::String(text)) => match serde_json::from_str::<Value>(text) {
            Ok(Value::Object(inner)) => (
                Value::Object(inner).to_string(),
                Some(Oddity::DoubleEncoded),
            ),
            _ => (Value::String(text.clone()).to_string(), None),
        },
        Some(value) => (value.to_string(), None),
    }
}
