//! Why a rate limit lets a request not through, and what is left of it.

use std::{fmt, time::Duration};

/// Which limit keeps a request from getting through.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum LimitReason {
    /// So many requests were made.
    Requests,
    /// So many units were used.
    Units,
    /// The service asked for a pause.
    Paused,
    /// Others wait already, and are not overtaken.
    Queued,
}

/// A call was not made, because of a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Limited {
    /// It may be made later, but not within [`RateLimit::longest_wait`](crate::RateLimit::longest_wait); or it was not to
    /// wait at all.
    #[error("the call is not made now, because {reason}; it may be in {retry_in:?}")]
    Later {
        /// When to ask again, as far as it can be told now.
        retry_in: Duration,
        /// Why.
        reason: LimitReason,
    },
    /// It can never be made: it alone has more units than the limit lets through at once.
    #[error("the call of {units} units is never made: at most {most} get through at once")]
    TooLarge {
        /// Its units.
        units: u32,
        /// The most there may be.
        most: u32,
    },
}

/// What is left of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// So many are left now.
    pub left: u64,
    /// So many there are at most.
    pub of: u64,
}

/// The state of a rate limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LimitHealth {
    /// For how long nothing gets through, because the service asked for a pause. Zero if it did not.
    pub paused_for: Duration,
    /// What is left of the requests, by the stricter of what was configured and what the service told; `None` if neither.
    pub requests: Option<Level>,
    /// What is left of the units, likewise.
    pub units: Option<Level>,
}

impl fmt::Display for LimitReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Requests => "the limit of requests is used up",
            Self::Units => "the limit of units is used up",
            Self::Paused => "the service asked for a pause",
            Self::Queued => "others are waiting already",
        })
    }
}
