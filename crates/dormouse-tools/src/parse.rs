//! Parses the text of a call's arguments into a JSON object.

use std::{collections::HashSet, fmt};

use dormouse_contracts::Arguments;
use serde::{
    Deserialize, Deserializer,
    de::{Error, MapAccess, SeqAccess, Visitor},
};
use serde_json::Value;

use crate::{call::ToolCallError, excerpt::Excerpt, kind::JsonKind};

/// Parses arguments as a JSON object. A blank text is `{}`, and a string that contains an object is that object. A
/// text that nests deeper than `depth` levels is rejected before parsing, so that no text can overflow the stack.
pub(crate) fn arguments(text: &str, depth: usize) -> Result<Arguments, ToolCallError> {
    if text.trim().is_empty() {
        return Ok(Arguments::new());
    }
    match value(text, depth)? {
        Value::Object(object) => Ok(object),
        Value::String(inner) if inner.trim_start().starts_with('{') => {
            match value(&inner, depth)? {
                Value::Object(object) => Ok(object),
                other => Err(not_an_object(&other)),
            }
        }
        other => Err(not_an_object(&other)),
    }
}

fn value(text: &str, depth: usize) -> Result<Value, ToolCallError> {
    if is_deeper(text, depth) {
        return Err(ToolCallError::TooDeep { limit: depth });
    }
    let value = serde_json::from_str(text).map_err(|error| not_json(&error))?;
    serde_json::from_str::<Distinct>(text).map_err(|error| not_json(&error))?;
    Ok(value)
}

/// Whether a text nests arrays and objects deeper than `levels`. Brackets within strings do not count.
fn is_deeper(text: &str, levels: usize) -> bool {
    let mut depth = 0_usize;
    let mut in_string = false;
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        match byte {
            b'"' => in_string = !in_string,
            // An escaped quotation mark does not end the string.
            b'\\' if in_string => drop(bytes.next()),
            b'[' | b'{' if !in_string => depth += 1,
            b']' | b'}' if !in_string => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > levels {
            return true;
        }
    }
    false
}

fn not_an_object(value: &Value) -> ToolCallError {
    ToolCallError::NotAnObject {
        found: JsonKind::of(value),
    }
}

fn not_json(error: &serde_json::Error) -> ToolCallError {
    let (line, column) = (error.line(), error.column());
    let text = error.to_string();
    let place = format!(" at line {line} column {column}");
    ToolCallError::NotJson {
        line,
        column,
        what: Excerpt::of(text.strip_suffix(&place).unwrap_or(&text)),
    }
}

/// Any JSON value in which no object contains the same key twice. With a repeated key, the intended value is unknown,
/// and the call may be irreversible.
struct Distinct;

impl<'de> Deserialize<'de> for Distinct {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(DistinctVisitor)
    }
}

struct DistinctVisitor;

impl<'de> Visitor<'de> for DistinctVisitor {
    type Value = Distinct;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Distinct, A::Error> {
        let mut keys = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if keys.contains(&key) {
                let key = Excerpt::of(key);
                return Err(A::Error::custom(format_args!(
                    "the key \"{key}\" is given twice"
                )));
            }
            keys.insert(key);
            map.next_value::<Distinct>()?;
        }
        Ok(Distinct)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Distinct, A::Error> {
        while seq.next_element::<Distinct>()?.is_some() {}
        Ok(Distinct)
    }

    fn visit_unit<E>(self) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Distinct, E> {
        Ok(Distinct)
    }

    fn visit_str<E>(self, _: &str) -> Result<Distinct, E> {
        Ok(Distinct)
    }
}
