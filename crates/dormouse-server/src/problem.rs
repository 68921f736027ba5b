//! Every way in which a request is refused, as RFC 9457 problems. A detail may repeat what the caller sent. It never
//! contains a path of this machine, a secret, or anything that the caller may not see.

use axum::{
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use dormouse_contracts::{AdmitError, AppendError, AppendErrorKind};
use dormouse_engine::ReplayError;
use dormouse_host::{HostError, roster::RosterError};
use dormouse_text::beginning;
use serde::Serialize;
use utoipa::ToSchema;

/// The most bytes of a detail.
const DETAIL: usize = 400;

macro_rules! codes {
    ($($name:ident = $status:ident, $code:literal, $title:literal;)+) => {
        /// What is wrong with a request.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum ProblemCode { $(#[doc = $title] $name,)+ }

        impl ProblemCode {
            /// All codes.
            pub(crate) const ALL: &[Self] = &[$(Self::$name),+];

            /// The code, which stays the same.
            pub(crate) fn code(self) -> &'static str {
                match self { $(Self::$name => $code,)+ }
            }

            /// The status of the response.
            pub(crate) fn status(self) -> StatusCode {
                match self { $(Self::$name => StatusCode::$status,)+ }
            }

            /// What it means, for people.
            pub(crate) fn title(self) -> &'static str {
                match self { $(Self::$name => $title,)+ }
            }
        }
    };
}

codes! {
    InvalidRequest = BAD_REQUEST, "invalid_request", "The request cannot be read";
    InvalidKey = BAD_REQUEST, "invalid_key", "This cannot be the key of an assistant";
    TokenMissing = UNAUTHORIZED, "token_missing", "The request has no token";
    TokenInvalid = UNAUTHORIZED, "token_invalid", "The token is unknown, revoked or expired";
    Scope = FORBIDDEN, "scope", "The token does not allow this";
    Origin = FORBIDDEN, "origin", "A page of another site may not change anything";
    NotFound = NOT_FOUND, "not_found", "There is nothing at this path";
    UnknownAssistant = NOT_FOUND, "unknown_assistant", "There is no such assistant";
    UnknownItem = NOT_FOUND, "unknown_item", "The assistant has no such thing";
    UnknownSession = NOT_FOUND, "unknown_session", "There is no such session";
    MethodNotAllowed = METHOD_NOT_ALLOWED, "method_not_allowed", "This path does not know the method";
    TooSlow = REQUEST_TIMEOUT, "too_slow", "The body did not come in time";
    KeyTaken = CONFLICT, "key_taken", "The key is in use";
    Archived = CONFLICT, "archived", "The assistant is archived";
    NotStopped = CONFLICT, "not_stopped", "The emergency stop is not on";
    AlreadyStopped = CONFLICT, "already_stopped", "The emergency stop is on already";
    Conflict = CONFLICT, "conflict", "The state of the assistant does not allow this";
    IdempotencyInUse = CONFLICT, "idempotency_in_use", "A request with this idempotency key is under way";
    StaleEtag = PRECONDITION_FAILED, "stale_etag", "The configuration has changed since it was read";
    TooLarge = PAYLOAD_TOO_LARGE, "too_large", "The body is too large";
    ContentType = UNSUPPORTED_MEDIA_TYPE, "content_type", "The body is declared as another type than this path expects";
    WrongHost = MISDIRECTED_REQUEST, "wrong_host", "This service has another name";
    InvalidValue = UNPROCESSABLE_ENTITY, "invalid_value", "A value is not allowed";
    IdempotencyMismatch = UNPROCESSABLE_ENTITY, "idempotency_mismatch", "The idempotency key was used for another request";
    EtagMissing = PRECONDITION_REQUIRED, "etag_missing", "The request must say which configuration it changes";
    RateLimited = TOO_MANY_REQUESTS, "rate_limited", "Too many requests";
    Internal = INTERNAL_SERVER_ERROR, "internal", "The service failed";
    Storage = SERVICE_UNAVAILABLE, "storage", "The log cannot be written at the moment";
    Unavailable = SERVICE_UNAVAILABLE, "unavailable", "The service cannot do this at the moment";
    TooManyStreams = SERVICE_UNAVAILABLE, "too_many_streams", "Too many streams of events are open";
}

/// A request that is refused.
#[derive(Debug)]
pub(crate) struct Problem {
    code: ProblemCode,
    detail: String,
    retry_after: Option<u64>,
}

/// A problem as JSON (RFC 9457).
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Problem)]
pub(crate) struct ProblemBody {
    /// A URI for the code.
    r#type: String,
    /// What the code means.
    title: &'static str,
    /// The status of the response.
    #[schema(minimum = 400, maximum = 599)]
    status: u32,
    /// What is wrong, as a code from a fixed set.
    code: &'static str,
    /// What is wrong with this request.
    detail: String,
}

/// A refusal for people, which a page shows in place of the JSON.
#[derive(Clone, Debug)]
pub(crate) struct Refused {
    pub(crate) title: &'static str,
    pub(crate) detail: String,
}

impl ProblemCode {
    /// A problem with this code. The detail is cut if it is long.
    pub(crate) fn because(self, detail: impl AsRef<str>) -> Problem {
        Problem {
            code: self,
            detail: beginning(detail.as_ref(), DETAIL).to_owned(),
            retry_after: None,
        }
    }
}

impl Problem {
    /// The same, with the seconds after which the request may succeed.
    pub(crate) fn retry_after(self, seconds: u64) -> Self {
        let retry_after = Some(seconds.max(1));
        Self {
            retry_after,
            ..self
        }
    }

    /// The problem in one line, for a client that reads no status.
    pub(crate) fn to_text(&self) -> String {
        format!(
            "{}: {} ({})",
            self.code.title(),
            self.detail,
            self.code.code()
        )
    }

    /// A failure that only the operator can fix. The cause goes to the log of the program.
    pub(crate) fn internal(error: &(dyn std::error::Error + 'static)) -> Self {
        tracing::error!(cause = %dormouse_text::error_chain(error), "a request failed");
        ProblemCode::Internal.because("the log of the program says why")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let refused = Refused {
            title: self.code.title(),
            detail: self.detail.clone(),
        };
        let body = ProblemBody {
            r#type: format!("urn:dormouse:problem:{}", self.code.code()),
            title: self.code.title(),
            status: self.code.status().as_u16().into(),
            code: self.code.code(),
            detail: self.detail,
        };
        let mut response = (self.code.status(), axum::Json(body)).into_response();
        response.extensions_mut().insert(refused);
        let headers = response.headers_mut();
        let json = HeaderValue::from_static("application/problem+json");
        headers.insert(header::CONTENT_TYPE, json);
        if let Some(seconds) = self.retry_after {
            headers.insert(header::RETRY_AFTER, seconds.into());
        }
        if self.code.status() == StatusCode::UNAUTHORIZED {
            let bearer = HeaderValue::from_static("Bearer");
            headers.insert(header::WWW_AUTHENTICATE, bearer);
        }
        response
    }
}

impl From<HostError> for Problem {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Roster(error) => error.into(),
            HostError::Archived { .. } => ProblemCode::Archived.because(error.to_string()),
            HostError::Join {
                source: AdmitError::Refused(refused),
                ..
            } => ProblemCode::Conflict.because(format!(
                "the holder of the token cannot enter the world: {}",
                refused.reason
            )),
            HostError::NoSandbox | HostError::InGame | HostError::NoHttpWorld => {
                ProblemCode::Conflict.because(error.to_string())
            }
            HostError::WorkedOn(_) => ProblemCode::Conflict
                .because(error.to_string())
                .retry_after(5),
            HostError::Closed => ProblemCode::Unavailable.because("the service ends"),
            error => Self::internal(&error),
        }
    }
}

impl From<RosterError> for Problem {
    fn from(error: RosterError) -> Self {
        match error {
            RosterError::Taken { .. } | RosterError::Configured { .. } => {
                ProblemCode::KeyTaken.because(error.to_string())
            }
            RosterError::Unknown { .. } => ProblemCode::UnknownAssistant.because(error.to_string()),
            RosterError::Name {
                ref name,
                ref source,
            } => ProblemCode::InvalidValue.because(format!("name is {name:?}: {source}")),
            RosterError::NameInUse { .. } => ProblemCode::InvalidValue.because(error.to_string()),
            RosterError::NoFork { .. } => ProblemCode::Conflict.because(error.to_string()),
            RosterError::Append(error) => error.into(),
            RosterError::NewLife(error) => {
                tracing::error!(cause = %dormouse_text::error_chain(&error), "a life was not copied");
                ProblemCode::Storage.because("the life could not be copied, and nothing was changed: the log of the program says why")
            }
            error => Self::internal(&error),
        }
    }
}

impl From<AppendError> for Problem {
    fn from(error: AppendError) -> Self {
        match error.kind() {
            AppendErrorKind::Storage => {
                ProblemCode::Storage.because("nothing was changed: send the request again later")
            }
            AppendErrorKind::Unknown => ProblemCode::Storage
                .because("the log did not say whether the change was written: look at the assistant before you send the request again"),
            AppendErrorKind::Conflict { .. } => ProblemCode::Unavailable
                .because("the assistant writes too much at the moment: nothing was changed, send the request again"),
            AppendErrorKind::Closed => ProblemCode::Unavailable.because("the assistant has ended: nothing was changed"),
            AppendErrorKind::Unacceptable => Self::internal(&error),
            _ => Self::internal(&error),
        }
    }
}

impl From<serde_json::Error> for Problem {
    fn from(error: serde_json::Error) -> Self {
        Self::internal(&error)
    }
}

impl From<ReplayError> for Problem {
    fn from(error: ReplayError) -> Self {
        Self::internal(&error)
    }
}

impl From<dormouse_contracts::ReadError> for Problem {
    fn from(error: dormouse_contracts::ReadError) -> Self {
        Self::internal(&error)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_code_is_one_word_of_its_own_and_an_error() {
        let codes: BTreeSet<_> = ProblemCode::ALL.iter().map(|it| it.code()).collect();
        assert_eq!(codes.len(), ProblemCode::ALL.len());
        for code in ProblemCode::ALL {
            let word = code.code().bytes();
            assert!(word.clone().all(|c| c.is_ascii_lowercase() || c == b'_'));
            assert!(code.status().is_client_error() || code.status().is_server_error());
        }
    }

    #[test]
    fn a_detail_is_cut_and_a_failure_of_the_service_names_no_cause() {
        let long = ProblemCode::InvalidRequest.because("x".repeat(10_000));
        assert!(long.detail.len() <= DETAIL);
        let secret = std::io::Error::other("/srv/tea/log.redb: sk-secret");
        assert!(!Problem::internal(&secret).detail.contains("tea"));
    }
}
