//! What decided a choice.

use std::fmt;

/// What decided the choice. Displays as a phrase for the line a program prints at start.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Found {
    /// It was asked for by name.
    Asked,
    /// `DORMOUSE_BASE_URL` is set.
    DormouseBaseUrl,
    /// `OPENAI_API_KEY` is set.
    OpenAiKey,
    /// `ANTHROPIC_API_KEY` is set.
    AnthropicKey,
    /// `OPENROUTER_API_KEY` is set.
    OpenRouterKey,
    /// `OPENAI_BASE_URL` is set.
    OpenAiBaseUrl,
    /// `OLLAMA_HOST` is set.
    OllamaHost,
    /// Ollama answers at its usual place.
    OllamaAnswers,
    /// There is no key and no server.
    Nothing,
}

impl fmt::Display for Found {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Asked => "asked for",
            Self::DormouseBaseUrl => "DORMOUSE_BASE_URL is set",
            Self::OpenAiKey => "OPENAI_API_KEY is set",
            Self::AnthropicKey => "ANTHROPIC_API_KEY is set",
            Self::OpenRouterKey => "OPENROUTER_API_KEY is set",
            Self::OpenAiBaseUrl => "OPENAI_BASE_URL is set",
            Self::OllamaHost => "OLLAMA_HOST is set",
            Self::OllamaAnswers => "Ollama answers on this machine",
            Self::Nothing => "no key and no server was found",
        })
    }
}
