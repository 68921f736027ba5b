//! Why a request gets no complete reply.

use std::time::Duration;

use dormouse_cassettes::NoMatch;
use dormouse_contracts::{BoxError, ModelError, ModelErrorKind, ProviderId, RequestField};
use reqwest::{Body, Request};

use super::error_body::ErrorBody;
use crate::vectors::WrongVectors;

/// Why there is no complete reply. It is the source of the [`ModelError`] that callers get.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// The connection could not be opened.
    #[error("the server could not be reached")]
    Unreachable(#[source] BoxError),
    /// The connection was opened, but there was no HTTP answer.
    #[error("the server ended the connection without an HTTP answer")]
    Dropped(#[source] BoxError),
    /// An answer with an error status.
    #[error("the server answered {status} and said: {error_body}")]
    Status {
        status: u16,
        pause: Option<Duration>,
        request_id: Option<String>,
        /// The size of the request.
        sent: RequestSize,
        error_body: ErrorBody,
    },
    /// A compressed answer. No request asks for one, and unpacking it could exhaust the memory.
    #[error("the server answered with the content encoding {0}, which was not requested")]
    Encoded(String),
    /// The answer did not start in time.
    #[error("the server did not begin to answer within {0:?}")]
    NotBegun(Duration),
    /// The answer stopped for this long.
    #[error("the server sent nothing for {0:?} in the middle of its answer")]
    Silent(Duration),
    /// The status is a success, but the body is not a stream of events.
    #[error("the server answered with {content_type} instead of a stream: {error_body}")]
    NoStream {
        content_type: String,
        error_body: ErrorBody,
    },
    /// The server ended the reply with an error.
    #[error("the server ended the reply with an error: {0}")]
    BrokenOff(ErrorBody),
    /// The connection ended before the reply was finished.
    #[error("the connection ended before the reply did")]
    CutOff(#[source] Option<BoxError>),
    /// A bound of the reply was exceeded.
    #[error("the reply has more than {limit} {what}")]
    TooMuch { what: &'static str, limit: usize },
    /// An event could not be parsed.
    #[error("an event of the reply could not be read: {0}")]
    Unreadable(ErrorBody),
    /// An answer that is not streamed could not be parsed.
    #[error("the answer could not be read: {0}")]
    NoAnswer(ErrorBody),
    /// The vectors do not match the texts.
    #[error(transparent)]
    Vectors(#[from] WrongVectors),
    /// The reply contains arguments for a tool call that it did not start.
    #[error("the reply continues a tool call that was never started")]
    NamelessCall,
    /// A request that is not in the recording.
    #[error("the recording has no answer")]
    NotRecorded(#[source] Box<NoMatch>),
    /// The request could not be created.
    #[error("the request could not be written")]
    Request(#[source] BoxError),
}

/// The size of a request; it decides what a 413 means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestSize {
    /// Less than 64 KiB. A 413 for such a short request is never about the length of the prompt.
    Short,
    Long,
}

impl RequestSize {
    pub(crate) fn of(request: &Request) -> Self {
        let body = request.body().and_then(Body::as_bytes).unwrap_or_default();
        match body.len() {
            ..0x1_0000 => Self::Short,
            _ => Self::Long,
        }
    }
}

impl Failure {
    /// Whether the server may accept a smaller request. If so, a batch of texts is divided.
    pub(crate) fn is_too_long(&self) -> bool {
        let is_too_large = matches!(self, Self::Status { status: 413, .. });
        is_too_large || self.kind() == ModelErrorKind::ContextExceeded
    }

    /// Returns the error kind for the caller.
    pub(crate) fn kind(&self) -> ModelErrorKind {
        match self {
            Self::Unreachable(_) => ModelErrorKind::Unreachable,
            Self::Dropped(_) => ModelErrorKind::Unavailable,
            // No context window is this small: a proxy rejects the request for another reason.
            Self::Status {
                status: 413,
                sent: RequestSize::Short,
                error_body,
                ..
            } if !error_body.is_too_long() => ModelErrorKind::Refused,
            Self::Status {
                status,
                pause,
                error_body,
                ..
            } => error_body.kind(*status, *pause),
            Self::NotBegun(_) | Self::Silent(_) => ModelErrorKind::TimedOut,
            Self::BrokenOff(error_body) => error_body.kind_in_stream(),
            Self::CutOff(_) => ModelErrorKind::Interrupted,
            Self::NoStream { .. }
            | Self::Encoded(_)
            | Self::TooMuch { .. }
            | Self::Unreadable(_)
            | Self::NoAnswer(_)
            | Self::Vectors(_)
            | Self::NamelessCall => ModelErrorKind::Malformed,
            Self::Request(_) | Self::NotRecorded(_) => ModelErrorKind::Refused,
        }
    }

    /// Returns the field that the server does not support. `optional` lists the fields that can be left out, with their
    /// names in the vendor's format.
    pub(crate) fn unknown_field(
        &self,
        optional: &[(String, RequestField)],
    ) -> Option<RequestField> {
        match self {
            Self::Status {
                status, error_body, ..
            } if error_body.may_be_about_fields(*status) => error_body.unknown_field(optional),
            _ => None,
        }
    }

    /// Whether the error says that this model needs the API method with this path.
    pub(crate) fn points_to(&self, path: &str) -> bool {
        match self {
            Self::Status {
                status: 400 | 404,
                error_body,
                ..
            } => error_body.points_to(path),
            _ => false,
        }
    }

    /// A failure to get an answer.
    pub(crate) fn of_connection(error: reqwest::Error) -> Self {
        if error.is_connect() {
            Self::Unreachable(Box::new(error))
        } else {
            Self::Dropped(Box::new(error))
        }
    }

    /// A failure while reading the body.
    pub(crate) fn of_body(error: reqwest::Error) -> Self {
        Self::CutOff(Some(Box::new(error)))
    }

    /// Converts it to the error that callers get.
    pub(crate) fn of(self, provider: &ProviderId) -> ModelError {
        let kind = self.kind();
        let id = match &self {
            Self::Status { request_id, .. } => request_id.clone(),
            _ => None,
        };
        ModelError::new(provider.clone(), kind, Some(Box::new(self))).with_request_id(id)
    }
}
