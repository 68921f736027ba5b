//! What a server says went wrong, in the shapes that servers use.

use std::{fmt, time::Duration};

use dormouse_contracts::ModelErrorKind;
use serde_json::Value;

/// A server's own words about a failure, made harmless: one line, bounded, and without the key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Complaint {
    /// A word for machines, from `code` or `type`.
    codes: Vec<String>,
    /// A number among the codes, which is an HTTP status where servers use one.
    status: Option<u16>,
    /// A sentence for people.
    message: String,
}

impl Complaint {
    /// The longest message that is kept, in characters.
    const LONGEST: usize = 300;

    /// Reads a body, which may be JSON of several shapes, HTML, or anything.
    pub(super) fn read(body: &[u8], key: Option<&str>) -> Self {
        match serde_json::from_slice::<Value>(body) {
            Ok(json) => Self::from_json(&json, key),
            Err(_) => Self {
                message: tame(&String::from_utf8_lossy(body), key),
                ..Self::default()
            },
        }
    }

    /// Reads `{"error": {"message", "type", "code"}}`, the same without the wrapping, and `{"error": "…"}`.
    pub(super) fn from_json(json: &Value, key: Option<&str>) -> Self {
        let inner = json.get("error").unwrap_or(json);
        let message = ["message", "detail"]
            .into_iter()
            .find_map(|name| inner.get(name));
        let message = match message.unwrap_or(inner) {
            Value::String(text) => tame(text, key),
            other => tame(&other.to_string(), key),
        };
        let fields = ["code", "type"]
            .into_iter()
            .filter_map(|name| inner.get(name));
        let number = |value: &Value| value.as_u64().and_then(|code| u16::try_from(code).ok());
        Self {
            codes: fields
                .clone()
                .filter_map(Value::as_str)
                .map(|code| tame(code, key))
                .collect(),
            status: fields.clone().find_map(number),
            message,
        }
    }

    /// What a caller can do about an answer of this status with this complaint in it.
    pub(super) fn kind(&self, status: u16, pause: Option<Duration>) -> ModelErrorKind {
        match status {
            400 | 413 | 422 if self.is_about_length() || status == 413 => {
                ModelErrorKind::ContextExceeded
            }
            // Without credit nothing helps but a change outside: like a key that is not allowed to do this.
            429 if self.is_about_money() => ModelErrorKind::Auth,
            401..=403 => ModelErrorKind::Auth,
            408 => ModelErrorKind::TimedOut,
            429 => ModelErrorKind::RateLimited(pause),
            // "Come back later" is the same request in other words.
            503 if pause.is_some() => ModelErrorKind::RateLimited(pause),
            501 | 505 => ModelErrorKind::Refused,
            500.. => ModelErrorKind::Unavailable,
            _ => ModelErrorKind::Refused,
        }
    }

    /// What a caller can do about a reply that was broken off with this complaint.
    pub(super) fn kind_in_stream(&self) -> ModelErrorKind {
        if self.is_about_length() {
            return ModelErrorKind::ContextExceeded;
        }
        match self.status {
            Some(status @ 400..) => self.kind(status, None),
            _ if self.says("rate_limit") => ModelErrorKind::RateLimited(None),
            _ if self.says("server_error") || self.says("overloaded") => {
                ModelErrorKind::Unavailable
            }
            _ => ModelErrorKind::Interrupted,
        }
    }

    fn is_about_length(&self) -> bool {
        let message = self.message.to_lowercase();
        self.says("context_length_exceeded")
            || self.says("exceed_context_size")
            || message.contains("maximum context length")
            || message.contains("context window")
    }

    fn is_about_money(&self) -> bool {
        self.says("insufficient_quota") || self.says("billing")
    }

    fn says(&self, code: &str) -> bool {
        self.codes.iter().any(|said| said.contains(code))
    }
}

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.message.is_empty() {
            f.write_str("nothing")?;
        } else {
            f.write_str(&self.message)?;
        }
        match self.codes.first() {
            Some(code) => write!(f, " ({code})"),
            None => Ok(()),
        }
    }
}

/// One line, bounded, without control characters and without the key.
fn tame(text: &str, key: Option<&str>) -> String {
    let text = match key {
        Some(key) => text.replace(key, "***"),
        None => text.to_owned(),
    };
    let text = text.replace(char::is_control, " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().nth(Complaint::LONGEST).is_none() {
        return text;
    }
    let kept: String = text.chars().take(Complaint::LONGEST).collect();
    format!("{kept}…")
}

#[cfg(test)]
mod tests;
