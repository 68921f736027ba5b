//! The health of a service: what the result of a call says about it, and what a breaker reports.

use std::{fmt, sync::Arc, time::Duration};

/// What the result of a call says about the service.
///
/// For an HTTP service, a successful answer is [`Health::Healthy`]. 429, 5xx and a timeout are [`Health::Unhealthy`]. 401, and
/// 403 because of a rejected key, are [`Health::Refused`]. 400, 404 and every other error that concerns only this
/// request are [`Health::Irrelevant`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Health {
    /// The service works.
    Healthy,
    /// The service itself failed. The failure may be temporary.
    Unhealthy,
    /// The service rejects this caller until the configuration changes.
    Refused,
    /// The result says nothing about the service: the request was wrong, or the result is unknown.
    Irrelevant,
}

/// Which calls are admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CircuitState {
    /// All calls.
    Closed,
    /// No calls.
    Open,
    /// One call at a time, to test whether the service works again.
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

/// Why a call is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum OpenReason {
    /// The service failed too often.
    Failing,
    /// The service rejected the credentials; only a change of the configuration helps.
    Refused,
    /// The service failed too often, and a trial call is in progress.
    TrialUnderWay,
}

impl fmt::Display for OpenReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Failing => "the service failed too often",
            Self::Refused => "the service rejected the credentials",
            Self::TrialUnderWay => "a trial call is in progress",
        })
    }
}

/// A call was not attempted because the circuit is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("call not attempted: {reason}{}", Retry(*.retry_in))]
pub struct CircuitOpen {
    /// How long to wait before the next attempt. `None` if the breaker waits for an event instead: a change of the
    /// configuration, or the end of the trial in progress.
    pub retry_in: Option<Duration>,
    /// The reason.
    pub reason: OpenReason,
}

struct Retry(Option<Duration>);

impl fmt::Display for Retry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            // Whole seconds are precise enough for people. The time is rounded up, because an earlier call would be
            // rejected.
            Some(wait) => {
                let seconds = wait.as_secs() + u64::from(wait.subsec_nanos() > 0);
                write!(f, "; next try in {seconds}s")
            }
            None => Ok(()),
        }
    }
}

/// The state of a circuit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircuitHealth {
    /// The name of the service.
    pub name: Arc<str>,
    /// Which calls are admitted. After the cooldown this is [`CircuitState::HalfOpen`].
    pub state: CircuitState,
    /// Why calls are rejected; `None` while closed.
    pub reason: Option<OpenReason>,
    /// How long the circuit has been in this state.
    pub lasted: Duration,
    /// How long until the next call is admitted; zero if it is admitted now. `None` if the breaker waits for an event,
    /// as in [`CircuitOpen::retry_in`].
    pub retry_in: Option<Duration>,
    /// The number of failures within the window. Zero unless the circuit is closed.
    pub failures: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_call_that_was_not_attempted_has_a_reason_and_a_retry_time() {
        let open = CircuitOpen {
            retry_in: Some(Duration::from_secs(30)),
            reason: OpenReason::Failing,
        };
        assert_eq!(
            open.to_string(),
            "call not attempted: the service failed too often; next try in 30s"
        );
        let refused = CircuitOpen {
            retry_in: None,
            reason: OpenReason::Refused,
        };
        assert_eq!(
            refused.to_string(),
            "call not attempted: the service rejected the credentials"
        );
        assert_eq!(
            format!("{:>10}", CircuitState::HalfOpen),
            " half-open",
            "states line up in tables"
        );
    }
}
