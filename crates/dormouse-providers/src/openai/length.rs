//! By which name a server knows the limit of a reply's length.

use std::sync::{Mutex, MutexGuard, PoisonError};

use dormouse_contracts::RequestField;

use crate::{http::Failure, server::Written};

/// By which name a server knows the limit of a reply's length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LengthField {
    /// `max_completion_tokens`: OpenAI, whose newer models refuse the other.
    MaxCompletionTokens,
    /// `max_tokens`: everybody else, some of whom know no other.
    MaxTokens,
}

impl LengthField {
    /// The one that the server at this host knows, as far as is known beforehand.
    pub(super) fn at(host: &str) -> Self {
        let is = |domain: &str| host == domain || host.ends_with(&format!(".{domain}"));
        if is("openai.com") || is("openai.azure.com") {
            Self::MaxCompletionTokens
        } else {
            Self::MaxTokens
        }
    }

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::MaxCompletionTokens => "max_completion_tokens",
            Self::MaxTokens => "max_tokens",
        }
    }

    fn other(self) -> Self {
        match self {
            Self::MaxCompletionTokens => Self::MaxTokens,
            Self::MaxTokens => Self::MaxCompletionTokens,
        }
    }
}

/// The name that is used, and whether the server has refused the other one.
#[derive(Debug)]
pub(super) struct LearntLength(Mutex<(LengthField, Tried)>);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tried {
    One,
    Both,
}

impl LearntLength {
    /// Begins with this name.
    pub(super) fn begin(field: LengthField) -> Self {
        Self(Mutex::new((field, Tried::One)))
    }

    /// The name by which the limit is written now.
    pub(super) fn field(&self) -> LengthField {
        self.known().0
    }

    /// Learns from a refusal. Answers whether the limit is written by another name from now on: once, since a server that
    /// knows neither is to be asked without one. Requests that were under way meanwhile are to be made again too.
    pub(super) fn learns(&self, refusal: &Failure, refused: &Written) -> bool {
        if refusal.unknown_field(&refused.optional) != Some(RequestField::MaxTokens) {
            return false;
        }
        let mut known = self.known();
        let (field, tried) = *known;
        if !refused.body.contains_key(field.name()) {
            return true;
        }
        *known = (field.other(), Tried::Both);
        if tried == Tried::Both {
            // Back to where it began; the limit is left out.
            return false;
        }
        tracing::info!(
            from = field.name(),
            to = field.other().name(),
            "the server knows the limit of a reply's length by another name"
        );
        true
    }

    fn known(&self) -> MutexGuard<'_, (LengthField, Tried)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_openai_is_asked_by_the_newer_name_from_the_beginning() {
        let openai = LengthField::at("api.openai.com");
        assert_eq!(openai, LengthField::MaxCompletionTokens);
        assert_eq!(LengthField::at("notopenai.com"), LengthField::MaxTokens);
        assert_eq!(LengthField::at("127.0.0.1"), LengthField::MaxTokens);
    }
}
