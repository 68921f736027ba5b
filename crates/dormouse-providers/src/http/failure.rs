//! Everything that can go wrong between a request and its reply.

use std::time::Duration;

use dormouse_cassettes::NoMatch;
use dormouse_contracts::{BoxError, ModelError, ModelErrorKind, ProviderId, RequestField};

use super::complaint::Complaint;
use crate::vectors::WrongVectors;

/// Why there is no reply, or no whole one. It is the source of the [`ModelError`] that callers see.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    /// No connection, or none that lasted until the headers of the answer.
    #[error("the server could not be reached")]
    Unreachable(#[source] BoxError),
    /// An answer that is no success.
    #[error("the server answered {status} and said: {complaint}")]
    Status {
        status: u16,
        pause: Option<Duration>,
        request_id: Option<String>,
        complaint: Complaint,
    },
    /// An answer in an encoding that was not asked for. It is not unpacked: a small one may be a large one within.
    #[error("the server answered with the content encoding {0}, which was not asked for")]
    Encoded(String),
    /// Nothing came for longer than any server thinks.
    #[error("the server fell silent")]
    Silent(#[source] BoxError),
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

impl Failure {
    /// What a caller can do about it.
    pub(crate) fn kind(&self) -> ModelErrorKind {
        match self {
            Self::Unreachable(_) => ModelErrorKind::Unavailable,
            Self::Status {
                status,
                pause,
                complaint,
                ..
            } => complaint.kind(*status, *pause),
            Self::Silent(_) => ModelErrorKind::TimedOut,
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
        if error.is_timeout() && !error.is_connect() {
            Self::Silent(Box::new(error))
        } else {
            Self::Unreachable(Box::new(error))
        }
    }

    /// A failure within the body of an answer.
    pub(crate) fn of_body(error: reqwest::Error) -> Self {
        if error.is_timeout() {
            Self::Silent(Box::new(error))
        } else {
            Self::CutOff(Some(Box::new(error)))
        }
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
