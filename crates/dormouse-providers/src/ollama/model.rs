//! A chat model behind Ollama.

use dormouse_contracts::ChatRequest;

use super::{
    OllamaModelConfig,
    reply::ChatDecoder,
    request::{self, LoadOptions},
};
use crate::{
    ServedBy,
    http::{self, Credentials, HttpClient, Network, ServerConfigError},
    server::{Api, Server, WireRequest, WireRequestBuilder, delegate_chat_model},
};

/// A model on an Ollama server, version 0.8 or later, which streams tool calls. Uses `POST /api/chat`.
///
/// Ollama's own API can set the context window, the keep-alive time and thinking; its OpenAI-compatible one cannot. The
/// provider id is `ollama`. Sending, bounds and errors are as in [`OpenAiModel`](crate::OpenAiModel). A missing model is
/// `NotFound`, with the server's own hint.
///
/// - **Context window.** By default Ollama silently drops the start of a prompt that is too long, instructions first.
///   Every request disables that: such a prompt is `ContextExceeded`, and a reply that reaches the end of the window
///   finishes with `Length`. Older versions ignore this; with them, set [`OllamaModelConfig::context_window`] to at
///   least the longest prompt.
/// - **Thinking.** [`ChatRequest::reasoning_effort`] turns it on, and `Minimal` turns it off. Models named `gpt-oss`
///   always think and get an effort level.
/// - **Tools.** The API has no tool choice. For `None` no tools are offered; `Required` and `Tool` are left out and
///   reported. If a model rejects tools, they are left out for an hour and reported. Calls have no ids; each gets one.
/// - **Arguments** of earlier calls must be objects in this API. Others are sent as an object with the one field
///   `arguments`.
/// - **Extra parameters.** `options` in [`ChatRequest::extra`] are added to the options of the request, and never
///   replace one.
#[derive(Debug)]
pub struct OllamaModel {
    server: Server<Chat>,
}

#[derive(Debug)]
struct Chat(LoadOptions);

impl OllamaModel {
    /// Creates a model from its configuration. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`ServerConfigError`] if the base URL is not the address of a web server, or the HTTP client cannot be created.
    pub fn try_new(config: OllamaModelConfig) -> Result<Self, ServerConfigError> {
        Self::on(&Network::direct(), config)
    }

    /// Creates a model that sends its requests through `network`.
    ///
    /// # Errors
    ///
    /// As [`OllamaModel::try_new`].
    pub fn on(network: &Network, config: OllamaModelConfig) -> Result<Self, ServerConfigError> {
        let OllamaModelConfig {
            server,
            context_window,
            keep_alive,
        } = config;
        let base = http::root(&server.base_url)?;
        let http = HttpClient::try_new(&base, Credentials::bearer(server.api_key), network)?;
        let chat = Chat(LoadOptions {
            context_window,
            keep_alive,
        });
        let url = http::below(&base, "/api/chat");
        let server = Server::new(chat, url, http, ServedBy::Ollama.id(), server.model);
        Ok(Self { server })
    }
}

impl Api for Chat {
    type Decoder = ChatDecoder;

    fn write(&self, request: &ChatRequest, body: WireRequestBuilder<'_>) -> WireRequest {
        request::write(request, self.0, body)
    }

    fn decoder(&self, _: &ChatRequest) -> ChatDecoder {
        ChatDecoder
    }
}

delegate_chat_model!(OllamaModel);
