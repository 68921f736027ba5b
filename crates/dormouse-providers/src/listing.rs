//! Which models a server has.

mod entry;
mod pages;
mod show;

use dormouse_contracts::{ModelError, ModelName, Usd};

use crate::{
    Network, ServerConfig, ServerConfigError, anthropic,
    http::{self, Access, Failure, HttpClient},
};

/// A model that a server says it has, and what it says of it. Nothing of that is checked, but all of it is bounded.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedModel {
    /// What it is called in requests.
    pub name: ModelName,
    /// How many tokens prompt and reply may have together. Ollama tells what the model was made for, and gives it less
    /// unless [`OllamaModelConfig::context_window`](crate::OllamaModelConfig::context_window) says otherwise.
    pub context_window: Option<u32>,
    /// The most tokens of a reply.
    pub output_limit: Option<u32>,
    /// What it costs. OpenRouter alone tells.
    pub price: Option<ListedPrice>,
    /// The parameters that a request for it may have, by the server's names; empty where it tells none. OpenRouter alone tells.
    pub parameters: Vec<String>,
    /// What it can do, by the server's names, such as `completion`, `tools`, `thinking`, `embedding`; empty where it tells
    /// nothing. Ollama alone tells.
    pub capabilities: Vec<String>,
    /// Whose it is, where the server says so; at most 256 bytes.
    pub owned_by: Option<String>,
}

impl ListedModel {
    /// Can one chat with it? Yes, unless the server says otherwise, as Ollama does of text encoders.
    #[must_use]
    pub fn can_chat(&self) -> bool {
        let mut capabilities = self.capabilities.iter();
        self.capabilities.is_empty() || capabilities.any(|can| can == "completion")
    }
}

/// What a token costs, as a server says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedPrice {
    /// One of a prompt.
    pub input: Usd,
    /// One of a reply.
    pub output: Usd,
    /// One of a prompt that came from a cache, where it says so.
    pub cached_input: Option<Usd>,
    /// One of a prompt that was put into a cache, where it says so.
    pub cache_write: Option<Usd>,
}

/// Why a server's models are not known.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListModelsError {
    /// It cannot be asked.
    #[error("the server cannot be asked which models it has")]
    Config(#[from] ServerConfigError),
    /// It did not answer, or with something else.
    #[error("the server did not tell which models it has")]
    Server(#[source] ModelError),
}

/// Asks a server which models it has, in the order in which it tells them; the model in the configuration does not
/// matter. A name that is told twice counts once, and one that no request could have is left out.
///
/// Makes one request, to `/models` of the API, and for each further thousand of Anthropic's another; of Ollama's each of
/// the first 64 models is asked after, for its capabilities and its context window, which stay unknown where that
/// fails. An answer may have 8 MiB, the list 10,000 models. Nothing is sent twice, and there is no deadline but that of
/// [`OpenAiModel`](crate::OpenAiModel) for silence: set one, a short one for a server that may not be there. Dropping the
/// future cancels the request. Needs a tokio runtime.
///
/// # Errors
///
/// [`ListModelsError::Config`] if the address is none, or no HTTP client can be made; [`ListModelsError::Server`] if the server
/// cannot be reached, wants another key, knows no such request (`Refused`), or answers with something that is no list
/// (`Malformed`).
pub async fn list_models(
    config: &ServerConfig,
    network: &Network,
) -> Result<Vec<ListedModel>, ListModelsError> {
    let key = config.api_key().cloned();
    let models = match config {
        ServerConfig::OpenAi(_) | ServerConfig::OpenRouter(_) => {
            let base = http::base(config.base_url())?;
            let http = HttpClient::try_new(&base, Access::bearer(key), network)?;
            pages::one(&http, &http::below(&base, "/models"), "data").await
        }
        ServerConfig::Anthropic(_) => {
            let (base, http) = anthropic::reach(config.base_url(), key, network)?;
            pages::all(&http, &http::below(&base, "/models")).await
        }
        ServerConfig::Ollama(_) => {
            let base = http::root(config.base_url())?;
            let http = HttpClient::try_new(&base, Access::bearer(key), network)?;
            ollama(&http, &base).await
        }
    };
    models.map_err(|failure| ListModelsError::Server(failure.of(&config.provider())))
}

async fn ollama(http: &HttpClient, base: &reqwest::Url) -> Result<Vec<ListedModel>, Failure> {
    let mut models = pages::one(http, &http::below(base, "/api/tags"), "models").await?;
    show::add(http, &http::below(base, "/api/show"), &mut models).await;
    Ok(models)
}
