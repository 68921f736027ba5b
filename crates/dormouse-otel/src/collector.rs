//! A collector of spans, over HTTP.

use std::time::Duration;

use dormouse_contracts::BoxError;
use dormouse_resilience::RetryVerdict;
use dormouse_text::{beginning_bytes, one_line};
use reqwest::{Response, StatusCode, Url, header, redirect};

use crate::{span::Span, wire};

/// How long a collector may take to answer.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long a connection may take.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);
/// How much of an answer is read, in bytes.
const LONGEST_ANSWER: usize = 64 * 1024;
/// How much of what a collector says is repeated, in bytes.
const LONGEST_WORDS: usize = 300;
/// Where a collector takes spans, if its address has no path.
const PATH: &str = "/v1/traces";

/// An address to which spans cannot be sent.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollectorError {
    /// It is not an address of HTTP.
    #[error(
        "the address of a collector begins with http:// or https://, as in http://127.0.0.1:4318"
    )]
    Address,
    /// The address holds a name or a password.
    #[error("the address of a collector must not hold a name or a password")]
    Credentials,
    /// The client could not be set up, for example because the machine has no certificates.
    #[error("the HTTP client could not be set up")]
    Client(#[source] BoxError),
}

/// Why spans were not sent, as far as a caller can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SendErrorKind {
    /// There was no connection, or it broke.
    #[error("the collector cannot be reached")]
    Unreachable,
    /// No answer came in time.
    #[error("the collector did not answer within {} s", PATIENCE.as_secs())]
    TimedOut,
    /// The collector is busy or failing, and may have asked for a pause.
    #[error("the collector is busy or failing (HTTP status {status})")]
    Busy {
        /// The status of its answer.
        status: u16,
        /// The pause that it asked for.
        pause: Option<Duration>,
    },
    /// The request was too large.
    #[error("the collector refused the size of a request (HTTP status 413)")]
    TooLarge,
    /// The collector does not take the spans, or is not at this address.
    #[error("the collector refused the spans (HTTP status {status})")]
    Refused {
        /// The status of its answer.
        status: u16,
    },
}

/// Spans were not sent. The collector may have them nevertheless; sending them again does no harm, because their ids are the same.
#[derive(Debug, thiserror::Error)]
#[error("{kind}{}", said(words))]
pub struct SendError {
    kind: SendErrorKind,
    /// What the collector said.
    words: String,
    source: Option<BoxError>,
}

fn said(words: &str) -> String {
    match words {
        "" => String::new(),
        words => format!(": {words}"),
    }
}

impl SendError {
    /// Why.
    #[must_use]
    pub fn kind(&self) -> SendErrorKind {
        self.kind
    }

    /// Whether the same request may succeed later.
    pub(crate) fn verdict(&self) -> RetryVerdict {
        match self.kind {
            SendErrorKind::Unreachable
            | SendErrorKind::TimedOut
            | SendErrorKind::Busy { pause: None, .. } => RetryVerdict::Retry,
            SendErrorKind::Busy {
                pause: Some(pause), ..
            } => RetryVerdict::RetryAfter(pause),
            SendErrorKind::TooLarge | SendErrorKind::Refused { .. } => RetryVerdict::GiveUp,
        }
    }

    fn of(error: reqwest::Error) -> Self {
        let kind = match error.is_timeout() {
            true => SendErrorKind::TimedOut,
            false => SendErrorKind::Unreachable,
        };
        Self {
            kind,
            words: String::new(),
            // The reader of the error knows the address.
            source: Some(error.without_url().into()),
        }
    }
}

/// The part of an accepted request that the collector left out.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeftOut {
    pub(crate) spans: u64,
    pub(crate) why: String,
}

/// A collector.
#[derive(Clone, Debug)]
pub struct Collector {
    http: reqwest::Client,
    url: Url,
}

impl Collector {
    /// The collector at this address. Without a path, it is asked at `/v1/traces`. Nothing is sent yet.
    ///
    /// # Errors
    ///
    /// [`CollectorError`]; the address is not repeated in it.
    pub fn try_new(address: &str) -> Result<Self, CollectorError> {
        let mut url = Url::parse(address).map_err(|_not_a_url| CollectorError::Address)?;
        if !matches!(url.scheme(), "http" | "https") {
            return Err(CollectorError::Address);
        }
        if !url.username().is_empty() || url.password().is_some() {
            return Err(CollectorError::Credentials);
        }
        if url.path() == "/" {
            url.set_path(PATH);
        }
        // There is one cryptography provider per process. If the program has installed another one, that one is used.
        rustls::crypto::ring::default_provider()
            .install_default()
            .ok();
        let mut builder = reqwest::Client::builder()
            .user_agent(concat!("dormouse/", env!("CARGO_PKG_VERSION")))
            .connect_timeout(CONNECT_PATIENCE)
            .timeout(PATIENCE)
            // A redirect would carry spans to an address that nobody chose.
            .redirect(redirect::Policy::none());
        if url.scheme() == "http" {
            // Without TLS, the machine does not need certificates.
            builder = builder.tls_certs_only([]);
        }
        let http = builder
            .build()
            .map_err(|error| CollectorError::Client(error.into()))?;
        Ok(Self { http, url })
    }

    /// Sends these spans, once.
    ///
    /// # Errors
    ///
    /// [`SendError`].
    pub(crate) async fn send(&self, spans: &[Span]) -> Result<LeftOut, SendError> {
        let request = self
            .http
            .post(self.url.clone())
            .header(header::CONTENT_TYPE, "application/x-protobuf")
            .body(wire::body(spans));
        let answer = request.send().await.map_err(SendError::of)?;
        let status = answer.status();
        let pause = pause(&answer);
        let body = beginning(answer).await;
        if status.is_success() {
            // After a status of 2xx the collector has the spans, even if the rest of the answer was lost.
            let (spans, why) = wire::left_out(&body.unwrap_or_default());
            let why = safe(&why);
            return Ok(LeftOut { spans, why });
        }
        let status_code = status.as_u16();
        let kind = match status {
            StatusCode::PAYLOAD_TOO_LARGE => SendErrorKind::TooLarge,
            StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS => SendErrorKind::Busy {
                status: status_code,
                pause,
            },
            other if other.is_server_error() => SendErrorKind::Busy {
                status: status_code,
                pause,
            },
            _ => SendErrorKind::Refused {
                status: status_code,
            },
        };
        // Most collectors answer in words, some in protobuf.
        let words = body.ok().and_then(|body| String::from_utf8(body).ok());
        Err(SendError {
            kind,
            words: safe(&words.unwrap_or_default()),
            source: None,
        })
    }
}

/// The pause that the collector asks for, in whole seconds; a date is not understood.
fn pause(answer: &Response) -> Option<Duration> {
    let seconds = answer.headers().get(header::RETRY_AFTER)?.to_str().ok()?;
    seconds.trim().parse().ok().map(Duration::from_secs)
}

/// The beginning of the answer.
async fn beginning(mut answer: Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut read = Vec::new();
    while let Some(piece) = answer.chunk().await? {
        let room = LONGEST_ANSWER - read.len();
        read.extend(piece.iter().take(room));
        if read.len() == LONGEST_ANSWER {
            break;
        }
    }
    Ok(read)
}

/// Words of a collector, on one line and without hidden characters.
fn safe(words: &str) -> String {
    one_line(beginning_bytes(words.trim(), LONGEST_WORDS))
}
