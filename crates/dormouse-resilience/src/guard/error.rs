//! Why a call was not made.

use crate::{BulkheadFull, CircuitOpen, RateLimited};

/// A call was not attempted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotAttempted {
    /// The circuit is open.
    #[error(transparent)]
    Open(#[from] CircuitOpen),
    /// Too many calls are in progress.
    #[error(transparent)]
    Full(#[from] BulkheadFull),
    /// The rate limit is reached.
    #[error(transparent)]
    RateLimited(#[from] RateLimited),
}
