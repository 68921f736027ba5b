//! Everything that can go wrong between a request and its reply.

use std::time::Duration;

use dormouse_cassettes::NoMatch;
use dormouse_contracts::{BoxError, ModelError, ModelErrorKind, ProviderId, RequestField};
use reqwest::{Body, Request};

use super::complaint::Complaint;
use crate::vectors::WrongVectors;

/// Why there is no reply, or no whole one. It is the source of the [`ModelError`] that callers see.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// No connection.
    #[error("the server could not be reached")]
    Unreachable(#[source] BoxError),
    /// A connection, and no answer in HTTP on it.
    #[error("the server ended the connection without an answer in HTTP")]
    Dropped(#[source] BoxError),
    /// An answer that is no success.
    #[error("the server answered {status} and said: {complaint}")]
    Status {
        status: u16,
        pause: Option<Duration>,
        request_id: Option<String>,
        /// How long the request was.
        sent: RequestSize,
        complaint: Complaint,
    },
    /// An answer in an encoding that was not asked for. It is not unpacked: a small one may be a large one within.
    #[error("the server answered with the content encoding {0}, which was not asked for")]
    Encoded(String),
    /// The answer did not begin in time.
    #[error("the server did not begin to answer within {0:?}")]
    NotBegun(Duration),
    /// Nothing more came for so long.
    #[error("the server fell silent for {0:?} in the middle of its answer")]
    Silent(Duration),
    /// A success, but no stream of events.
    #[error("the server answered with {content_type} instead of a stream: {complaint}")]
    NoStream {
        content_type: String,
        complaint: Complaint,
    },
    /// The server broke the reply off and said why.
    #[error("the server broke off and said: {0}")]
    BrokenOff(Complaint),
    /// The connection ended before the reply was finished.
    #[error("the connection ended before the reply did")]
    CutOff(#[source] Option<BoxError>),
    /// Some bound of a reply was exceeded.
    #[error("the reply has more than {limit} {what}")]
    TooMuch { what: &'static str, limit: usize },
    /// An event that could not be read.
    #[error("an event of the reply could not be read: {0}")]
    Unreadable(Complaint),
    /// A whole answer that could not be read.
    #[error("the answer could not be read: {0}")]
    NoAnswer(Complaint),
    /// An answer that is no answer to these texts.
    #[error(transparent)]
    Vectors(#[from] WrongVectors),
    /// Arguments of a tool call that has no name.
    #[error("the reply continues a tool call that never began")]
    NamelessCall,
    /// A request that is in no recording.
    #[error("the recording has no answer")]
    NotRecorded(#[source] Box<NoMatch>),
    /// The request could not be made.
    #[error("the request could not be written")]
    Request(#[source] BoxError),
}

/// How long a request was, as far as a complaint about its length depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RequestSize {
    /// Less than 64 KiB: no server that means the length of a prompt refuses it.
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
    /// Would less of the same be taken? For texts that are sent many at once, where too many is a failure of its own.
    pub(crate) fn asks_for_less(&self) -> bool {
        let is_too_large = matches!(self, Self::Status { status: 413, .. });
        is_too_large || self.kind() == ModelErrorKind::ContextExceeded
    }

    /// What a caller can do about it.
    pub(crate) fn kind(&self) -> ModelErrorKind {
        match self {
            Self::Unreachable(_) => ModelErrorKind::Unreachable,
            Self::Dropped(_) => ModelErrorKind::Unavailable,
            // No model's window is this small: something in between takes no such request, whatever is in it.
            Self::Status {
                status: 413,
                sent: RequestSize::Short,
                complaint,
                ..
            } if !complaint.asks_for_less() => ModelErrorKind::Refused,
            Self::Status {
                status,
                pause,
                complaint,
                ..
            } => complaint.kind(*status, *pause),
            Self::NotBegun(_) | Self::Silent(_) => ModelErrorKind::TimedOut,
            Self::BrokenOff(complaint) => complaint.kind_in_stream(),
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

    /// Which of the optional fields the server says it does not know, by its name for it.
    pub(crate) fn unknown_field(
        &self,
        optional: &[(String, RequestField)],
    ) -> Option<RequestField> {
        match self {
            Self::Status {
                status, complaint, ..
            } if complaint.may_be_about_fields(*status) => complaint.unknown_field(optional),
            _ => None,
        }
    }

    /// Does the server say that this model is to be asked through another method of its API, the one of this path?
    pub(crate) fn points_to(&self, path: &str) -> bool {
        match self {
            Self::Status {
                status: 400 | 404,
                complaint,
                ..
            } => complaint.points_to(path),
            _ => false,
        }
    }

    /// A failure to reach the server.
    pub(crate) fn of_connection(error: reqwest::Error) -> Self {
        if error.is_connect() {
            Self::Unreachable(Box::new(error))
        } else {
            Self::Dropped(Box::new(error))
        }
    }

    /// A failure within the body of an answer.
    pub(crate) fn of_body(error: reqwest::Error) -> Self {
        Self::CutOff(Some(Box::new(error)))
    }

    /// The error that callers see.
    pub(crate) fn of(self, provider: &ProviderId) -> ModelError {
        let kind = self.kind();
        let id = match &self {
            Self::Status { request_id, .. } => request_id.clone(),
            _ => None,
        };
        ModelError::new(provider.clone(), kind, Some(Box::new(self))).with_request_id(id)
    }
}
