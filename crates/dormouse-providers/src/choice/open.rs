//! From a choice to a model.

use std::sync::Arc;

use dormouse_contracts::ChatModel;

use super::ServerConfig;
use crate::{
    AnthropicModel, Network, OllamaModel, OpenAiModel, OpenRouterModel, ServerConfigError,
};

/// Makes the model of a server that was chosen. Sends nothing.
///
/// # Errors
///
/// [`ServerConfigError`] if the server's address is none, or no HTTP client can be made.
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
