//! A chat model on a server, for every vendor's API.

mod wire_request;

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use dormouse_contracts::{
    BoxStream, ChatDelta, ChatRequest, ModelError, ModelName, ProviderId, ReplyInfo, RequestField,
};
use futures_util::{TryFutureExt, stream};
use reqwest::{Response, Url};
use tokio::time::Instant;

pub(crate) use self::wire_request::{WireRequest, WireRequestBuilder, written};
use crate::{
    http::{self, Failure, HttpClient},
    stream::{Decoder, Draft, ReplyStream},
};

/// The maximum number of unsupported fields that are removed from one request.
const MAX_DROPPED_FIELDS: usize = 8;

/// After this time all fields are sent again: the server may have been updated.
const RETRY_FIELDS_AFTER: Duration = Duration::from_secs(60 * 60);

/// A vendor's API: the format of a request, and the decoder of a reply.
pub(crate) trait Api: Send + Sync {
    /// Decodes the events of one reply.
    type Decoder: Decoder;

    /// Returns the request in the vendor's format. `body` names the model, and drops the fields that the server does not
    /// support.
    fn write(&self, request: &ChatRequest, body: WireRequestBuilder<'_>) -> WireRequest;

    /// Returns a decoder for the reply to `request`.
    fn decoder(&self, request: &ChatRequest) -> Self::Decoder;

    /// Learns from a rejection. Returns true if [`write`](Self::write) now writes the request differently, so that the
    /// caller should send it again.
    fn learns(&self, _refusal: &Failure, _refused: &WireRequest) -> bool {
        false
    }
}

/// A model on a server.
pub(crate) struct Server<A> {
    api: A,
    url: Url,
    http: HttpClient,
    pub(crate) provider: ProviderId,
    pub(crate) model: ModelName,
    fields: Mutex<Fields>,
}

/// Implements [`ChatModel`](dormouse_contracts::ChatModel) for a type with a field `server`.
macro_rules! delegate_chat_model {
    ($model:ident) => {
        impl dormouse_contracts::ChatModel for $model {
            fn stream<'a>(
                &'a self,
                request: &'a dormouse_contracts::ChatRequest,
            ) -> dormouse_contracts::BoxStream<
                'a,
                Result<dormouse_contracts::ChatDelta, dormouse_contracts::ModelError>,
            > {
                self.server.stream(request)
            }

            fn identity(
                &self,
            ) -> (
                &dormouse_contracts::ProviderId,
                &dormouse_contracts::ModelName,
            ) {
                (&self.server.provider, &self.server.model)
            }
        }
    };
}
pub(crate) use delegate_chat_model;

/// What is known about the fields of requests.
#[derive(Debug, Default)]
struct Fields {
    /// The fields that the server does not support.
    unknown: BTreeSet<RequestField>,
    /// When the first of them was found.
    since: Option<Instant>,
    /// The fields that a warning was logged for.
    logged: BTreeSet<RequestField>,
}

impl<A: Api> Server<A> {
    /// Creates a model that sends its requests to `url`.
    pub(crate) fn new(
        api: A,
        url: Url,
        http: HttpClient,
        provider: ProviderId,
        model: ModelName,
    ) -> Self {
        Self {
            api,
            url,
            http,
            provider,
            model,
            fields: Mutex::new(Fields::default()),
        }
    }

    /// Streams the reply to `request`.
    pub(crate) fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        let reply = self.begin(request);
        let reply = reply.map_err(|failure| failure.of(&self.provider));
        Box::pin(reply.try_flatten_stream())
    }

    /// Waits until the answer starts, and returns its stream. After a failure before that point, the caller can still
    /// try another API.
    pub(crate) async fn begin<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> Result<BoxStream<'a, Result<ChatDelta, ModelError>>, Failure> {
        let reply_stream = self.open(request).await?;
        Ok(Box::pin(stream::unfold(
            reply_stream,
            move |mut reply_stream| async move {
                let delta = reply_stream.next().await?;
                Some((
                    delta.map_err(|failure| failure.of(&self.provider)),
                    reply_stream,
                ))
            },
        )))
    }

    async fn open(&self, request: &ChatRequest) -> Result<ReplyStream<A::Decoder>, Failure> {
        let (answer, left_out) = self.ask(request).await?;
        let redact = self.http.redact();
        let info = ReplyInfo {
            provider: self.provider.clone(),
            model: self.model.clone(),
            served_model: None,
            request_id: http::request_id(answer.headers(), redact),
            rate_limits: http::rate_limits(answer.headers()),
            left_out,
        };
        let draft = Draft::new(request.messages.len(), info, redact.clone());
        let decoder = self.api.decoder(request);
        Ok(ReplyStream::new(
            self.http.pieces(answer),
            decoder,
            draft,
            redact.clone(),
        ))
    }

    /// Sends the request. If the server does not support a field, sends it again without the field. If that succeeds,
    /// remembers the field.
    async fn ask(&self, request: &ChatRequest) -> Result<(Response, Vec<RequestField>), Failure> {
        let mut without = self.fields().known(Instant::now());
        let mut again = MAX_DROPPED_FIELDS;
        loop {
            let wire_request = self
                .api
                .write(request, WireRequestBuilder::new(&self.model, &without));
            let failure = match self.send(&wire_request).await {
                Ok(answer) => {
                    self.fields().learn(without, Instant::now());
                    return Ok((answer, self.log_left_out(wire_request.left_out)));
                }
                Err(failure) => failure,
            };
            again = match again.checked_sub(1) {
                Some(again) => again,
                None => return Err(failure),
            };
            if self.api.learns(&failure, &wire_request) {
                continue;
            }
            let unknown = failure.unknown_field(&wire_request.optional);
            if !unknown.is_some_and(|field| without.insert(field)) {
                return Err(failure);
            }
        }
    }

    async fn send(&self, wire_request: &WireRequest) -> Result<Response, Failure> {
        let body = wire_request.json();
        let body = body.map_err(|error| Failure::Request(Box::new(error)))?;
        self.http.stream(&self.url, body, A::Decoder::FRAMING).await
    }

    /// Logs each field that is left out, once.
    fn log_left_out(&self, left_out: Vec<RequestField>) -> Vec<RequestField> {
        let mut fields = self.fields();
        for field in &left_out {
            if fields.logged.insert(field.clone()) {
                tracing::warn!(
                    provider = %self.provider, model = %self.model, ?field,
                    "a field is left out of requests: the provider or its model does not support it"
                );
            }
        }
        left_out
    }

    fn fields(&self) -> MutexGuard<'_, Fields> {
        self.fields.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Fields {
    /// Returns the fields that the server does not support.
    fn known(&mut self, now: Instant) -> BTreeSet<RequestField> {
        if self
            .since
            .is_some_and(|since| now - since >= RETRY_FIELDS_AFTER)
        {
            self.unknown.clear();
            self.since = None;
        }
        self.unknown.clone()
    }

    /// Remembers the fields that a successful request was sent without. A field that did not make the request succeed
    /// is not remembered: the error was about something else, or only quoted the user's text.
    fn learn(&mut self, without: BTreeSet<RequestField>, now: Instant) {
        if !without.is_empty() {
            self.since.get_or_insert(now);
            self.unknown.extend(without);
        }
    }
}

impl<A: Api> fmt::Debug for Server<A> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("provider", &self.provider)
            .field("model", &self.model)
            .field("url", &self.url.as_str())
            .field("http", &self.http)
            .finish_non_exhaustive()
    }
}
