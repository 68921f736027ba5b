//! One request, sent once, with the key.

use std::{fmt, time::Duration};

use futures_util::StreamExt;
use reqwest::{
    Response, Url,
    header::{AUTHORIZATION, HeaderValue},
    redirect,
};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    address::{self, ServerConfigError},
    complaint::Complaint,
    failure::Failure,
    pause,
    redact::Redact,
};
use crate::Secret;

/// The longest body of an answer that is no success, in bytes; the rest is not read.
const COMPLAINT_LIMIT: usize = 16 * 1024;

/// The longest answer that is read whole, in bytes.
const ANSWER_LIMIT: usize = 64 * 1024 * 1024;

/// Sends each request exactly once, follows no redirect, and sees to it that the key is told nowhere. A clone shares
/// the connections.
#[derive(Clone)]
pub(crate) struct HttpClient {
    http: reqwest::Client,
    key: Option<Secret>,
    redact: Redact,
}

impl HttpClient {
    /// How long connecting to the server may take, secure channel included.
    pub(crate) const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);

    /// A client for the server at `base`. A key that would travel unencrypted to another machine is a warning in the
    /// log.
    pub(crate) fn try_new(base: &Url, key: Option<Secret>) -> Result<Self, ServerConfigError> {
        if base.scheme() == "http" && key.is_some() && !address::is_loopback(base) {
            tracing::warn!(server = %base, "the API key will travel unencrypted: use https");
        }
        let http = connections(base).map_err(|error| ServerConfigError::Client(error.into()))?;
        Ok(Self {
            http,
            redact: Redact::new(key.as_ref()),
            key,
        })
    }

    /// What takes the key out of texts.
    pub(crate) fn redact(&self) -> &Redact {
        &self.redact
    }

    /// The connections alone, for a client that writes its requests itself and sends them through this one.
    pub(crate) fn connections(&self) -> reqwest::Client {
        self.http.clone()
    }

    /// Sends the request and answers with a success, whose body is not read yet.
    pub(crate) async fn send(&self, mut request: reqwest::Request) -> Result<Response, Failure> {
        self.authorise(&mut request)?;
        let answer = self.http.execute(request).await;
        let answer = answer.map_err(|error| Failure::Unreachable(Box::new(error)))?;
        if answer.status().is_success() {
            return Ok(answer);
        }
        Err(Failure::Status {
            status: answer.status().as_u16(),
            pause: pause::asked_for(answer.headers()),
            complaint: self.complaint(answer).await,
        })
    }

    /// Sends `body` as JSON and reads the answer as JSON, all of it.
    pub(crate) async fn post<Answer: DeserializeOwned>(
        &self,
        url: &Url,
        body: &impl Serialize,
    ) -> Result<Answer, Failure> {
        let request = self.http.post(url.clone()).json(body).build();
        let request = request.map_err(|error| Failure::Request(Box::new(error)))?;
        let answer = self.whole(self.send(request).await?).await?;
        serde_json::from_slice(&answer).map_err(|error| {
            let words = format!("{error}, in {}", String::from_utf8_lossy(&answer));
            Failure::NoAnswer(Complaint::of(&words, &self.redact))
        })
    }

    /// What the server says in an answer that is none.
    pub(crate) async fn complaint(&self, answer: Response) -> Complaint {
        let mut pieces = answer.bytes_stream();
        let mut body = Vec::new();
        while let Some(Ok(piece)) = pieces.next().await {
            let room = COMPLAINT_LIMIT.saturating_sub(body.len());
            body.extend(piece.iter().take(room));
            if body.len() >= COMPLAINT_LIMIT {
                break;
            }
        }
        Complaint::read(&body, &self.redact)
    }

    async fn whole(&self, answer: Response) -> Result<Vec<u8>, Failure> {
        let mut pieces = answer.bytes_stream();
        let mut body = Vec::new();
        while let Some(piece) = pieces.next().await {
            let piece = piece.map_err(|error| Failure::CutOff(Some(Box::new(error))))?;
            if body.len().saturating_add(piece.len()) > ANSWER_LIMIT {
                return Err(Failure::TooMuch {
                    what: "bytes",
                    limit: ANSWER_LIMIT,
                });
            }
            body.extend_from_slice(&piece);
        }
        Ok(body)
    }

    /// Sets the key, marked so that it is shown in no log, or removes the empty one that another client set.
    fn authorise(&self, request: &mut reqwest::Request) -> Result<(), Failure> {
        request.headers_mut().remove(AUTHORIZATION);
        if let Some(key) = &self.key {
            let mut value = HeaderValue::try_from(format!("Bearer {}", key.expose()))
                .map_err(|error| Failure::Request(Box::new(error)))?;
            value.set_sensitive(true);
            request.headers_mut().insert(AUTHORIZATION, value);
        }
        Ok(())
    }
}

impl fmt::Debug for HttpClient {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpClient")
            .field("key", &self.key)
            .finish_non_exhaustive()
    }
}

fn connections(base: &Url) -> Result<reqwest::Client, reqwest::Error> {
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
    }
    builder.build()
}
