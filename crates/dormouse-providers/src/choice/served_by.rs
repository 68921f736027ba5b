//! The providers, by the names that users write.

use std::{fmt, str::FromStr};

use dormouse_contracts::ProviderId;

/// A provider, by the name that a user writes: `openai`, `anthropic`, `openrouter`, `ollama`, `local`, `offline`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServedBy {
    /// OpenAI, or the server in `OPENAI_BASE_URL`.
    OpenAi,
    /// Anthropic, or the server in `ANTHROPIC_BASE_URL`.
    Anthropic,
    /// OpenRouter.
    OpenRouter,
    /// Ollama, on this machine or at `OLLAMA_HOST`.
    Ollama,
    /// The server in `DORMOUSE_BASE_URL`, or else `OPENAI_BASE_URL`, with OpenAI's API.
    Local,
    /// The offline model, which needs no server.
    Offline,
}

/// The name is not a provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such provider; expected openai, anthropic, openrouter, ollama, local or offline")]
pub struct ServedByError;

impl ServedBy {
    /// All providers, in display order.
    pub const ALL: [Self; 6] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::OpenRouter,
        Self::Ollama,
        Self::Local,
        Self::Offline,
    ];

    /// Returns the name that a user writes.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenAi => "openai",
            Self::Anthropic => "anthropic",
            Self::OpenRouter => "openrouter",
            Self::Ollama => "ollama",
            Self::Local => "local",
            Self::Offline => "offline",
        }
    }

    /// Returns the id for errors and events.
    #[expect(
        clippy::expect_used,
        reason = "the names are constants of this file, and a test converts every one of them"
    )]
    pub(crate) fn id(self) -> ProviderId {
        ProviderId::try_new(self.as_str()).expect("a provider's name is an id")
    }
}

impl fmt::Display for ServedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for ServedBy {
    type Err = ServedByError;
    fn from_str(text: &str) -> Result<Self, ServedByError> {
        Self::ALL
            .into_iter()
            .find(|served_by| served_by.as_str() == text)
            .ok_or(ServedByError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_provider_name_is_a_valid_id() {
        for served_by in ServedBy::ALL {
            assert_eq!(served_by.id().as_str(), served_by.as_str());
        }
    }
}
