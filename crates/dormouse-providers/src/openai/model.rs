//! A chat model behind OpenAI's API.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use dormouse_contracts::{
    BoxStream, ChatDelta, ChatModel, ChatRequest, ModelError, ModelName, ProviderId, invariant,
};
use futures_util::TryFutureExt;

use super::{OpenAiApi, OpenAiConfig, chat_request::ChatCompletions, responses_request::Responses};
use crate::{
    http::{self, Credentials, Failure, HttpClient, Network, ServerConfigError},
    server::Server,
    stream::REPLY_LIMIT,
};

/// A model on any server with OpenAI's API: OpenAI, llama-server, Ollama, vLLM.
///
/// It uses chat completions, or Responses if the model needs it ([`OpenAiApi`]).
///
/// Replies are streamed and tools are native. If a model writes tool calls into its text, the caller has to parse them.
/// Needs a tokio runtime.
///
/// Every request is sent once, and once more for each field that the server does not support. If the request then
/// succeeds, the field is left out of all requests for an hour. (A length limit is first tried under its other name,
/// `max_tokens` or `max_completion_tokens`.) Retries, rate limits and the deadline of the whole reply are up to the
/// caller. Connecting may take [`OpenAiModel::CONNECT_TIMEOUT`], and silence may last as long as the network's
/// [`NetworkTimeouts`](crate::NetworkTimeouts). Dropping the stream closes the connection. The client does not follow
/// redirects, so that only the configured server gets the key. The usual proxy variables apply, except for connections
/// to this machine.
///
/// A whole reply in JSON, of at most 1 MiB, is accepted instead of a stream.
///
/// A reply may have [`OpenAiModel::REPLY_LIMIT`] bytes of text and arguments, 128 tool calls, and 64 MiB on the wire in
/// lines of at most 1 MiB. The client reads at most 16 KiB of an error body and keeps 300 characters. The key is
/// removed from every server text in an error.
///
/// # Errors
///
/// When each [`ModelErrorKind`](dormouse_contracts::ModelErrorKind) occurs here:
///
/// | kind | when |
/// | --- | --- |
/// | `Auth` | 401; 400 for an invalid key; 403 with a code about the key or its permission; 402, and 429 for a used-up quota: only another key or more money helps |
/// | `RateLimited` | 429, and 503 with `Retry-After`; with the requested pause, in seconds or as a date, at most [`OpenAiModel::LONGEST_PAUSE`] |
/// | `ContextExceeded` | 413 for a long request; 400, 413 or 422 that mention the length; 429 for a request larger than the limit per minute |
/// | `Refused` | every other 4xx (a moderator's 403 among them), 501, 505 |
/// | `NotFound` | 404, 405, 410 and 3xx: the model does not exist, or nothing is at this address |
/// | `Unreachable` | no connection could be opened |
/// | `Unavailable` | the connection ended without an answer; 5xx |
/// | `TimedOut` | 408; no answer, or silence within it, for too long |
/// | `Interrupted` | the connection ended before the reply did |
/// | `Malformed` | neither an event stream nor a JSON reply (such as HTML), an event that is not JSON, an exceeded bound |
#[derive(Debug)]
pub struct OpenAiModel {
    chat: Server<ChatCompletions>,
    responses: Server<Responses>,
    api: OpenAiApi,
    /// Whether requests use Responses now. An error of the server can switch this on.
    uses_responses: AtomicBool,
    host: String,
}

impl OpenAiModel {
    /// Time limit for connecting to the server, including TLS.
    pub const CONNECT_TIMEOUT: Duration = HttpClient::CONNECT_TIMEOUT;

    /// The maximum size of a reply in bytes, including names and arguments of calls: 256 KiB. A longer reply is
    /// `Malformed`.
    pub const REPLY_LIMIT: usize = REPLY_LIMIT;

    /// The longest pause that is accepted from a server: one hour. Longer ones are shortened to it.
    pub const LONGEST_PAUSE: Duration = http::LONGEST_PAUSE;

    /// Creates a model from its configuration. Sends nothing.
    ///
    /// `/v1` is added to a base URL without a version. Logs a warning if the key would travel unencrypted to another
    /// machine.
    ///
    /// # Errors
    ///
    /// [`ServerConfigError`] if the base URL is not the address of a web server, or the HTTP client cannot be created.
    pub fn try_new(config: OpenAiConfig) -> Result<Self, ServerConfigError> {
        Self::on(&Network::direct(), config)
    }

    /// Creates a model that sends its requests through `network`.
    ///
    /// # Errors
    ///
    /// As [`OpenAiModel::try_new`].
    pub fn on(network: &Network, config: OpenAiConfig) -> Result<Self, ServerConfigError> {
        let base = http::base(&config.base_url)?;
        let http = HttpClient::try_new(&base, Credentials::bearer(config.api_key), network)?;
        let (provider, model) = (config.provider, config.model);
        let host = invariant!(base.host_str(), "a web server has a host").to_owned();
        let made = Self {
            chat: Server::new(
                ChatCompletions::at(&host),
                http::below(&base, "/chat/completions"),
                http.clone(),
                provider.clone(),
                model.clone(),
            ),
            responses: Server::new(
                Responses,
                http::below(&base, "/responses"),
                http,
                provider,
                model,
            ),
            api: OpenAiApi::Auto,
            uses_responses: AtomicBool::new(false),
            host,
        };
        Ok(made.with_api(OpenAiApi::Auto))
    }

    /// Uses this API. The default is [`OpenAiApi::Auto`].
    #[must_use]
    pub fn with_api(self, api: OpenAiApi) -> Self {
        let uses_responses = api.starts_with_responses(&self.host, self.chat.model.as_str());
        Self {
            api,
            uses_responses: AtomicBool::new(uses_responses),
            ..self
        }
    }

    /// Uses chat completions, and Responses if the server's error points to it.
    async fn begin<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> Result<BoxStream<'a, Result<ChatDelta, ModelError>>, Failure> {
        match self.chat.begin(request).await {
            Err(failure) if failure.points_to("v1/responses") => {
                let begun = self.responses.begin(request).await?;
                self.uses_responses.store(true, Ordering::Relaxed);
                tracing::info!(model = %self.chat.model, "the model uses /v1/responses from now on");
                Ok(begun)
            }
            begun => begun,
        }
    }
}

impl ChatModel for OpenAiModel {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        if self.uses_responses.load(Ordering::Relaxed) {
            return self.responses.stream(request);
        }
        if self.api == OpenAiApi::ChatCompletions {
            return self.chat.stream(request);
        }
        let reply = self.begin(request);
        let reply = reply.map_err(|failure| failure.of(&self.chat.provider));
        Box::pin(reply.try_flatten_stream())
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.chat.provider, &self.chat.model)
    }
}
