//! Why a model did not answer.

use std::{fmt, time::Duration};

use serde::{Deserialize, Serialize};

use crate::{BoxError, ProviderId, ServiceName};

/// What went wrong, as far as a caller can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ModelErrorKind {
    /// The key is missing, wrong or not allowed to do this: nothing helps but a change of configuration.
    #[error("the provider refused the credentials")]
    Auth,
    /// The provider asked for a pause, and may have said for how long.
    #[error("the provider asks to slow down")]
    RateLimited(Option<Duration>),
    /// The prompt and the reserved reply do not fit into the model's context window.
    #[error("the prompt is longer than the model's context window")]
    ContextExceeded,
    /// The provider understood the request and refused it; the same request never succeeds.
    #[error("the provider refused the request")]
    Refused,
    /// There is no such model, or nothing at this address, whatever is asked: nothing helps but a change of configuration.
    #[error("the provider has no such model, or is not at this address")]
    NotFound,
    /// No connection could be made, so nothing was asked.
    #[error("the provider could not be reached")]
    Unreachable,
    /// The connection brought no answer, or the provider answered with a server error.
    #[error("the provider is unavailable")]
    Unavailable,
    /// No answer came in time.
    #[error("the provider did not answer in time")]
    TimedOut,
    /// The connection ended in the middle of the reply.
    #[error("the reply was cut off")]
    Interrupted,
    /// The provider answered with something that is no reply.
    #[error("the provider's answer could not be understood")]
    Malformed,
    /// No request was made: the provider is left alone for now, because it is ill or its limits are used up. The pause is
    /// the time after which it may be asked again, where that is known.
    #[error("the provider is left alone for now")]
    LeftAlone(Option<Duration>),
}

/// The four classes into which every failed call falls. What is more exact is [`ModelErrorKind`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ErrorClass {
    /// Credentials or money: 401, 402, some 403, a used-up quota.
    Auth,
    /// It may pass: 429, 5xx, no connection, no answer in time.
    Transient,
    /// The request is wrong: 400, 404 and most other 4xx.
    BusinessLogic,
    /// Anything else: an answer that is none, such as a web page.
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
            | Self::LeftAlone(_) => ErrorClass::Transient,
            Self::ContextExceeded | Self::Refused | Self::NotFound => ErrorClass::BusinessLogic,
            Self::Malformed => ErrorClass::Unknown,
        }
    }

    /// How long the provider wants to be left alone, where it said so.
    #[must_use]
    pub fn pause(self) -> Option<Duration> {
        match self {
            Self::RateLimited(pause) | Self::LeftAlone(pause) => pause,
            _ => None,
        }
    }

    /// Was it this prompt that the provider would not take, while it may take another one?
    #[must_use]
    pub fn refuses_the_prompt(self) -> bool {
        matches!(self, Self::Refused | Self::ContextExceeded)
    }

    /// Can this prompt be the cause, while another one would be answered? Where this is false, every prompt fares alike.
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
            | Self::LeftAlone(_) => false,
        }
    }

    /// May the same request succeed if it is made again?
    #[must_use]
    pub fn is_retryable(self) -> bool {
        match self {
            Self::RateLimited(_)
            | Self::Unreachable
            | Self::Unavailable
            | Self::TimedOut
            | Self::Interrupted
            | Self::Malformed
            | Self::LeftAlone(_) => true,
            Self::Auth | Self::ContextExceeded | Self::Refused | Self::NotFound => false,
        }
    }

    /// Is it the service that ails, rather than this request? A breaker counts these. A call that was not made tells nothing, and
    /// a service that limits the rate is well.
    #[must_use]
    pub fn is_service_ill(self) -> bool {
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
            | Self::LeftAlone(_) => false,
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

    /// The same error with the provider's name for the request.
    #[must_use]
    pub fn with_request_id(mut self, id: Option<String>) -> Self {
        self.request_id = id;
        self
    }

    /// The same error of this service, unless it names one already.
    #[must_use]
    pub fn of_service(mut self, service: ServiceName) -> Self {
        self.service.get_or_insert(service);
        self
    }

    /// The service that failed, where more is known of it than its provider.
    #[must_use]
    pub fn service(&self) -> Option<&ServiceName> {
        self.service.as_ref()
    }

    /// The provider's name for the request, for its support. Unchecked, at most 256 bytes.
    #[must_use]
    pub fn request_id(&self) -> Option<&str> {
        self.request_id.as_deref()
    }

    /// What a caller can do about it.
    #[must_use]
    pub fn kind(&self) -> ModelErrorKind {
        self.kind
    }

    /// Whose fault it is.
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
