//! Who may serve a model.

use std::{fmt, str::FromStr};

use dormouse_contracts::ProviderId;

/// Who may serve a model, by the names a user writes: `openai`, `anthropic`, `openrouter`, `ollama`, `local`, `offline`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ServedBy {
    /// OpenAI, or the server that `OPENAI_BASE_URL` names.
    OpenAi,
    /// Anthropic, or the server that `ANTHROPIC_BASE_URL` names.
    Anthropic,
    /// OpenRouter.
    OpenRouter,
    /// Ollama, on this machine or where `OLLAMA_HOST` says.
    Ollama,
    /// The server that `DORMOUSE_BASE_URL`, or else `OPENAI_BASE_URL`, names; it speaks OpenAI's API.
    Local,
    /// Nobody: the model in this crate that needs no server.
    Offline,
}

/// A name that is no provider.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no such provider; there are openai, anthropic, openrouter, ollama, local and offline")]
pub struct ServedByError;

impl ServedBy {
    /// All of them, in the order in which they are shown to people.
    pub const ALL: [Self; 6] = [
        Self::OpenAi,
        Self::Anthropic,
        Self::OpenRouter,
        Self::Ollama,
        Self::Local,
        Self::Offline,
    ];

    /// The name a user writes.
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

    /// The same as errors and events name it.
    #[expect(
        clippy::expect_used,
        reason = "the names are constants of this file, and a test makes every one of them"
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
    fn every_name_is_an_id() {
        for served_by in ServedBy::ALL {
            assert_eq!(served_by.id().as_str(), served_by.as_str());
        }
    }
}
