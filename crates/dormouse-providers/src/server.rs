//! A chat model on a server, whatever its vendor's API.

mod written;

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

pub(crate) use self::written::{Body, Written};
use crate::{
    http::{self, Failure, HttpClient},
    stream::{Decoder, Draft, Framing, Reading},
};

/// How often a request is made again without a field that the server says it does not know.
const LEFT_OUT_AT_ONCE: usize = 8;

/// After this the server is asked with all fields again: it may have been started anew, with more in it.
const LEFT_OUT_FOR: Duration = Duration::from_secs(60 * 60);

/// A vendor's API: how a request is written, and how the events of a reply are read.
pub(crate) trait Api: Send + Sync {
    /// What reads the events of one reply.
    type Decoder: Decoder;
    /// How the stream is cut into events.
    const FRAMING: Framing;

    /// Where requests go.
    fn url(&self) -> &Url;

    /// The request in the vendor's words, without those fields.
    fn write(
        &self,
        model: &ModelName,
        request: &ChatRequest,
        without: &BTreeSet<RequestField>,
    ) -> Written;

    /// A decoder of a reply to `request`.
    fn decoder(&self, request: &ChatRequest) -> Self::Decoder;

    /// Learns from a refusal how requests are to be written. Is the same request written otherwise from now on?
    fn learns(&self, _refusal: &Failure, _refused: &Written) -> bool {
        false
    }
}

/// A model on a server.
pub(crate) struct Server<A> {
    pub(crate) api: A,
    http: HttpClient,
    pub(crate) provider: ProviderId,
    pub(crate) model: ModelName,
    fields: Mutex<Fields>,
}

/// Implements [`ChatModel`](dormouse_contracts::ChatModel) for models whose every request goes to their one `server`.
macro_rules! asks_its_server {
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
pub(crate) use asks_its_server;

/// What is known of the fields of requests.
#[derive(Debug, Default)]
struct Fields {
    /// What the server has refused, and done without.
    unknown: BTreeSet<RequestField>,
    /// Since when the first of them is known.
    since: Option<Instant>,
    /// What was told to be left out.
    told: BTreeSet<RequestField>,
}

impl<A: Api> Server<A> {
    pub(crate) fn new(api: A, http: HttpClient, provider: ProviderId, model: ModelName) -> Self {
        Self {
            api,
            http,
            provider,
            model,
            fields: Mutex::new(Fields::default()),
        }
    }

    /// The reply to `request`, as it comes.
    pub(crate) fn stream<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> BoxStream<'a, Result<ChatDelta, ModelError>> {
        let reply = self.begin(request);
        let reply = reply.map_err(|failure| failure.of(&self.provider));
        Box::pin(reply.try_flatten_stream())
    }

    /// The same once the server has begun to answer, so that another one may be asked where it did not.
    pub(crate) async fn begin<'a>(
        &'a self,
        request: &'a ChatRequest,
    ) -> Result<BoxStream<'a, Result<ChatDelta, ModelError>>, Failure> {
        let reading = self.open(request).await?;
        Ok(Box::pin(stream::unfold(
            reading,
            move |mut reading| async move {
                let delta = reading.next().await?;
                Some((delta.map_err(|failure| failure.of(&self.provider)), reading))
            },
        )))
    }

    async fn open(&self, request: &ChatRequest) -> Result<Reading<A::Decoder>, Failure> {
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
        Ok(Reading::new(
            self.http.pieces(answer),
            A::FRAMING,
            decoder,
            draft,
            redact.clone(),
        ))
    }

    /// Makes the request, and once more for each field that the server says it does not know. What helped is kept.
    async fn ask(&self, request: &ChatRequest) -> Result<(Response, Vec<RequestField>), Failure> {
        let mut without = self.fields().known(Instant::now());
        let mut again = LEFT_OUT_AT_ONCE;
        loop {
            let written = self.api.write(&self.model, request, &without);
            let failure = match self.send(&written).await {
                Ok(answer) => {
                    self.fields().learn(without, Instant::now());
                    return Ok((answer, self.tell(written.left_out)));
                }
                Err(failure) => failure,
            };
            again = match again.checked_sub(1) {
                Some(again) => again,
                None => return Err(failure),
            };
            if self.api.learns(&failure, &written) {
                continue;
            }
            let unknown = failure.unknown_field(&written.optional);
            if !unknown.is_some_and(|field| without.insert(field)) {
                return Err(failure);
            }
        }
    }

    async fn send(&self, written: &Written) -> Result<Response, Failure> {
        let body = serde_json::to_vec(&written.body);
        let body = body.map_err(|error| Failure::Request(Box::new(error)))?;
        self.http.stream(self.api.url(), body, A::FRAMING).await
    }

    /// Writes into the log what is left out, each field once.
    fn tell(&self, left_out: Vec<RequestField>) -> Vec<RequestField> {
        let mut fields = self.fields();
        for field in &left_out {
            if fields.told.insert(field.clone()) {
                tracing::warn!(
                    provider = %self.provider, model = %self.model, ?field,
                    "left out of requests: the provider or its model does not know it"
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
    /// What the server is known not to know.
    fn known(&mut self, now: Instant) -> BTreeSet<RequestField> {
        if self.since.is_some_and(|since| now - since >= LEFT_OUT_FOR) {
            self.unknown.clear();
            self.since = None;
        }
        self.unknown.clone()
    }

    /// The server has answered a request without these. Whoever complains of a field without being helped by its absence has meant
    /// something else, or repeats what a user said: that is no reason to leave it out of anything else.
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
            .field("url", &self.api.url().as_str())
            .field("http", &self.http)
            .finish_non_exhaustive()
    }
}
