//! Chooses the provider, from the flags, configuration and environment at start.

mod endpoint;
mod model_ref;
mod served_by;
mod server;

use std::fmt;

use dormouse_contracts::ModelName;

#[cfg(feature = "openai")]
pub use self::server::open_model;
pub(crate) use self::{
    endpoint::{Endpoint, OPENAI, key_of, name, ollama_url},
    model_ref::{NamedError, named},
};
pub use self::{
    model_ref::{ModelRef, ModelRefError, choose_model},
    served_by::{ServedBy, ServedByError},
    server::ServerConfig,
};
use crate::Secret;

/// What a program found in its flags, configuration and environment, and on its machine. The program fills this in;
/// this crate reads none of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Available {
    /// The requested provider (`--provider`).
    pub requested: Option<ServedBy>,
    /// The requested model (`--model`).
    pub model: Option<ModelName>,
    /// `DORMOUSE_BASE_URL`: a server for this program.
    pub dormouse_base_url: Option<String>,
    /// `DORMOUSE_API_KEY`: the key of that server, if it needs one.
    pub dormouse_api_key: Option<Secret>,
    /// `OPENAI_API_KEY`.
    pub openai_api_key: Option<Secret>,
    /// `OPENAI_BASE_URL`: the server of the above key, or a server that needs no key.
    pub openai_base_url: Option<String>,
    /// `ANTHROPIC_API_KEY`.
    pub anthropic_api_key: Option<Secret>,
    /// `ANTHROPIC_BASE_URL`: the server of the above key.
    pub anthropic_base_url: Option<String>,
    /// `OPENROUTER_API_KEY`.
    pub openrouter_api_key: Option<Secret>,
    /// `OLLAMA_HOST`: Ollama's address, in Ollama's own format: `10.0.0.1`, `:11434`, `http://10.0.0.1:11434`.
    pub ollama_host: Option<String>,
    /// The chat models on the Ollama server, the preferred one first; `None` if it did not answer or was not queried with
    /// [`list_models`](crate::list_models).
    pub ollama_answers: Option<Vec<ModelName>>,
}

impl Available {
    /// Sets the server of the provider `local`. A key that was found for another server is dropped; a key without a server
    /// belongs to this one.
    pub fn name_local_server(&mut self, base_url: String) {
        let found = self.dormouse_base_url.as_deref();
        if found.is_some_and(|found| !endpoint::is_same(found, &base_url)) {
            self.dormouse_api_key = None;
        }
        self.dormouse_base_url = Some(base_url);
    }
}

/// The chosen model, and the reason.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// The offline model of `dormouse-offline`.
    Offline {
        /// Why it was chosen.
        reason: ChoiceReason,
    },
    /// A model on a server.
    Server {
        /// The server and the model.
        config: ServerConfig,
        /// Why it was chosen.
        reason: ChoiceReason,
    },
}

/// Why a provider was chosen. Displays as a phrase for the start message of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ChoiceReason {
    /// The user requested it.
    Requested,
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
    /// Ollama answers at its default address.
    OllamaAnswers,
    /// No key and no server was found.
    Nothing,
}

impl fmt::Display for ChoiceReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Requested => "asked for",
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

/// Why a requested provider cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// It needs a key.
    #[error("the provider {provider} needs a key: set {variable}")]
    NoKey {
        /// The provider.
        provider: ServedBy,
        /// The variable of its key.
        variable: &'static str,
    },
    /// Its server is not known.
    #[error("the provider local needs a server: set DORMOUSE_BASE_URL")]
    NoServer,
}

/// Chooses the provider: the first of these that applies.
///
/// 1. the requested one;
/// 2. `DORMOUSE_BASE_URL`, with `DORMOUSE_API_KEY` if set: a server for this program;
/// 3. `OPENAI_API_KEY`: OpenAI, or the server in `OPENAI_BASE_URL`;
/// 4. `ANTHROPIC_API_KEY`: Anthropic, or the server in `ANTHROPIC_BASE_URL`;
/// 5. `OPENROUTER_API_KEY`: OpenRouter;
/// 6. `OPENAI_BASE_URL` without a key: a server that needs none;
/// 7. `OLLAMA_HOST`: Ollama at that address;
/// 8. Ollama, if it answers at its default address and has a model;
/// 9. the offline model.
///
/// A key is only sent to the server that it belongs to: OpenAI's key never goes to the server in `DORMOUSE_BASE_URL`. The
/// default model is `gpt-4.1-mini` at OpenAI, `claude-haiku-4-5` at Anthropic, `openai/gpt-4.1-mini` at OpenRouter, the
/// first one on the Ollama server (or `llama3.2`, for which Ollama explains how to pull it), and `default` at any other
/// server (llama-server accepts every name).
///
/// # Errors
///
/// [`ChoiceError`] if the key or the address of a requested provider is missing. If none is requested, the offline
/// model is always available.
///
/// # Examples
///
/// ```
/// # use dormouse_providers::{Available, Choice, ChoiceReason, choose};
/// let nothing = Available::default();
/// assert_eq!(choose(&nothing), Ok(Choice::Offline { reason: ChoiceReason::Nothing }));
/// ```
pub fn choose(available: &Available) -> Result<Choice, ChoiceError> {
    let (served_by, reason) = match available.requested {
        Some(requested) => (requested, ChoiceReason::Requested),
        None => first_available(available),
    };
    at_endpoint(served_by, available, reason)
}

/// Returns the first provider that was found.
fn first_available(available: &Available) -> (ServedBy, ChoiceReason) {
    let has_models = |models: &Vec<ModelName>| !models.is_empty();
    if available.dormouse_base_url.is_some() {
        (ServedBy::Local, ChoiceReason::DormouseBaseUrl)
    } else if available.openai_api_key.is_some() {
        (ServedBy::OpenAi, ChoiceReason::OpenAiKey)
    } else if available.anthropic_api_key.is_some() {
        (ServedBy::Anthropic, ChoiceReason::AnthropicKey)
    } else if available.openrouter_api_key.is_some() {
        (ServedBy::OpenRouter, ChoiceReason::OpenRouterKey)
    } else if available.openai_base_url.is_some() {
        (ServedBy::Local, ChoiceReason::OpenAiBaseUrl)
    } else if available.ollama_host.is_some() {
        (ServedBy::Ollama, ChoiceReason::OllamaHost)
    } else if available.ollama_answers.as_ref().is_some_and(has_models) {
        (ServedBy::Ollama, ChoiceReason::OllamaAnswers)
    } else {
        (ServedBy::Offline, ChoiceReason::Nothing)
    }
}

/// Returns the provider with its address, key and model.
fn at_endpoint(
    served_by: ServedBy,
    available: &Available,
    reason: ChoiceReason,
) -> Result<Choice, ChoiceError> {
    Ok(match Endpoint::of(served_by, available)? {
        None => Choice::Offline { reason },
        Some(place) => {
            let model = available.model.clone().unwrap_or(place.default_model);
            let config = ServerConfig::at(served_by, &place.base_url, place.api_key, model);
            Choice::Server { config, reason }
        }
    })
}

#[cfg(test)]
mod tests;
