//! A server, whatever its API.

use dormouse_contracts::{ModelName, ProviderId};

use super::ServedBy;
use crate::{
    AnthropicConfig, OllamaConfig, OllamaModelConfig, OpenAiConfig, OpenRouterConfig, Routing,
    Secret,
};

/// Which server, which model, which key, whatever the server's API. What is special about one is in its own configuration.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum ServerConfig {
    /// [`OpenAiModel`](crate::OpenAiModel): OpenAI, or any server that speaks its API.
    OpenAi(OpenAiConfig),
    /// [`AnthropicModel`](crate::AnthropicModel): Anthropic, or any server that speaks its API.
    Anthropic(AnthropicConfig),
    /// [`OpenRouterModel`](crate::OpenRouterModel): OpenRouter.
    OpenRouter(Box<OpenRouterConfig>),
    /// [`OllamaModel`](crate::OllamaModel).
    Ollama(OllamaModelConfig),
}

impl ServerConfig {
    /// A model at this address.
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

    /// Who serves it, as its errors and events name it.
    #[must_use]
    pub fn provider(&self) -> ProviderId {
        match self {
            Self::OpenAi(config) => config.provider.clone(),
            Self::Anthropic(config) => config.provider.clone(),
            Self::OpenRouter(config) => config.provider.clone(),
            Self::Ollama(_) => ServedBy::Ollama.id(),
        }
    }

    /// The model, as the server names it.
    #[must_use]
    pub fn model(&self) -> &ModelName {
        match self {
            Self::OpenAi(config) => &config.model,
            Self::OpenRouter(config) => &config.model,
            Self::Anthropic(config) => &config.model,
            Self::Ollama(config) => &config.server.model,
        }
    }

    /// The server's address, as it was written.
    #[must_use]
    pub fn base_url(&self) -> &str {
        match self {
            Self::OpenAi(config) => &config.base_url,
            Self::OpenRouter(config) => &config.base_url,
            Self::Anthropic(config) => &config.base_url,
            Self::Ollama(config) => &config.server.base_url,
        }
    }

    /// The key, where there is one.
    #[must_use]
    pub fn api_key(&self) -> Option<&Secret> {
        match self {
            Self::OpenAi(config) => config.api_key.as_ref(),
            Self::OpenRouter(config) => config.api_key.as_ref(),
            Self::Anthropic(config) => config.api_key.as_ref(),
            Self::Ollama(config) => config.server.api_key.as_ref(),
        }
    }

    /// The same with this key.
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
