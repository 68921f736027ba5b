//! Parses an error body.

use serde_json::Value;

use super::{ErrorBody, unknown_field};
use crate::http::redact::Redact;

impl ErrorBody {
    /// Parses a body, which may be JSON of several forms, HTML, or any text.
    pub(crate) fn read(body: &[u8], redact: &Redact) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(json) => Self::from_json(&json, redact),
            Err(_) => Self::of(&String::from_utf8_lossy(body), redact),
        }
    }

    /// An error with a message only.
    pub(crate) fn of(text: &str, redact: &Redact) -> Self {
        Self {
            message: redact.line(text),
            ..Self::default()
        }
    }

    /// Parses `{"error": {"message", "type", "code"}}`, also in a list or without the wrapper, and `{"error": "…"}`
    /// with or without a code next to it. Any of these may also be a string inside another, because Ollama and
    /// OpenRouter forward upstream errors this way.
    pub(crate) fn from_json(json: &Value, redact: &Redact) -> Self {
        // Google wraps the error in a list.
        let json = json.get(0).unwrap_or(json);
        let inner = json.get("error").unwrap_or(json);
        let passed_on = inner.as_str().map(serde_json::from_str::<Value>);
        let passed_on = passed_on.and_then(Result::ok).filter(Value::is_object);
        let inner = match &passed_on {
            Some(passed_on) => passed_on.get("error").unwrap_or(passed_on),
            None => inner,
        };
        let error_body = Self::from_inner(inner, redact);
        // xAI puts the code next to the message.
        let sibling_code = json.get("code").and_then(Value::as_str);
        let sibling_code = sibling_code.filter(|_| inner.is_string());
        let error_body = match sibling_code {
            Some(code) => error_body.with_codes([redact.line(code)]),
            None => error_body,
        };
        match inner.pointer("/metadata/raw") {
            Some(raw) => error_body.with_upstream(raw, redact),
            None => error_body,
        }
    }

    fn from_inner(inner: &Value, redact: &Redact) -> Self {
        let message = ["message", "detail"]
            .into_iter()
            .find_map(|name| inner.get(name));
        let message = match message.unwrap_or(inner) {
            Value::String(text) => redact.line(text),
            other => redact.line(&other.to_string()),
        };
        let fields = ["code", "type", "status"]
            .into_iter()
            .filter_map(|name| inner.get(name));
        let number = |value: &Value| value.as_u64().and_then(|code| u16::try_from(code).ok());
        let metadata = inner.get("metadata");
        let has_metadata = |name| metadata.is_some_and(|metadata| metadata.get(name).is_some());
        Self {
            codes: fields
                .clone()
                .filter_map(Value::as_str)
                .map(|code| redact.line(code))
                .collect(),
            status: fields.clone().find_map(number),
            message,
            param: unknown_field::place(inner).map(|place| redact.line(&place)),
            flagged: has_metadata("reasons") || has_metadata("flagged_input"),
        }
    }

    fn with_codes(mut self, codes: impl IntoIterator<Item = String>) -> Self {
        self.codes.extend(codes);
        self
    }

    /// Adds the upstream server's error. OpenRouter's own message only says that there was an error.
    fn with_upstream(self, raw: &Value, redact: &Redact) -> Self {
        let raw = match raw {
            Value::String(text) => Self::read(text.as_bytes(), redact),
            other => Self::from_json(other, redact),
        };
        Self {
            message: redact.line(&format!("{}: {}", self.message, raw.message)),
            param: self.param.clone().or(raw.param),
            ..self
        }
        .with_codes(raw.codes)
    }
}
