//! What a server says went wrong, in the shapes that servers use.

mod unknown;

use std::{fmt, time::Duration};

use dormouse_contracts::ModelErrorKind;
use serde_json::Value;

use super::redact::Redact;

/// What servers call a key that is wrong, or that may not do this: parts of a code, in lower case.
const KEY_CODES: &[&str] = &[
    "api_key",
    "authentication",
    "permission",
    "unauthorized",
    "unauthenticated",
    "access_denied",
    "account_deactivated",
    // OpenAI's, where it does not serve a country.
    "request_forbidden",
];

/// How servers say that the prompt is longer than the context window, where they have no code for it: in lower case. They
/// are OpenAI's and vLLM's, Ollama's and LM Studio's, llama-server's, Anthropic's, Groq's, Gemini's, TGI's and Cohere's;
/// gateways pass them on.
const LENGTH_WORDS: &[&str] = &[
    "context window",
    "context length",
    "available context size",
    "too large to process",
    "prompt is too long",
    "exceed context limit",
    "reduce the length of the messages",
    "input token count",
    "`inputs` tokens",
    "too many tokens",
];

/// A server's own words about a failure, made harmless: one line, bounded, and without the key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Complaint {
    /// Words for machines, from `code`, `type` and `status`.
    codes: Vec<String>,
    /// A number among the codes, which is an HTTP status where servers use one.
    status: Option<u16>,
    /// A sentence for people.
    message: String,
    /// The field of the request that it is about.
    param: Option<String>,
    /// What was sent is at fault, says a moderator: OpenRouter tells why and what in `metadata`.
    flagged: bool,
}

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

    /// Reads `{"error": {"message", "type", "code"}}`, the same without the wrapping, `{"error": "…"}`, and one of these as
    /// text within another, as Ollama passes on what the server behind it says.
    pub(crate) fn from_json(json: &Value, redact: &Redact) -> Self {
        let inner = json.get("error").unwrap_or(json);
        let passed_on = inner.as_str().map(serde_json::from_str::<Value>);
        let passed_on = passed_on.and_then(Result::ok).filter(Value::is_object);
        let inner = match &passed_on {
            Some(passed_on) => passed_on.get("error").unwrap_or(passed_on),
            None => inner,
        };
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

    /// What a caller can do about an answer of this status with this complaint in it.
    pub(crate) fn kind(&self, status: u16, pause: Option<Duration>) -> ModelErrorKind {
        match status {
            400 | 413 | 422 if self.is_about_length() || status == 413 => {
                ModelErrorKind::ContextExceeded
            }
            // llama-server's, for a text that is longer than the batch it embeds.
            500 if self.message.contains("too large to process") => ModelErrorKind::ContextExceeded,
            // Without credit nothing helps but a change outside: like a key that is not allowed to do this.
            402 => ModelErrorKind::Auth,
            // Anthropic's, for a credit that is used up, is 400.
            400 | 429 if self.is_about_money() => ModelErrorKind::Auth,
            401 => ModelErrorKind::Auth,
            // Most 403 are about what was said: a moderator's, or a firewall's. Another prompt may pass.
            403 if self.is_about_key() => ModelErrorKind::Auth,
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
    pub(crate) fn kind_in_stream(&self) -> ModelErrorKind {
        if self.is_about_length() {
            return ModelErrorKind::ContextExceeded;
        }
        match self.status {
            Some(status @ 400..) => self.kind(status, None),
            _ if self.is_about_key() || self.is_about_money() => ModelErrorKind::Auth,
            _ if self.says("rate_limit") => ModelErrorKind::RateLimited(None),
            _ if self.says("server_error") || self.says("overloaded") => {
                ModelErrorKind::Unavailable
            }
            _ if self.says("api_error") => ModelErrorKind::Unavailable,
            _ if self.says("timeout_error") => ModelErrorKind::TimedOut,
            _ if self.says("invalid_request") || self.says("not_found") => ModelErrorKind::Refused,
            _ => ModelErrorKind::Interrupted,
        }
    }

    fn is_about_length(&self) -> bool {
        let message = self.message.to_lowercase();
        self.says("context_length_exceeded")
            || self.says("exceed_context_size")
            || LENGTH_WORDS.iter().any(|words| message.contains(words))
    }

    fn is_about_money(&self) -> bool {
        let message = self.message.to_lowercase();
        self.says("insufficient_quota")
            || self.says("billing")
            || message.contains("credit balance is too low")
            || message.contains("reached your specified api usage limits")
    }

    fn is_about_key(&self) -> bool {
        !self.flagged && KEY_CODES.iter().any(|code| self.says(code))
    }

    fn says(&self, code: &str) -> bool {
        let mut codes = self.codes.iter();
        codes.any(|said| said.to_ascii_lowercase().contains(code))
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

#[cfg(test)]
mod tests;
