//! What a call tells about a service, and what a breaker tells about it.

use std::{fmt, sync::Arc, time::Duration};

/// What the end of a call says about the service that was called.
///
/// For a service behind HTTP: an answer is [`Health::Well`]; 429, 5xx and no answer in time are [`Health::Ill`]; 401, and
/// 403 about the key, are [`Health::Refused`]; 400, 404 and everything else that is about this one request is
/// [`Health::Irrelevant`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Health {
    /// It did what it is there for.
    Well,
    /// It failed in a way that has to do with itself and may pass.
    Ill,
    /// It will have nothing to do with this caller: nothing helps but a change of configuration.
    Refused,
    /// Nothing follows from it: the request was wrong, or nobody knows how the call ended.
    Irrelevant,
}

/// Whether calls are let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CircuitState {
    /// All of them.
    Closed,
    /// None.
    Open,
    /// One at a time, to try whether the service is well again.
    HalfOpen,
}

impl fmt::Display for CircuitState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::HalfOpen => "half-open",
        })
    }
}

/// Why a call is not let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpenReason {
    /// The service failed too often.
    Failing,
    /// The service refused this caller, which only a change of configuration can mend.
    Refused,
    /// The service failed too often, and another call is trying right now whether it is well again.
    TrialUnderWay,
}

impl fmt::Display for OpenReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Failing => "it failed too often",
            Self::Refused => "it refused the credentials",
            Self::TrialUnderWay => "another call is trying it out",
        })
    }
}

/// A call was not made, because the service is taken to be ill.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the service is not called, because {reason}{}", Retry(*.retry_in))]
pub struct CircuitOpen {
    /// When to ask again; `None` where no time but an event decides: a change of configuration, or the end of the
    /// trial that is under way.
    pub retry_in: Option<Duration>,
    /// Why.
    pub reason: OpenReason,
}

struct Retry(Option<Duration>);

impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(wait) => write!(f, "; it is tried again in {wait:?}"),
            None => Ok(()),
        }
    }
}

/// What is known of a service.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitHealth {
    /// Which service, by the name its breaker was given.
    pub name: Arc<str>,
    /// Whether calls are let through. A cooldown that is over counts as [`CircuitState::HalfOpen`].
    pub state: CircuitState,
    /// Why not all are; `None` while closed.
    pub reason: Option<OpenReason>,
    /// For how long it has been in this state.
    pub lasted: Duration,
    /// When the next call is let through, zero for now; `None` where no time but an event decides, as in
    /// [`CircuitOpen::retry_in`].
    pub retry_in: Option<Duration>,
    /// How many failures count at the moment. Zero unless closed.
    pub failures: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_was_not_made_says_why_and_when_to_ask_again() {
        let open = CircuitOpen {
            retry_in: Some(Duration::from_secs(30)),
            reason: OpenReason::Failing,
        };
        assert_eq!(
            open.to_string(),
            "the service is not called, because it failed too often; it is tried again in 30s"
        );
        let refused = CircuitOpen {
            retry_in: None,
            reason: OpenReason::Refused,
        };
        assert_eq!(
            refused.to_string(),
            "the service is not called, because it refused the credentials"
        );
        assert_eq!(
            format!("{:>10}", CircuitState::HalfOpen),
            " half-open",
            "states line up in tables"
        );
    }
}
