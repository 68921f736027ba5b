//! One request, sent once, with the key.

use std::{fmt, time::Duration};

use bytes::Bytes;
use dormouse_contracts::BoxStream;
use futures_util::{StreamExt, stream};
use reqwest::{
    Response, Url,
    header::{
        ACCEPT, AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue,
    },
    redirect,
};
use serde::{Serialize, de::DeserializeOwned};
use tokio::time::{Instant, timeout, timeout_at};

use super::{
    address::{self, ServerConfigError},
    complaint::Complaint,
    failure::{Failure, RequestSize},
    limits,
    network::{Network, Patience},
    pause,
    redact::Redact,
    tape::Tape,
};
use crate::{Secret, stream::Framing};

/// The longest body of an answer that is no success, in bytes; the rest is not read.
const COMPLAINT_LIMIT: usize = 16 * 1024;

/// How long is waited for what a server says of a failure: that it failed is known by then, and often all there is.
const COMPLAINT_PATIENCE: Duration = Duration::from_secs(5);

/// The longest answer that is read whole, in bytes.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;

/// With what a server is asked besides the request itself.
#[derive(Clone, Debug, Default)]
pub(crate) struct Access {
    /// The key, and how it is shown.
    pub(crate) key: Option<Key>,
    /// Further headers of every request.
    pub(crate) headers: HeaderMap,
}

impl Access {
    /// A key shown as OpenAI's, if there is one, and nothing else.
    pub(crate) fn bearer(key: Option<Secret>) -> Self {
        Self {
            key: key.map(|secret| Key {
                secret,
                header: AUTHORIZATION,
            }),
            headers: HeaderMap::new(),
        }
    }
}

/// A key, and the header it is shown in. In `Authorization` it is a bearer token, elsewhere it stands alone.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) secret: Secret,
    pub(crate) header: HeaderName,
}

/// Sends each request exactly once, follows no redirect, and sees to it that the key is told nowhere. A clone shares
/// the connections.
#[derive(Clone)]
pub(crate) struct HttpClient {
    http: reqwest::Client,
    tape: Tape,
    patience: Patience,
    headers: HeaderMap,
    redact: Redact,
}

impl HttpClient {
    /// How long connecting to the server may take, secure channel included.
    pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

    /// A client for the server at `base`. A key that would travel unencrypted to another machine is a warning in the
    /// log.
    pub(crate) fn try_new(
        base: &Url,
        access: Access,
        network: &Network,
    ) -> Result<Self, ServerConfigError> {
        if base.scheme() == "http" && access.key.is_some() && !address::is_loopback(base) {
            tracing::warn!(server = %base, "the API key will travel unencrypted: use https");
        }
        let http = connections(base, network);
        let http = http.map_err(|error| ServerConfigError::Client(error.into()))?;
        let mut headers = access.headers;
        if let Some(key) = &access.key {
            let value = shown(key).map_err(|error| ServerConfigError::Client(error.into()))?;
            headers.insert(key.header.clone(), value);
        }
        Ok(Self {
            http,
            tape: network.tape().clone(),
            patience: network.patience(),
            headers,
            redact: Redact::new(access.key.as_ref().map(|key| &key.secret)),
        })
    }

    /// What takes the key out of texts.
    pub(crate) fn redact(&self) -> &Redact {
        &self.redact
    }

    /// Sends `body`, which is JSON, and answers with a success that is a stream, whose body is not read yet.
    pub(crate) async fn stream(
        &self,
        url: &Url,
        body: Vec<u8>,
        framing: Framing,
    ) -> Result<Response, Failure> {
        let request = self.http.post(url.clone()).body(body);
        let request = request
            .header(CONTENT_TYPE, "application/json")
            .header(ACCEPT, framing.media_type());
        let answer = self.send(request).await?;
        let media_type = media_type(&answer);
        if framing.may_be(&media_type) {
            return Ok(answer);
        }
        Err(Failure::NoStream {
            content_type: self.redact.line(&media_type),
            complaint: self.complaint(answer).await,
        })
    }

    /// Sends the request and answers with a success, whose body is not read yet.
    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Response, Failure> {
        let request = request.headers(self.headers.clone()).build();
        let request = request.map_err(|error| Failure::Request(Box::new(error)))?;
        let sent = RequestSize::of(&request);
        let first_byte = self.patience.first_byte;
        let answer = timeout(first_byte, self.tape.execute(&self.http, request)).await;
        let answer = answer.map_err(|_elapsed| Failure::NotBegun(first_byte))??;
        if answer.status().is_success() {
            return match encoding(&answer) {
                Some(encoding) => Err(Failure::Encoded(self.redact.line(&encoding))),
                None => Ok(answer),
            };
        }
        Err(Failure::Status {
            status: answer.status().as_u16(),
            pause: pause::asked_for(answer.headers()),
            request_id: limits::request_id(answer.headers(), &self.redact),
            sent,
            complaint: self.complaint(answer).await,
        })
    }

    /// Sends `body` as JSON and reads the answer as JSON, all of it.
    pub(crate) async fn post<Answer: DeserializeOwned>(
        &self,
        url: &Url,
        body: &impl Serialize,
    ) -> Result<Answer, Failure> {
        let request = self.http.post(url.clone()).json(body);
        self.read(request, ANSWER_LIMIT).await
    }

    /// Asks for `url` and reads the answer as JSON, all of it, up to this many bytes.
    pub(crate) async fn get<Answer: DeserializeOwned>(
        &self,
        url: &Url,
        limit: usize,
    ) -> Result<Answer, Failure> {
        self.read(self.http.get(url.clone()), limit).await
    }

    async fn read<Answer: DeserializeOwned>(
        &self,
        request: reqwest::RequestBuilder,
        limit: usize,
    ) -> Result<Answer, Failure> {
        let answer = self.whole(self.send(request).await?, limit).await?;
        serde_json::from_slice(&answer).map_err(|error| {
            let words = format!("{error}, in {}", String::from_utf8_lossy(&answer));
            Failure::NoAnswer(Complaint::of(&words, &self.redact))
        })
    }

    /// What the server says in an answer that is none, as far as it says it soon. In an encoding that nobody asked for it is not read.
    pub(crate) async fn complaint(&self, answer: Response) -> Complaint {
        if let Some(encoding) = encoding(&answer) {
            let words = format!("something in the content encoding {encoding}");
            return Complaint::of(&words, &self.redact);
        }
        let mut pieces = answer.bytes_stream();
        let mut body = Vec::new();
        let until = Instant::now() + COMPLAINT_PATIENCE;
        while let Ok(Some(Ok(piece))) = timeout_at(until, pieces.next()).await {
            let room = COMPLAINT_LIMIT.saturating_sub(body.len());
            body.extend(piece.iter().take(room));
            if body.len() >= COMPLAINT_LIMIT {
                break;
            }
        }
        Complaint::read(&body, &self.redact)
    }

    /// The body of an answer as it comes. It ends with a failure where nothing more comes for too long.
    pub(crate) fn pieces(&self, answer: Response) -> BoxStream<'static, Result<Bytes, Failure>> {
        let between = self.patience.between_bytes;
        let pieces = Some(answer.bytes_stream());
        Box::pin(stream::unfold(pieces, move |pieces| async move {
            let mut pieces = pieces?;
            match timeout(between, pieces.next()).await {
                Ok(Some(piece)) => Some((piece.map_err(Failure::of_body), Some(pieces))),
                Ok(None) => None,
                Err(_elapsed) => Some((Err(Failure::Silent(between)), None)),
            }
        }))
    }

    async fn whole(&self, answer: Response, limit: usize) -> Result<Vec<u8>, Failure> {
        let mut pieces = self.pieces(answer);
        let mut body = Vec::new();
        while let Some(piece) = pieces.next().await {
            let piece = piece?;
            if body.len().saturating_add(piece.len()) > limit {
                return Err(Failure::TooMuch {
                    what: "bytes",
                    limit,
                });
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }
}

/// The value of the key's header, marked so that it is shown in no log.
fn shown(key: &Key) -> Result<HeaderValue, reqwest::header::InvalidHeaderValue> {
    let secret = key.secret.expose();
    let mut value = if key.header == AUTHORIZATION {
        HeaderValue::try_from(format!("Bearer {secret}"))?
    } else {
        HeaderValue::try_from(secret)?
    };
    value.set_sensitive(true);
    Ok(value)
}

fn media_type(answer: &Response) -> String {
    let value = answer.headers().get(CONTENT_TYPE);
    let text = value.and_then(|value| value.to_str().ok());
    text.unwrap_or_default().trim().to_ascii_lowercase()
}

/// The encoding of the body, if it has one.
fn encoding(answer: &Response) -> Option<String> {
    let value = answer.headers().get(CONTENT_ENCODING)?;
    let text = String::from_utf8_lossy(value.as_bytes()).trim().to_owned();
    (!text.is_empty() && !text.eq_ignore_ascii_case("identity")).then_some(text)
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient")
            .field("headers", &self.headers)
            .finish_non_exhaustive()
    }
}

fn connections(base: &Url, network: &Network) -> Result<reqwest::Client, reqwest::Error> {
    // One cryptography for the whole process. Where the program has chosen another one already, that one is used.
    rustls::crypto::ring::default_provider()
        .install_default()
        .ok();
    let mut builder = reqwest::Client::builder()
        .user_agent(concat!("dormouse/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(HttpClient::CONNECT_TIMEOUT)
        .redirect(redirect::Policy::none());
    if address::is_loopback(base) {
        builder = builder.no_proxy();
    }
    if base.scheme() == "http" {
        // Without certificates to check there is no need for the machine to have any.
        builder = builder.tls_certs_only([]);
    } else {
        builder = builder.tls_certs_merge(network.certificates().iter().cloned());
    }
    builder.build()
}

#[cfg(test)]
mod tests;
