//! From the body of an answer to a complaint.

use serde_json::Value;

use super::{Complaint, unknown};
use crate::http::redact::Redact;

impl Complaint {
    /// Reads a body, which may be JSON of several shapes, HTML, or anything.
    pub(crate) fn read(body: &[u8], redact: &Redact) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(json) => Self::from_json(&json, redact),
            Err(_) => Self::of(&String::from_utf8_lossy(body), redact),
        }
    }

    /// A complaint in words alone.
    pub(crate) fn of(text: &str, redact: &Redact) -> Self {
        Self {
            message: redact.line(text),
            ..Self::default()
        }
    }

    /// Reads `{"error": {"message", "type", "code"}}`, the same in a list or without the wrapping, `{"error": "…"}` with a code
    /// beside it or without, and one of these as text within another, as Ollama and OpenRouter pass on what the server behind them says.
    pub(crate) fn from_json(json: &Value, redact: &Redact) -> Self {
        // Google's.
        let json = json.get(0).unwrap_or(json);
        let inner = json.get("error").unwrap_or(json);
        let passed_on = inner.as_str().map(serde_json::from_str::<Value>);
        let passed_on = passed_on.and_then(Result::ok).filter(Value::is_object);
        let inner = match &passed_on {
            Some(passed_on) => passed_on.get("error").unwrap_or(passed_on),
            None => inner,
        };
        let complaint = Self::from_inner(inner, redact);
        // xAI's.
        let beside = json.get("code").and_then(Value::as_str);
        let beside = beside.filter(|_| inner.is_string());
        let complaint = match beside {
            Some(code) => complaint.with_codes([redact.line(code)]),
            None => complaint,
        };
        match inner.pointer("/metadata/raw") {
            Some(raw) => complaint.because_of(raw, redact),
            None => complaint,
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
        let tells = |name| metadata.is_some_and(|metadata| metadata.get(name).is_some());
        Self {
            codes: fields
                .clone()
                .filter_map(Value::as_str)
                .map(|code| redact.line(code))
                .collect(),
            status: fields.clone().find_map(number),
            message,
            param: unknown::place(inner).map(|place| redact.line(&place)),
            flagged: tells("reasons") || tells("flagged_input"),
        }
    }

    fn with_codes(mut self, codes: impl IntoIterator<Item = String>) -> Self {
        self.codes.extend(codes);
        self
    }

    /// With what the server behind this one said, without which OpenRouter says no more than that there was an error.
    fn because_of(self, raw: &Value, redact: &Redact) -> Self {
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
