//! A chat model behind OpenAI's chat completions.

use std::{collections::VecDeque, fmt, time::Duration};

use async_openai::{
    Client,
    config::{Config, OpenAIConfig},
    error::OpenAIError,
    types::stream::StreamResponse,
};
use dormouse_contracts::{
    BoxStream, ChatDelta, ChatModel, ChatRequest, ModelError, ModelName, ProviderId,
};
use futures_util::{StreamExt, TryFutureExt, stream};

use super::{
    chunk::Chunk,
    config::OpenAiConfig,
    reply::{self, Reply},
    request::{self, LengthField},
    wire::Wire,
};
use crate::http::{self, Complaint, Failure, Fault, HttpClient, Redact, ServerConfigError};

/// A model on any server that speaks OpenAI's chat completions: OpenAI, OpenRouter, llama-server, Ollama, vLLM.
///
/// Replies are streamed, tools are native; a request without tools carries none, and calls that a model then writes
/// into its text are for the caller to find. Needs a tokio runtime.
///
/// Every request is sent exactly once: retries, rate limits and the deadline of the whole reply are the caller's.
/// Connecting may take [`OpenAiModel::CONNECT_TIMEOUT`]. Dropping the stream closes the connection. Redirects are not
/// followed, so that the key goes nowhere else. The usual proxy variables are honoured, except for this machine.
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
/// | `Auth` | 401; 403 with a code about the key or its permission; 402, and 429 for a used-up quota: nothing helps but another key or more money |
/// | `RateLimited` | 429, and 503 with `Retry-After`; with the pause asked for, in seconds or as a date, at most [`OpenAiModel::LONGEST_PAUSE`] |
/// | `ContextExceeded` | 413, and 400 or 422 that say so |
/// | `Refused` | 3xx, every other 4xx (a moderator's 403 among them), 501, 505 |
/// | `Unavailable` | no connection; 5xx |
/// | `TimedOut` | 408 |
/// | `Interrupted` | the connection ended before the reply did |
/// | `Malformed` | no stream of events (HTML, plain JSON), an event that is no JSON, a bound exceeded |
pub struct OpenAiModel {
    client: Client<OpenAIConfig>,
    http: HttpClient,
    provider: ProviderId,
    model: ModelName,
    length_field: LengthField,
}

impl OpenAiModel {
    /// How long connecting to the server may take, secure channel included.
    pub const CONNECT_TIMEOUT: Duration = HttpClient::CONNECT_TIMEOUT;

    /// The most text of a reply, names and arguments of its calls included, in bytes: 256 KiB. More is `Malformed`.
    pub const REPLY_LIMIT: usize = reply::REPLY_LIMIT;

    /// The longest pause that a server can ask for: one day. A longer one, which no server means, counts as this.
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
        let base = http::base(&config.base_url)?;
        let http = HttpClient::try_new(&base, config.api_key)?;
        // Everything that the default configuration reads from the environment is replaced; the key is set on the
        // wire, where it can be marked as sensitive.
        let api = OpenAIConfig::default()
            .with_api_base(base.as_str().trim_end_matches('/'))
            .with_api_key("")
            .with_org_id("")
            .with_project_id("");
        Ok(Self {
            length_field: LengthField::at(base.host_str().unwrap_or_default()),
            client: Client::build(http.connections(), api),
            http,
            provider: config.provider,
            model: config.model,
        })
    }

    async fn open(&self, request: &ChatRequest) -> Result<Reading<'_>, ModelError> {
        let fault = Fault::default();
        let redact = self.http.redact();
        let body = request::write(request, &self.model, self.length_field);
        let wire = Wire {
            http: self.http.clone(),
            fault: fault.clone(),
        };
        let client = self.client.clone().with_http_service(wire);
        match client.chat().create_stream_byot(body).await {
            Ok(chunks) => Ok(Reading {
                chunks,
                reply: Reply::new(request.messages.len(), redact.clone()),
                ready: VecDeque::new(),
                fault,
                redact: redact.clone(),
                provider: &self.provider,
                over: false,
            }),
            Err(error) => Err(what_happened(&fault, error, redact).of(&self.provider)),
        }
    }
}

/// What the wire saw, or else what the client made of it.
fn what_happened(fault: &Fault, error: OpenAIError, redact: &Redact) -> Failure {
    fault.take().unwrap_or_else(|| match error {
        OpenAIError::Reqwest(error) => Failure::Unreachable(Box::new(error)),
        OpenAIError::InvalidArgument(_) => Failure::Request(Box::new(error)),
        // Its text may repeat what the server sent.
        other => Failure::Unreadable(Complaint::of(&other.to_string(), redact)),
    })
}

/// A reply that is being read.
struct Reading<'a> {
    chunks: StreamResponse<Chunk>,
    reply: Reply,
    ready: VecDeque<ChatDelta>,
    fault: Fault,
    redact: Redact,
    provider: &'a ProviderId,
    over: bool,
}

impl Reading<'_> {
    async fn next(&mut self) -> Option<Result<ChatDelta, ModelError>> {
        loop {
            if let Some(delta) = self.ready.pop_front() {
                return Some(Ok(delta));
            }
            if self.over {
                return None;
            }
            if let Err(failure) = self.read().await {
                self.over = true;
                // A finished reply is whole, whatever becomes of the connection afterwards.
                if !self.reply.is_finished() {
                    return Some(Err(failure.of(self.provider)));
                }
            }
        }
    }

    async fn read(&mut self) -> Result<(), Failure> {
        match self.chunks.next().await {
            Some(Ok(chunk)) => self.ready.extend(self.reply.take(chunk)?),
            Some(Err(error)) => return Err(what_happened(&self.fault, error, &self.redact)),
            None if self.reply.is_finished() => self.over = true,
            None => return Err(self.fault.take().unwrap_or(Failure::CutOff(None))),
        }
        Ok(())
    }
}

impl ChatModel for OpenAiModel {
    fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        let reading = self.open(request).map_ok(|reading| {
            stream::unfold(reading, |mut reading| async {
                reading.next().await.map(|delta| (delta, reading))
            })
        });
        Box::pin(reading.try_flatten_stream())
    }

    fn identity(&self) -> (&ProviderId, &ModelName) {
        (&self.provider, &self.model)
    }
}

impl fmt::Debug for OpenAiModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OpenAiModel")
            .field("provider", &self.provider)
            .field("base_url", &self.client.config().api_base())
            .field("http", &self.http)
            .field("model", &self.model)
            .finish_non_exhaustive()
    }
}
