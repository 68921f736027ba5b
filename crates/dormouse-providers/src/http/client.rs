//! Sends one request once, with the key.

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
    error_body::ErrorBody,
    failure::{Failure, RequestSize},
    limits,
    network::{Network, NetworkTimeouts},
    pause,
    redact::Redact,
    transport::Transport,
};
use crate::{Secret, stream::Framing};

/// The maximum size of an error body, in bytes; the rest is not read.
const ERROR_BODY_LIMIT: usize = 16 * 1024;

/// Time limit for reading an error body. The status is known by then, and often there is nothing else.
const ERROR_BODY_TIMEOUT: Duration = Duration::from_secs(5);

/// The maximum size of an answer that is read whole, in bytes.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;

/// The key and the further headers of every request.
#[derive(Clone, Debug, Default)]
pub(crate) struct Credentials {
    /// The key, if the server needs one.
    pub(crate) key: Option<Key>,
    /// Further headers of every request.
    pub(crate) headers: HeaderMap,
}

impl Credentials {
    /// A bearer token in `Authorization`, and no further headers.
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

/// A key and its header. In `Authorization` it is a bearer token; in other headers it is sent as it is.
#[derive(Clone, Debug)]
pub(crate) struct Key {
    pub(crate) secret: Secret,
    pub(crate) header: HeaderName,
}

/// Sends each request exactly once, follows no redirects, and never prints the key. A clone shares the connections.
#[derive(Clone)]
pub(crate) struct HttpClient {
    http: reqwest::Client,
    transport: Transport,
    timeouts: NetworkTimeouts,
    headers: HeaderMap,
    redact: Redact,
}

impl HttpClient {
    /// Time limit for connecting to the server, including TLS.
    pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

    /// Creates a client for the server at `base`. Logs a warning if the key would travel unencrypted to another machine.
    pub(crate) fn try_new(
        base: &Url,
        access: Credentials,
        network: &Network,
    ) -> Result<Self, ServerConfigError> {
        if base.scheme() == "http" && access.key.is_some() && !address::is_loopback(base) {
            tracing::warn!(server = %base, "the API key will travel unencrypted: use https");
        }
        let http = connections(base, network);
        let http = http.map_err(|error| ServerConfigError::Client(error.into()))?;
        let mut headers = access.headers;
        if let Some(key) = &access.key {
            let value =
                header_value(key).map_err(|error| ServerConfigError::Client(error.into()))?;
            headers.insert(key.header.clone(), value);
        }
        Ok(Self {
            http,
            transport: network.transport().clone(),
            timeouts: network.timeouts(),
            headers,
            redact: Redact::new(access.key.as_ref().map(|key| &key.secret)),
        })
    }

    /// Removes the key from texts.
    pub(crate) fn redact(&self) -> &Redact {
        &self.redact
    }

    /// Sends the JSON `body` and returns a successful answer with the right media type; its body is not read yet.
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
            error_body: self.error_body(answer).await,
        })
    }

    /// Sends the request and returns a successful answer; its body is not read yet.
    async fn send(&self, request: reqwest::RequestBuilder) -> Result<Response, Failure> {
        let request = request.headers(self.headers.clone()).build();
        let request = request.map_err(|error| Failure::Request(Box::new(error)))?;
        let sent = RequestSize::of(&request);
        let first_byte = self.timeouts.first_byte;
        let answer = timeout(first_byte, self.transport.execute(&self.http, request)).await;
        let answer = answer.map_err(|_elapsed| Failure::NotBegun(first_byte))??;
        if answer.status().is_success() {
            return match encoding(&answer) {
                Some(encoding) => Err(Failure::Encoded(self.redact.line(&encoding))),
                None => Ok(answer),
            };
        }
        Err(Failure::Status {
            status: answer.status().as_u16(),
            pause: pause::requested(answer.headers()),
            request_id: limits::request_id(answer.headers(), &self.redact),
            sent,
            error_body: self.error_body(answer).await,
        })
    }

    /// Sends `body` as JSON and reads the whole answer as JSON.
    pub(crate) async fn post<Answer: DeserializeOwned>(
        &self,
        url: &Url,
        body: &impl Serialize,
    ) -> Result<Answer, Failure> {
        let request = self.http.post(url.clone()).json(body);
        self.read(request, ANSWER_LIMIT).await
    }

    /// Requests `url` and reads the whole answer as JSON, up to `limit` bytes.
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
            Failure::NoAnswer(ErrorBody::of(&words, &self.redact))
        })
    }

    /// Reads the error body, within a time limit. A compressed body is not read, since no request asks for one.
    pub(crate) async fn error_body(&self, answer: Response) -> ErrorBody {
        if let Some(encoding) = encoding(&answer) {
            let words = format!("a body with the content encoding {encoding}");
            return ErrorBody::of(&words, &self.redact);
        }
        let mut pieces = answer.bytes_stream();
        let mut body = Vec::new();
        let until = Instant::now() + ERROR_BODY_TIMEOUT;
        while let Ok(Some(Ok(piece))) = timeout_at(until, pieces.next()).await {
            let room = ERROR_BODY_LIMIT.saturating_sub(body.len());
            body.extend(piece.iter().take(room));
            if body.len() >= ERROR_BODY_LIMIT {
                break;
            }
        }
        ErrorBody::read(&body, &self.redact)
    }

    /// Returns the body in pieces as they arrive. It ends with a failure after a long silence.
    pub(crate) fn pieces(&self, answer: Response) -> BoxStream<'static, Result<Bytes, Failure>> {
        let between = self.timeouts.between_bytes;
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

/// Returns the value of the key's header, marked as sensitive.
fn header_value(key: &Key) -> Result<HeaderValue, reqwest::header::InvalidHeaderValue> {
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

/// Returns the content encoding of the body, if it has one.
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
    // There is one cryptography provider per process. If the program has installed another one, that one is used.
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
        // Without TLS, the machine does not need certificates.
        builder = builder.tls_certs_only([]);
    } else {
        builder = builder.tls_certs_merge(network.certificates().iter().cloned());
    }
    builder.build()
}

#[cfg(test)]
mod tests;
