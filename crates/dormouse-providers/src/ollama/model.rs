//! A chat model behind Ollama.

use std::collections::BTreeSet;

use dormouse_contracts::{ChatRequest, ModelName, RequestField};
use reqwest::Url;

use super::{
    config::OllamaModelConfig,
    decoder::ChatDecoder,
    request::{self, Keeping},
};
use crate::{
    ServedBy,
    http::{self, Access, HttpClient, Network, ServerConfigError},
    server::{Api, Server, Written, asks_its_server},
    stream::Framing,
};

/// A model that Ollama serves, asked through `POST /api/chat`, of version 0.8 or later, which streams tool calls.
///
/// This is Ollama's own API, which knows what the one that it borrows from OpenAI does not: the size of the context
/// window, how long the model is kept, and whether it shall think. Its provider is called `ollama`. How requests are sent
/// and bounded, and what each kind of error means, is as in [`OpenAiModel`](crate::OpenAiModel); a model that is not there
/// is `Refused`, with the server's own words about pulling it.
///
/// - **Context window.** By itself Ollama forgets the beginning of a prompt that is too long, instructions first, and says
///   nothing. It is told not to: such a prompt is `ContextExceeded`, and a reply that runs into the end of the window is
///   finished for its length. Older versions do not listen; with those, set
///   [`OllamaModelConfig::context_window`] to no less than the longest prompt.
/// - **Thinking.** [`ChatRequest::reasoning_effort`] turns it on, and `Minimal` off. Models named `gpt-oss` cannot do
///   without, and are told how much.
/// - **Tools.** There is no choice of tools: `None` offers none, and any other is left out and told. A model without tools
///   gets none for an hour once it has refused them, which is told, too. Calls have no ids; they get one each.
/// - **Arguments** of earlier calls must be objects here. Others are sent as an object whose one field `arguments` holds them.
/// - **Further parameters.** `options` in [`ChatRequest::extra`] are put beside those that are set; none replaces any.
#[derive(Debug)]
pub struct OllamaModel {
    server: Server<Chat>,
}

#[derive(Debug)]
struct Chat {
    url: Url,
    keeping: Keeping,
}

impl OllamaModel {
    /// A model from its configuration. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`ServerConfigError`] if the base URL is no address of a web server, or no HTTP client can be made.
    pub fn try_new(config: OllamaModelConfig) -> Result<Self, ServerConfigError> {
        Self::on(&Network::direct(), config)
    }

    /// The same by another way than straight to the server.
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
        let http = HttpClient::try_new(&base, Access::bearer(server.api_key), network)?;
        let chat = Chat {
            url: http::below(&base, "/api/chat"),
            keeping: Keeping {
                context_window,
                keep_alive,
            },
        };
        let server = Server::new(chat, http, ServedBy::Ollama.id(), server.model);
        Ok(Self { server })
    }
}

impl Api for Chat {
    type Decoder = ChatDecoder;
    const FRAMING: Framing = Framing::JsonLines;

    fn url(&self) -> &Url {
        &self.url
    }

    fn write(
        &self,
        model: &ModelName,
        request: &ChatRequest,
        without: &BTreeSet<RequestField>,
    ) -> Written {
        request::write(request, model, self.keeping, without)
    }

    fn decoder(&self, _: &ChatRequest) -> ChatDecoder {
        ChatDecoder
    }
}

asks_its_server!(OllamaModel);
