//! A chat model behind OpenAI's API.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    time::Duration,
};

use dormouse_contracts::{
    BoxStream, ChatDelta, ChatModel, ChatRequest, ModelError, ModelName, ProviderId, invariant,
};
use futures_util::TryFutureExt;

use super::{api::OpenAiApi, chat::ChatCompletions, config::OpenAiConfig, responses::Responses};
use crate::{
    http::{self, Access, Failure, HttpClient, Network, ServerConfigError},
    server::Server,
    stream::REPLY_LIMIT,
};

/// A model on any server that speaks OpenAI's API: OpenAI, llama-server, Ollama, vLLM.
///
/// It is asked through chat completions; through Responses where the model needs it ([`OpenAiApi`]).
///
/// Replies are streamed, tools are native; a request without tools carries none, and calls that a model then writes
/// into its text are for the caller to find. Needs a tokio runtime.
///
/// Every request is sent once, and once more for each field that the server says it does not know. Where it does without, the field
/// is left out of all that follow within an hour (a limit of the reply's length is first tried by its other name, `max_tokens` or `max_completion_tokens`): retries, rate limits and the deadline of the whole reply are the caller's. Connecting may take
/// [`OpenAiModel::CONNECT_TIMEOUT`], and silence as long as the [`Patience`](crate::Patience) of the network. Dropping the stream closes the connection. Redirects are not
/// followed, so that the key goes nowhere else. The usual proxy variables are honoured, except for this machine.
///
/// A server that answers with the whole reply in JSON, of at most 1 MiB, instead of a stream is understood as well.
///
/// A reply may have [`OpenAiModel::REPLY_LIMIT`] bytes of text and arguments, 128 tool calls and 64 MiB on the wire with
/// lines of at most 1 MiB; of an answer that is no success 16 KiB are read, and 300 characters kept in the error. The
/// key is taken out of everything that a server says and an error keeps.
///
/// # Errors
///
/// What each kind of [`ModelErrorKind`](dormouse_contracts::ModelErrorKind) means here:
///
/// | kind | when |
/// | --- | --- |
/// | `Auth` | 401; 400 for a key that is none; 403 with a code about the key or its permission; 402, and 429 for a used-up quota: nothing helps but another key or more money |
/// | `RateLimited` | 429, and 503 with `Retry-After`; with the pause asked for, in seconds or as a date, at most [`OpenAiModel::LONGEST_PAUSE`] |
/// | `ContextExceeded` | 413 for a long request, and 400, 413 or 422 that say so; 429 for a request that is larger than what is allowed in a minute |
/// | `Refused` | every other 4xx (a moderator's 403 among them), 501, 505 |
/// | `NotFound` | 404, 405, 410 and 3xx: no such model, or nothing at this address |
/// | `Unavailable` | no connection; 5xx |
/// | `TimedOut` | 408 |
/// | `Interrupted` | the connection ended before the reply did |
/// | `Malformed` | no stream of events and no reply in JSON (HTML), an event that is no JSON, a bound exceeded |
#[derive(Debug)]
pub struct OpenAiModel {
    chat: Server<ChatCompletions>,
    responses: Server<Responses>,
    api: OpenAiApi,
    /// Is it asked through Responses, as far as is known by now?
    by_responses: AtomicBool,
    host: String,
}

impl OpenAiModel {
    /// How long connecting to the server may take, secure channel included.
    pub const CONNECT_TIMEOUT: Duration = HttpClient::CONNECT_TIMEOUT;

    /// The most text of a reply, names and arguments of its calls included, in bytes: 256 KiB. More is `Malformed`.
    pub const REPLY_LIMIT: usize = REPLY_LIMIT;

    /// The longest pause that a server can ask for: one hour. A longer one counts as this.
    pub const LONGEST_PAUSE: Duration = http::LONGEST_PAUSE;

    /// A model from its configuration. Nothing is sent yet.
    ///
    /// A base URL without a version gets `/v1`. A key that would travel unencrypted to another machine is a warning in
    /// the log.
    ///
    /// # Errors
    ///
    /// [`ServerConfigError`] if the base URL is no address of a web server, or no HTTP client can be made.
    pub fn try_new(config: OpenAiConfig) -> Result<Self, ServerConfigError> {
        Self::on(&Network::direct(), config)
    }

    /// The same by another way than straight to the server.
    ///
    /// # Errors
    ///
    /// As [`OpenAiModel::try_new`].
    pub fn on(network: &Network, config: OpenAiConfig) -> Result<Self, ServerConfigError> {
        let base = http::base(&config.base_url)?;
        let http = HttpClient::try_new(&base, Access::bearer(config.api_key), network)?;
        let (provider, model) = (config.provider, config.model);
        let chat = ChatCompletions::below(&base);
        let responses = Responses::below(&base);
        let made = Self {
            chat: Server::new(chat, http.clone(), provider.clone(), model.clone()),
            responses: Server::new(responses, http, provider, model),
            api: OpenAiApi::Auto,
            by_responses: AtomicBool::new(false),
            host: invariant!(base.host_str(), "a web server has a host").to_owned(),
        };
        Ok(made.through(OpenAiApi::Auto))
    }

    /// The same model, asked through this API. Without this it is [`OpenAiApi::Auto`].
    #[must_use]
    pub fn through(self, api: OpenAiApi) -> Self {
        let by_responses = api.begins_with_responses(&self.host, self.chat.model.as_str());
        Self {
            api,
            by_responses: AtomicBool::new(by_responses),
            ..self
        }
    }

    /// Asks through chat completions, and through Responses where the server says that the model is to be found there.
    async fn begin<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> Result<BoxStream<'a, Result<ChatDelta, ModelError>>, Failure> {
        match self.chat.begin(request).await {
            Err(failure) if failure.points_to("v1/responses") => {
                let begun = self.responses.begin(request).await?;
                self.by_responses.store(true, Ordering::Relaxed);
                tracing::info!(model = %self.chat.model, "the model is asked through /v1/responses from now on");
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
        if self.by_responses.load(Ordering::Relaxed) {
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
