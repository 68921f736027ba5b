//! A chat model at OpenRouter.

use super::{OpenRouterConfig, api::Completions, headers::headers};
use crate::{
    http::{self, Access, HttpClient, Network, ServerConfigError},
    server::{Server, asks_its_server},
};

/// A model at OpenRouter, or at a server that speaks its dialect.
///
/// What OpenRouter adds to chat completions is used: the price of each reply comes with its usage, prompts are kept in the
/// caches of those who do that on demand ([`ChatRequest::stable_messages`](dormouse_contracts::ChatRequest::stable_messages)), and [`Routing`](super::Routing) says who may answer. The reply tells
/// which model did.
///
/// Everything else, bounds and errors above all, is as [`OpenAiModel`](crate::OpenAiModel) has it. An account without credit (402) is `Auth`, a moderator's
/// refusal (403) `Refused`, no provider for the request (503) `Unavailable`, and a reply that ends with an error is one.
#[derive(Debug)]
pub struct OpenRouterModel {
    server: Server<Completions>,
}

impl OpenRouterModel {
    /// A model from its configuration. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`ServerConfigError`] if the base URL is no address of a web server, or no HTTP client can be made.
    pub fn try_new(config: OpenRouterConfig) -> Result<Self, ServerConfigError> {
        Self::on(&Network::direct(), config)
    }

    /// The same by another way than straight to the server.
    ///
    /// # Errors
    ///
    /// As [`OpenRouterModel::try_new`].
    pub fn on(network: &Network, config: OpenRouterConfig) -> Result<Self, ServerConfigError> {
        let base = http::base(&config.base_url)?;
        let access = Access {
            headers: headers(&config),
            ..Access::bearer(config.api_key)
        };
        let http = HttpClient::try_new(&base, access, network)?;
        let api = Completions {
            url: http::below(&base, "/chat/completions"),
            routing: config.routing,
        };
        let server = Server::new(api, http, config.provider, config.model);
        Ok(Self { server })
    }
}

asks_its_server!(OpenRouterModel);
