//! The configuration of a server with any API.

#[cfg(feature = "openai")]
use std::sync::Arc;

#[cfg(feature = "openai")]
use dormouse_contracts::ChatModel;
use dormouse_contracts::{ModelName, ProviderId};

use super::ServedBy;
use crate::{
    AnthropicConfig, OllamaConfig, OllamaModelConfig, OpenAiConfig, OpenRouterConfig, Routing,
    Secret,
};
#[cfg(feature = "openai")]
use crate::{
    AnthropicModel, Network, OllamaModel, OpenAiModel, OpenRouterModel, ServerConfigError,
};

/// Server, model and key, for any API. Each vendor's configuration has its own settings.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerConfig {
    /// [`OpenAiModel`](crate::OpenAiModel): OpenAI, or a compatible server.
    OpenAi(OpenAiConfig),
    /// [`AnthropicModel`](crate::AnthropicModel): Anthropic, or a compatible server.
    Anthropic(AnthropicConfig),
    /// [`OpenRouterModel`](crate::OpenRouterModel): OpenRouter.
    OpenRouter(Box<OpenRouterConfig>),
    /// [`OllamaModel`](crate::OllamaModel).
    Ollama(OllamaModelConfig),
}

impl ServerConfig {
    /// Creates the configuration of a model at this address.
    pub(super) fn at(
        served_by: ServedBy,
        base_url: &str,
        api_key: Option<Secret>,
        model: ModelName,
    ) -> Self {
        let base_url = base_url.to_owned();
        match served_by {
            ServedBy::Anthropic => Self::Anthropic(AnthropicConfig {
                provider: served_by.id(),
                base_url,
                api_key,
                model,
                output_limit: None,
            }),
            ServedBy::OpenRouter => Self::OpenRouter(Box::new(OpenRouterConfig {
                provider: served_by.id(),
                api_key,
                model,
                base_url,
                app_name: OpenRouterConfig::APP_NAME.to_owned(),
                site_url: String::new(),
                routing: Routing::default(),
            })),
            ServedBy::Ollama => Self::Ollama(OllamaModelConfig::from(OllamaConfig {
                base_url,
                api_key,
                model,
            })),
            ServedBy::OpenAi | ServedBy::Local | ServedBy::Offline => Self::OpenAi(OpenAiConfig {
                provider: served_by.id(),
                base_url,
                api_key,
                model,
            }),
        }
    }

    /// Returns the provider's id, for errors and events.
    #[must_use]
    pub fn provider(&self) -> ProviderId {
        match self {
            Self::OpenAi(config) => config.provider.clone(),
            Self::Anthropic(config) => config.provider.clone(),
            Self::OpenRouter(config) => config.provider.clone(),
            Self::Ollama(_) => ServedBy::Ollama.id(),
        }
    }

    /// Returns the model, as the server names it.
    #[must_use]
    pub fn model(&self) -> &ModelName {
        match self {
            Self::OpenAi(config) => &config.model,
            Self::OpenRouter(config) => &config.model,
            Self::Anthropic(config) => &config.model,
            Self::Ollama(config) => &config.server.model,
        }
    }

    /// Returns the server's address, as configured.
    #[must_use]
    pub fn base_url(&self) -> &str {
        match self {
            Self::OpenAi(config) => &config.base_url,
            Self::OpenRouter(config) => &config.base_url,
            Self::Anthropic(config) => &config.base_url,
            Self::Ollama(config) => &config.server.base_url,
        }
    }

    /// Returns the key, if there is one.
    #[must_use]
    pub fn api_key(&self) -> Option<&Secret> {
        match self {
            Self::OpenAi(config) => config.api_key.as_ref(),
            Self::OpenRouter(config) => config.api_key.as_ref(),
            Self::Anthropic(config) => config.api_key.as_ref(),
            Self::Ollama(config) => config.server.api_key.as_ref(),
        }
    }

    /// Replaces the key.
    #[must_use]
    pub fn with_key(mut self, key: Secret) -> Self {
        let place = match &mut self {
            Self::OpenAi(config) => &mut config.api_key,
            Self::OpenRouter(config) => &mut config.api_key,
            Self::Anthropic(config) => &mut config.api_key,
            Self::Ollama(config) => &mut config.server.api_key,
        };
        *place = Some(key);
        self
    }
}

/// Creates the model of a chosen server. Sends nothing.
///
/// # Errors
///
/// [`ServerConfigError`] if the address is invalid, or the HTTP client cannot be created.
#[cfg(feature = "openai")]
pub fn open_model(
    server: &ServerConfig,
    network: &Network,
) -> Result<Arc<dyn ChatModel>, ServerConfigError> {
    Ok(match server.clone() {
        ServerConfig::OpenAi(config) => Arc::new(OpenAiModel::on(network, config)?),
        ServerConfig::OpenRouter(config) => Arc::new(OpenRouterModel::on(network, *config)?),
        ServerConfig::Anthropic(config) => Arc::new(AnthropicModel::on(network, config)?),
        ServerConfig::Ollama(config) => Arc::new(OllamaModel::on(network, config)?),
    })
}
