//! Which provider to use, from what was found at start.

mod found;
mod named;
#[cfg(feature = "openai")]
mod open;
mod places;
mod served_by;
mod server;
mod wish;

use dormouse_contracts::ModelName;

#[cfg(feature = "openai")]
pub use self::open::open_model;
pub use self::{
    found::Found,
    served_by::{ServedBy, ServedByError},
    server::ServerConfig,
    wish::{ModelWish, ModelWishError, choose_model},
};
pub(crate) use self::{
    named::{NamedError, named},
    places::{OPENAI, Place, key_of, name, ollama_url},
};
use crate::Secret;

/// What the composition root found in its flags, its configuration, its environment and on its machine. Nothing is read here.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Available {
    /// A provider that was asked for by name (`--provider`).
    pub asked: Option<ServedBy>,
    /// A model that was asked for by name (`--model`).
    pub model: Option<ModelName>,
    /// `DORMOUSE_BASE_URL`: a server meant for this program.
    pub dormouse_base_url: Option<String>,
    /// `DORMOUSE_API_KEY`: the key of that server, if it wants one.
    pub dormouse_api_key: Option<Secret>,
    /// `OPENAI_API_KEY`.
    pub openai_api_key: Option<Secret>,
    /// `OPENAI_BASE_URL`: where the above key belongs, or without one a server that wants none.
    pub openai_base_url: Option<String>,
    /// `ANTHROPIC_API_KEY`.
    pub anthropic_api_key: Option<Secret>,
    /// `ANTHROPIC_BASE_URL`: where the above key belongs.
    pub anthropic_base_url: Option<String>,
    /// `OPENROUTER_API_KEY`.
    pub openrouter_api_key: Option<Secret>,
    /// `OLLAMA_HOST`: where Ollama is, as Ollama itself reads it: `10.0.0.1`, `:11434`, `http://10.0.0.1:11434`.
    pub ollama_host: Option<String>,
    /// The models that Ollama has, as far as they can chat, the preferred one first; `None` if it did not answer, or was not
    /// asked. [`list_models`](crate::list_models) asks.
    pub ollama_answers: Option<Vec<ModelName>>,
}

impl Available {
    /// The server of the provider `local` is this one. The key that was found for another one is not its own, and is
    /// forgotten; one that was found without a server can be of no other.
    pub fn name_local_server(&mut self, base_url: String) {
        let found = self.dormouse_base_url.as_deref();
        if found.is_some_and(|found| !places::is_same(found, &base_url)) {
            self.dormouse_api_key = None;
        }
        self.dormouse_base_url = Some(base_url);
    }
}

/// Which model to use, and what decided it.
#[derive(Clone, Debug, PartialEq)]
pub enum Choice {
    /// The offline model of `dormouse-offline`.
    Offline {
        /// What decided it.
        because: Found,
    },
    /// A server.
    Server {
        /// Which one, and which model.
        config: ServerConfig,
        /// What decided it.
        because: Found,
    },
}

/// A provider was asked for that cannot be used with what was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ChoiceError {
    /// It wants a key.
    #[error("the provider {provider} needs a key: set {variable}")]
    NoKey {
        /// Which provider.
        provider: ServedBy,
        /// Where its key is looked for.
        variable: &'static str,
    },
    /// It is not known where the server is.
    #[error("the provider local needs a server: set DORMOUSE_BASE_URL")]
    NoServer,
}

/// Chooses the provider. The first of these that applies:
///
/// 1. the one asked for by name;
/// 2. `DORMOUSE_BASE_URL`, with `DORMOUSE_API_KEY` if that is set: a server meant for this program;
/// 3. `OPENAI_API_KEY`: OpenAI, or the server that `OPENAI_BASE_URL` names;
/// 4. `ANTHROPIC_API_KEY`: Anthropic, or the server that `ANTHROPIC_BASE_URL` names;
/// 5. `OPENROUTER_API_KEY`: OpenRouter;
/// 6. `OPENAI_BASE_URL` without a key: a server that wants none;
/// 7. `OLLAMA_HOST`: Ollama, there;
/// 8. Ollama, if it answers at its usual place and has a model;
/// 9. the offline model.
///
/// A key is only ever sent to the server it belongs to: OpenAI's never to the one `DORMOUSE_BASE_URL` names. Unless
/// a model is asked for it is `gpt-4.1-mini` at OpenAI, `claude-haiku-4-5` at Anthropic, `openai/gpt-4.1-mini` at OpenRouter,
/// the first that Ollama has (`llama3.2` where that is not known, which it says how to pull), and `default` at any other
/// server (llama-server takes every name, others want theirs).
///
/// # Errors
///
/// [`ChoiceError`] if a provider was asked for by name and its key or its address is not there. Nothing else fails:
/// a program that was asked for nothing always has the offline model.
///
/// # Examples
///
/// ```
/// # use dormouse_providers::{Available, Choice, Found, choose};
/// let nothing = Available::default();
/// assert_eq!(choose(&nothing), Ok(Choice::Offline { because: Found::Nothing }));
/// ```
pub fn choose(available: &Available) -> Result<Choice, ChoiceError> {
    let (served_by, because) = match available.asked {
        Some(asked) => (asked, Found::Asked),
        None => first_found(available),
    };
    at_its_place(served_by, available, because)
}

/// The first that was found.
fn first_found(available: &Available) -> (ServedBy, Found) {
    let has_models = |models: &Vec<ModelName>| !models.is_empty();
    if available.dormouse_base_url.is_some() {
        (ServedBy::Local, Found::DormouseBaseUrl)
    } else if available.openai_api_key.is_some() {
        (ServedBy::OpenAi, Found::OpenAiKey)
    } else if available.anthropic_api_key.is_some() {
        (ServedBy::Anthropic, Found::AnthropicKey)
    } else if available.openrouter_api_key.is_some() {
        (ServedBy::OpenRouter, Found::OpenRouterKey)
    } else if available.openai_base_url.is_some() {
        (ServedBy::Local, Found::OpenAiBaseUrl)
    } else if available.ollama_host.is_some() {
        (ServedBy::Ollama, Found::OllamaHost)
    } else if available.ollama_answers.as_ref().is_some_and(has_models) {
        (ServedBy::Ollama, Found::OllamaAnswers)
    } else {
        (ServedBy::Offline, Found::Nothing)
    }
}

/// The provider at the place that is known of it.
fn at_its_place(
    served_by: ServedBy,
    available: &Available,
    because: Found,
) -> Result<Choice, ChoiceError> {
    Ok(match Place::of(served_by, available)? {
        None => Choice::Offline { because },
        Some(place) => {
            let model = available.model.clone().unwrap_or(place.default_model);
            let config = ServerConfig::at(served_by, &place.base_url, place.api_key, model);
            Choice::Server { config, because }
        }
    })
}

#[cfg(test)]
mod tests;
