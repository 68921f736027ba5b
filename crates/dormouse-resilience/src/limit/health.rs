//! Why a rate limit delays a request, and what is left of the limit.

use std::{fmt, time::Duration};

/// The limit that delays a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitReason {
    /// The limit of requests.
    Requests,
    /// The limit of units.
    Units,
    /// A pause that the service asked for.
    Paused,
    /// Other requests that wait already.
    Queued,
}

/// A call was not attempted because of a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RateLimited {
    /// The call may be made later. It would wait longer than
    /// [`RateLimit::longest_wait`](crate::RateLimit::longest_wait) allows, or it must not wait at all.
    #[error("call not attempted: {reason}; try again in {retry_in:?}")]
    Later {
        /// How long to wait before the next attempt, as far as is known now.
        retry_in: Duration,
        /// The reason.
        reason: LimitReason,
    },
    /// The call can never be made: it has more units than the limit admits at once.
    #[error("call not attempted: it has {units} units; at most {most} are allowed at once")]
    TooLarge {
        /// The call's units.
        units: u32,
        /// The largest number of units that is admitted at once.
        most: u32,
    },
}

/// What is left of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// The number left now.
    pub left: u64,
    /// The largest number that can be left.
    pub of: u64,
}

/// The state of a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitHealth {
    /// How much longer the pause lasts that the service asked for; zero if there is no pause.
    pub paused_for: Duration,
    /// What is left of the requests, by the stricter of the configured and the reported limit; `None` without either.
    pub requests: Option<Level>,
    /// What is left of the units, by the same rule.
    pub units: Option<Level>,
}

impl fmt::Display for LimitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Requests => "the request limit is used up",
            Self::Units => "the unit limit is used up",
            Self::Paused => "the service asked for a pause",
            Self::Queued => "other requests are waiting",
        })
    }
}
