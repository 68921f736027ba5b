//! Why a model did not answer.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{
    future::BoxError,
    ids::{ProviderId, ServiceName},
};

/// Why a call failed, as far as a caller can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The key is missing, wrong or lacks a permission. Only another configuration helps.
    #[error("the provider refused the credentials")]
    Auth,
    /// The provider asked for a pause, of this length if it gave one.
    #[error("the provider asks to slow down")]
    RateLimited(Option<Duration>),
    /// The prompt and the reserved reply do not fit into the model's context window.
    #[error("the prompt is longer than the model's context window")]
    ContextExceeded,
    /// The provider understood the request and refused it; the same request never succeeds.
    #[error("the provider refused the request")]
    Refused,
    /// The model does not exist, or nothing is at this address. Only another configuration helps.
    #[error("the provider has no such model, or is not at this address")]
    NotFound,
    /// No connection could be made, so no request was sent.
    #[error("the provider could not be reached")]
    Unreachable,
    /// The connection failed without an answer, or the provider answered with a server error.
    #[error("the provider is unavailable")]
    Unavailable,
    /// No answer came in time.
    #[error("the provider did not answer in time")]
    TimedOut,
    /// The connection ended in the middle of the reply.
    #[error("the reply was cut off")]
    Interrupted,
    /// The provider's answer is not a reply.
    #[error("the provider's answer could not be understood")]
    Malformed,
    /// No request was sent, because the circuit is open or a limit is reached. The pause is the time until the next
    /// request is possible, if it is known.
    #[error("the provider is not called for now")]
    NotAttempted(Option<Duration>),
}

/// The class of a failed call. [`ModelErrorKind`] is more precise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorClass {
    /// Credentials or money: 401, 402, some 403, a used-up quota.
    Auth,
    /// It may succeed later: 429, 5xx, no connection, no answer in time.
    Transient,
    /// The request is wrong: 400, 404 and most other 4xx.
    BusinessLogic,
    /// Anything else, such as a web page instead of a reply.
    Unknown,
}

impl ErrorClass {
    /// `AUTH`, `TRANSIENT`, `BUSINESS_LOGIC` or `UNKNOWN`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Auth => "AUTH",
            Self::Transient => "TRANSIENT",
            Self::BusinessLogic => "BUSINESS_LOGIC",
            Self::Unknown => "UNKNOWN",
        }
    }
}

impl fmt::Display for ErrorClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl ModelErrorKind {
    /// Its class.
    #[must_use]
    pub fn class(self) -> ErrorClass {
        match self {
            Self::Auth => ErrorClass::Auth,
            Self::RateLimited(_)
            | Self::Unreachable
            | Self::Unavailable
            | Self::TimedOut
            | Self::Interrupted
            | Self::NotAttempted(_) => ErrorClass::Transient,
            Self::ContextExceeded | Self::Refused | Self::NotFound => ErrorClass::BusinessLogic,
            Self::Malformed => ErrorClass::Unknown,
        }
    }

    /// How long to wait before the next request, if it is known.
    #[must_use]
    pub fn pause(self) -> Option<Duration> {
        match self {
            Self::RateLimited(pause) | Self::NotAttempted(pause) => pause,
            _ => None,
        }
    }

    /// Whether the provider rejected this prompt and may accept another one.
    #[must_use]
    pub fn refuses_the_prompt(self) -> bool {
        matches!(self, Self::Refused | Self::ContextExceeded)
    }

    /// Whether this prompt can be the cause. Otherwise every prompt fails in the same way.
    #[must_use]
    pub fn may_depend_on_the_prompt(self) -> bool {
        match self {
            Self::ContextExceeded
            | Self::Refused
            | Self::Unavailable
            | Self::TimedOut
            | Self::Interrupted
            | Self::Malformed => true,
            Self::Auth
            | Self::RateLimited(_)
            | Self::NotFound
            | Self::Unreachable
            | Self::NotAttempted(_) => false,
        }
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimited(_)
            | Self::Unreachable
            | Self::Unavailable
            | Self::TimedOut
            | Self::Interrupted
            | Self::Malformed
            | Self::NotAttempted(_) => true,
            Self::Auth | Self::ContextExceeded | Self::Refused | Self::NotFound => false,
        }
    }

    /// Whether the provider may have charged for the request: it was sent, and a reply may have been made.
    #[must_use]
    pub fn may_be_charged(self) -> bool {
        match self {
            Self::TimedOut | Self::Interrupted | Self::Malformed => true,
            Self::Auth
            | Self::RateLimited(_)
            | Self::ContextExceeded
            | Self::Refused
            | Self::NotFound
            | Self::Unreachable
            | Self::Unavailable
            | Self::NotAttempted(_) => false,
        }
    }

    /// Whether the fault lies with the service and not with this request. A circuit breaker counts these. A call that
    /// was not sent says nothing about the service, and a service that limits the rate has not failed.
    #[must_use]
    pub fn is_service_unhealthy(self) -> bool {
        match self {
            Self::Auth
            | Self::Unreachable
            | Self::Unavailable
            | Self::TimedOut
            | Self::Interrupted
            | Self::Malformed => true,
            Self::RateLimited(_)
            | Self::ContextExceeded
            | Self::Refused
            | Self::NotFound
            | Self::NotAttempted(_) => false,
        }
    }
}

/// A call to a model failed.
#[derive(Debug)]
pub struct ModelError {
    provider: ProviderId,
    kind: ModelErrorKind,
    service: Option<ServiceName>,
    request_id: Option<String>,
    source: Option<BoxError>,
}

impl ModelError {
    /// An error of this kind from this provider, with its cause if there is one.
    #[must_use]
    pub fn new(provider: ProviderId, kind: ModelErrorKind, source: Option<BoxError>) -> Self {
        Self {
            provider,
            kind,
            service: None,
            request_id: None,
            source,
        }
    }

    /// Adds the provider's id of the request.
    #[must_use]
    pub fn with_request_id(mut self, id: Option<String>) -> Self {
        self.request_id = id;
        self
    }

    /// Sets the service, unless it is already set.
    #[must_use]
    pub fn of_service(mut self, service: ServiceName) -> Self {
        self.service.get_or_insert(service);
        self
    }

    /// The service that failed, if more than its provider is known.
    #[must_use]
    pub fn service(&self) -> Option<&ServiceName> {
        self.service.as_ref()
    }

    /// The provider's id of the request, for its support. Unchecked, at most 256 bytes.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// What a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// The provider that was called.
    #[must_use]
    pub fn provider(&self) -> &ProviderId {
        &self.provider
    }
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (provider {}", self.kind, self.provider)?;
        if let Some(id) = &self.request_id {
            write!(f, ", request {id}")?;
        }
        f.write_str(")")
    }
}

impl std::error::Error for ModelError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.source.as_deref().map(|e| e as _)
    }
}
