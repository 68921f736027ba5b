//! Errors that servers report, in all their formats.

mod parse;
mod topic;
mod unknown_field;

use std::{fmt, time::Duration};

use dormouse_contracts::ModelErrorKind;

/// A server's error: one line, bounded, and without the key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ErrorBody {
    /// Machine-readable codes, from `code`, `type` and `status`.
    codes: Vec<String>,
    /// A number among the codes; servers put the HTTP status there.
    status: Option<u16>,
    /// The message for people.
    message: String,
    /// The field of the request that the error is about.
    param: Option<String>,
    /// Whether a moderator rejected the content. OpenRouter reports it in `metadata`.
    flagged: bool,
}

impl ErrorBody {
    /// Returns the error kind of an answer with this status and body.
    pub(crate) fn kind(&self, status: u16, pause: Option<Duration>) -> ModelErrorKind {
        match status {
            400 | 413 | 422 if self.is_about_length() || status == 413 => {
                ModelErrorKind::ContextExceeded
            }
            // llama-server answers with 500 to a text that is longer than its embedding batch.
            500 if self.message.contains("too large to process") => ModelErrorKind::ContextExceeded,
            // The user has to act when the credit is used up, just as for a key without permission.
            402 => ModelErrorKind::Auth,
            // Anthropic reports used-up credit as 400.
            400 | 403 | 429 if self.is_about_money() => ModelErrorKind::Auth,
            // Google and xAI report an invalid key as 400.
            400 if self.starts_with_wrong_key() => ModelErrorKind::Auth,
            401 => ModelErrorKind::Auth,
            // The address or the model name is wrong; no other prompt would succeed.
            301 | 302 | 303 | 307 | 308 | 404 | 405 | 410 => ModelErrorKind::NotFound,
            400 if self.has_code("model_not_found") => ModelErrorKind::NotFound,
            // Only a 403 about the key is `Auth`. Most are about the content, which a moderator or a firewall rejected.
            // Another prompt may succeed.
            403 if self.is_about_key() => ModelErrorKind::Auth,
            408 => ModelErrorKind::TimedOut,
            // The request exceeds the limit per minute, so waiting does not help.
            429 if self.is_about_size() => ModelErrorKind::ContextExceeded,
            429 => ModelErrorKind::RateLimited(pause),
            // A 503 with `Retry-After` is treated as a rate limit, so that the requested pause is kept.
            503 if pause.is_some() => ModelErrorKind::RateLimited(pause),
            501 | 505 => ModelErrorKind::Refused,
            500.. => ModelErrorKind::Unavailable,
            _ => ModelErrorKind::Refused,
        }
    }

    /// Returns the error kind of a reply that ended with this error.
    pub(crate) fn kind_in_stream(&self) -> ModelErrorKind {
        if self.is_about_size() || (self.is_about_length() && !self.is_about_a_rate()) {
            return ModelErrorKind::ContextExceeded;
        }
        match self.status {
            Some(status @ 400..) => self.kind(status, None),
            _ if self.is_about_key() || self.is_about_money() => ModelErrorKind::Auth,
            _ if self.is_about_a_rate() => ModelErrorKind::RateLimited(None),
            _ if self.has_code("server_error") || self.has_code("overloaded") => {
                ModelErrorKind::Unavailable
            }
            _ if self.has_code("api_error") => ModelErrorKind::Unavailable,
            _ if self.has_code("timeout_error") => ModelErrorKind::TimedOut,
            _ if self.has_code("not_found") => ModelErrorKind::NotFound,
            _ if self.has_code("invalid_request") => ModelErrorKind::Refused,
            _ => ModelErrorKind::Interrupted,
        }
    }
}

impl fmt::Display for ErrorBody {
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
