//! Lists the models of a server.

mod entry;
mod pages;
mod show;

use dormouse_contracts::{ModelError, ModelName, Usd};

use crate::{
    Network, ServerConfig, ServerConfigError, anthropic,
    http::{self, Credentials, Failure, HttpClient},
};

/// A model in a server's list. The size of its properties is limited, but their content is not verified.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedModel {
    /// The name in requests.
    pub name: ModelName,
    /// Size of the context window, prompt and reply together. Ollama reports the model's maximum, and uses less unless
    /// [`OllamaModelConfig::context_window`](crate::OllamaModelConfig::context_window) is set.
    pub context_window: Option<u32>,
    /// The maximum number of tokens in a reply.
    pub output_limit: Option<u32>,
    /// The price; only OpenRouter reports it.
    pub price: Option<ListedPrice>,
    /// The supported request parameters, by the server's names. Only OpenRouter reports them; empty otherwise.
    pub parameters: Vec<String>,
    /// The capabilities, by the server's names, such as `completion`, `tools`, `thinking`, `embedding`. Only Ollama
    /// reports them; empty otherwise.
    pub capabilities: Vec<String>,
    /// The owner, if reported; at most 256 bytes.
    pub owned_by: Option<String>,
}

impl ListedModel {
    /// Whether the model is a chat model. It counts as one unless the server says otherwise, as Ollama does for text
    /// encoders.
    #[must_use]
    pub fn can_chat(&self) -> bool {
        let mut capabilities = self.capabilities.iter();
        self.capabilities.is_empty() || capabilities.any(|can| can == "completion")
    }
}

/// The price of a token, as reported.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ListedPrice {
    /// Of a prompt token.
    pub input: Usd,
    /// Of a reply token.
    pub output: Usd,
    /// Of a prompt token that is read from a cache.
    pub cached_input: Option<Usd>,
    /// Of a prompt token that is written to a cache.
    pub cache_write: Option<Usd>,
}

/// Why a server's models cannot be listed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ListModelsError {
    /// The configuration is invalid.
    #[error("the server's models cannot be listed with this configuration")]
    Config(#[from] ServerConfigError),
    /// The server did not answer with a list.
    #[error("the server did not list its models")]
    Server(#[source] ModelError),
}

/// Lists the models of a server, in the server's order. The model in the configuration is ignored. Duplicate and
/// invalid names are skipped.
///
/// Sends one request to `/models`. Anthropic needs one request for each thousand models. For Ollama, each of the
/// first 64 models needs one more request, which gets the model's capabilities and context window. If that
/// request fails, they stay unknown. An answer may have at most 8 MiB, and the list 10,000 models. There are no
/// retries. There is one time limit: how long the server may be silent, as in [`OpenAiModel`](crate::OpenAiModel).
/// Set a short deadline for a server that may not exist. Dropping the future cancels the request. Needs a tokio
/// runtime.
///
/// # Errors
///
/// [`ListModelsError::Config`] if the address is invalid, or the HTTP client cannot be created;
/// [`ListModelsError::Server`] if the server is unreachable, rejects the key, has no list (`NotFound`), or answers with
/// something else (`Malformed`).
pub async fn list_models(
    config: &ServerConfig,
    network: &Network,
) -> Result<Vec<ListedModel>, ListModelsError> {
    let key = config.api_key().cloned();
    let models = match config {
        ServerConfig::OpenAi(_) | ServerConfig::OpenRouter(_) => {
            let base = http::base(config.base_url())?;
            let http = HttpClient::try_new(&base, Credentials::bearer(key), network)?;
            pages::one(&http, &http::below(&base, "/models"), "data").await
        }
        ServerConfig::Anthropic(_) => {
            let (base, http) = anthropic::reach(config.base_url(), key, network)?;
            pages::all(&http, &http::below(&base, "/models")).await
        }
        ServerConfig::Ollama(_) => {
            let base = http::root(config.base_url())?;
            let http = HttpClient::try_new(&base, Credentials::bearer(key), network)?;
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
