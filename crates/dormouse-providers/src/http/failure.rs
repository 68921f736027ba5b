//! Everything that can go wrong between a request and its reply.

use std::{sync::Arc, sync::Mutex, sync::PoisonError, time::Duration};

use dormouse_contracts::{BoxError, ModelError, ModelErrorKind, ProviderId};

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
        complaint: Complaint,
    },
    /// A success, but no stream of events.
    #[error("the server answered with {content_type} instead of a stream of events: {complaint}")]
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
            } => complaint.kind(*status, *pause),
            Self::BrokenOff(complaint) => complaint.kind_in_stream(),
            Self::CutOff(_) => ModelErrorKind::Interrupted,
            Self::NoStream { .. }
            | Self::TooMuch { .. }
            | Self::Unreadable(_)
            | Self::NoAnswer(_)
            | Self::Vectors(_)
            | Self::NamelessCall => ModelErrorKind::Malformed,
            Self::Request(_) => ModelErrorKind::Refused,
        }
    }

    /// The error that callers see.
    pub(crate) fn of(self, provider: &ProviderId) -> ModelError {
        ModelError::new(provider.clone(), self.kind(), Some(Box::new(self)))
    }
}

/// Where the wire leaves what it saw: the client in between passes on only texts.
#[derive(Clone, Debug, Default)]
pub(crate) struct Fault(Arc<Mutex<Option<Failure>>>);

impl Fault {
    /// Keeps the first failure.
    pub(crate) fn report(&self, failure: Failure) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get_or_insert(failure);
    }

    /// Takes what was reported.
    pub(crate) fn take(&self) -> Option<Failure> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}
