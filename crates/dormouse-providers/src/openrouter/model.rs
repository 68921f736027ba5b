//! A chat model at OpenRouter.

use super::{
    OpenRouterConfig,
    request::{Completions, headers},
};
use crate::{
    http::{self, Credentials, HttpClient, Network, ServerConfigError},
    server::{Server, delegate_chat_model},
};

/// A model at OpenRouter, or at a server with its dialect.
///
/// It uses OpenRouter's additions to chat completions: each usage includes the price; prompts are cached at providers
/// that cache on demand ([`ChatRequest::stable_messages`](dormouse_contracts::ChatRequest::stable_messages));
/// [`Routing`](super::Routing) selects providers. The reply reports which model answered.
///
/// Bounds and errors are as in [`OpenAiModel`](crate::OpenAiModel). An account without credit (402) is `Auth`, a
/// moderator's rejection (403) is `Refused`, and no provider for the request (503) is `Unavailable`. A reply that finishes
/// with `error` is an error.
#[derive(Debug)]
pub struct OpenRouterModel {
    server: Server<Completions>,
}

impl OpenRouterModel {
    /// Creates a model from its configuration. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`ServerConfigError`] if the base URL is not the address of a web server, or the HTTP client cannot be created.
    pub fn try_new(config: OpenRouterConfig) -> Result<Self, ServerConfigError> {
        Self::on(&Network::direct(), config)
    }

    /// Creates a model that sends its requests through `network`.
    ///
    /// # Errors
    ///
    /// As [`OpenRouterModel::try_new`].
    pub fn on(network: &Network, config: OpenRouterConfig) -> Result<Self, ServerConfigError> {
        let base = http::base(&config.base_url)?;
        let access = Credentials {
            headers: headers(&config),
            ..Credentials::bearer(config.api_key)
        };
        let http = HttpClient::try_new(&base, access, network)?;
        let url = http::below(&base, "/chat/completions");
        let api = Completions::routed(config.routing);
        let server = Server::new(api, url, http, config.provider, config.model);
        Ok(Self { server })
    }
}

delegate_chat_model!(OpenRouterModel);
