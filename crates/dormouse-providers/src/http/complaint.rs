//! What a server says went wrong, in the shapes that servers use.

mod read;
mod unknown;
mod words;

use std::{fmt, time::Duration};

use dormouse_contracts::ModelErrorKind;

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
            400 | 403 | 429 if self.is_about_money() => ModelErrorKind::Auth,
            // Google's and xAI's, for a key that is none.
            400 if self.begins_with_a_wrong_key() => ModelErrorKind::Auth,
            401 => ModelErrorKind::Auth,
            // The address is wrong, or the model's name: no prompt is at fault, and none would be answered.
            301 | 302 | 303 | 307 | 308 | 404 | 405 | 410 => ModelErrorKind::NotFound,
            400 if self.says("model_not_found") => ModelErrorKind::NotFound,
            // Most 403 are about what was said: a moderator's, or a firewall's. Another prompt may pass.
            403 if self.is_about_key() => ModelErrorKind::Auth,
            408 => ModelErrorKind::TimedOut,
            // It is more than may ever be asked in a minute: waiting helps nothing.
            429 if self.is_about_size() => ModelErrorKind::ContextExceeded,
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
        if self.is_about_size() || (self.is_about_length() && !self.is_about_a_rate()) {
            return ModelErrorKind::ContextExceeded;
        }
        match self.status {
            Some(status @ 400..) => self.kind(status, None),
            _ if self.is_about_key() || self.is_about_money() => ModelErrorKind::Auth,
            _ if self.is_about_a_rate() => ModelErrorKind::RateLimited(None),
            _ if self.says("server_error") || self.says("overloaded") => {
                ModelErrorKind::Unavailable
            }
            _ if self.says("api_error") => ModelErrorKind::Unavailable,
            _ if self.says("timeout_error") => ModelErrorKind::TimedOut,
            _ if self.says("not_found") => ModelErrorKind::NotFound,
            _ if self.says("invalid_request") => ModelErrorKind::Refused,
            _ => ModelErrorKind::Interrupted,
        }
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
