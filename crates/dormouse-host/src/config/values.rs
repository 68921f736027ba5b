//! Values of settings, as text and as JSON.

use serde_json::{Number, Value};

/// The value as TOML writes it in one line.
#[must_use]
pub fn inline(value: &Value) -> String {
    match value {
        Value::Null => String::new(),
        Value::Bool(switch) => switch.to_string(),
        Value::Number(number) => rounded(number).as_ref().unwrap_or(number).to_string(),
        Value::String(text) => toml::Value::String(text.clone()).to_string(),
        Value::Array(values) => {
            let values: Vec<_> = values.iter().map(inline).collect();
            format!("[{}]", values.join(", "))
        }
        Value::Object(fields) if fields.is_empty() => "{}".to_owned(),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(name, value)| format!("{} = {}", key(name), inline(value)));
            format!("{{ {} }}", fields.collect::<Vec<_>>().join(", "))
        }
    }
}

fn key(name: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    match !name.is_empty() && name.chars().all(is_bare) {
        true => name.to_owned(),
        // A key has the same quotes and escapes as a JSON string.
        false => Value::String(name.to_owned()).to_string(),
    }
}

/// If the number came from an `f32`, the decimal number that was meant: 0.2 and not 0.20000000298023224.
pub(super) fn rounded(number: &Number) -> Option<Number> {
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the result is compared with the number"
    )]
    let small = number.as_f64().filter(|_| number.is_f64())? as f32;
    (f64::from(small) == number.as_f64()?).then_some(())?;
    Number::from_f64(small.to_string().parse().ok()?)
}

/// Whether a value that was read from TOML has a `nan` or an `inf` somewhere. TOML itself has no null.
pub(super) fn has_null(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Array(values) => values.iter().any(has_null),
        Value::Object(fields) => fields.values().any(has_null),
        Value::Bool(_) | Value::Number(_) | Value::String(_) => false,
    }
}

/// The value that a text at a command line or in the environment gives: TOML, or the text itself.
pub(super) fn of_text(text: &str, is_text: bool) -> Value {
    let read = || {
        let mut table: toml::Table = toml::from_str(&format!("value = {text}")).ok()?;
        let value = table.remove("value").filter(|_| table.is_empty())?;
        // JSON has neither `nan` nor `inf`, and no setting takes them: they are refused like any other text.
        let value = serde_json::to_value(value).ok()?;
        (!has_null(&value)).then_some(value)
    };
    match is_text {
        true => Value::String(text.to_owned()),
        false => read().unwrap_or_else(|| Value::String(text.to_owned())),
    }
}
