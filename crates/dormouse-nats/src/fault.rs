//! What went wrong, below the errors of the ports.

use dormouse_contracts::{AppendError, AppendErrorKind, ReadError, ReadErrorKind};
use dormouse_text::error_chain;

use crate::{api::ApiError, chain::ChainBreak};

/// Why an append or a read failed: the source of an [`AppendError`] or a [`ReadError`] of this log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NatsFault {
    /// No server took the request within the patience of the configuration. Nothing was written.
    #[error("the cluster did not take the request in time: {0}")]
    Unavailable(String),
    /// It is not known whether the events are stored. The same append, also with more events at its end, finds out and
    /// writes nothing twice.
    #[error(
        "the cluster did not answer in time, so it is not known whether the events are stored: {0}"
    )]
    OutcomeUnknown(String),
    /// The events of one append are one message, and it is larger than the server allows.
    #[error(
        "the events are a message of {bytes} bytes, and the server allows {limit}: raise its `max_payload`"
    )]
    TooLarge {
        /// Its size.
        bytes: usize,
        /// `max_payload` of the server, without room for headers.
        limit: usize,
    },
    /// Another host has taken the assistant over. This one must let it go.
    #[error(
        "another host owns the assistant: epoch {theirs} has begun, and this host has epoch {ours}"
    )]
    Fenced {
        /// The epoch of this host.
        ours: u64,
        /// The epoch of the host that owns the assistant.
        theirs: u64,
    },
    /// The log is not what its owners wrote.
    #[error(transparent)]
    Broken(#[from] ChainBreak),
}

/// A failure inside the crate.
#[derive(Debug)]
pub(crate) enum Fault {
    Api(ApiError),
    Broken(ChainBreak),
}

impl From<ApiError> for Fault {
    fn from(error: ApiError) -> Self {
        Self::Api(error)
    }
}

impl From<ChainBreak> for Fault {
    fn from(broken: ChainBreak) -> Self {
        Self::Broken(broken)
    }
}

impl Fault {
    pub(crate) fn into_read_error(self) -> ReadError {
        let kind = match &self {
            Self::Api(_) => ReadErrorKind::Storage,
            Self::Broken(broken) => broken.read_error(),
        };
        ReadError::new(kind, Some(self.into_public().into()))
    }

    pub(crate) fn into_append_error(self) -> AppendError {
        let kind = match &self {
            Self::Api(_) => AppendErrorKind::Storage,
            // What is broken stays broken until a person has restored it.
            Self::Broken(_) => AppendErrorKind::Closed,
        };
        AppendError::new(kind, Some(self.into_public().into()))
    }

    fn into_public(self) -> NatsFault {
        match self {
            Self::Api(error) => NatsFault::Unavailable(error_chain(&error)),
            Self::Broken(broken) => broken.into(),
        }
    }
}
