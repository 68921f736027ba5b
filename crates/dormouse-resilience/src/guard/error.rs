//! Why a guarded call has no answer.

use std::time::Duration;

use crate::{BulkheadFull, CircuitOpen, Exhausted, Limited, StopReason, retry::Ending};

/// A call was not made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Refusal {
    /// The service is left alone.
    #[error(transparent)]
    Open(#[from] CircuitOpen),
    /// Too many calls are under way.
    #[error(transparent)]
    Full(#[from] BulkheadFull),
    /// Too many calls were made.
    #[error(transparent)]
    Limited(#[from] Limited),
}

/// A guarded call has no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum CallError<E> {
    /// It failed. Why there was no other attempt is in [`Exhausted::reason`], a refusal of one included.
    #[error(transparent)]
    Failed(Exhausted<E>),
    /// It was not made, because the service is left alone.
    #[error(transparent)]
    Open(CircuitOpen),
    /// It was not made, because too many calls are under way.
    #[error(transparent)]
    Full(BulkheadFull),
    /// It was not made, because too many calls were made.
    #[error(transparent)]
    Limited(Limited),
    /// It took too long.
    #[error(transparent)]
    TimedOut(TimedOut),
}

/// A guarded call took too long and was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{scope} not done within {limit:?} ({})", Ending { attempts: *attempts, reason: *reason })]
pub struct TimedOut {
    /// How long it was given.
    pub limit: Duration,
    /// What was given so long.
    pub scope: Scope,
    /// How many attempts were begun; none if it was still waiting to be let through.
    pub attempts: u32,
    /// Why there was no further one; [`StopReason::NoTimeLeft`] if there was no time for it.
    pub reason: StopReason,
}

/// What took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// The last attempt.
    Attempt,
    /// Everything, waiting and pauses included.
    Overall,
}

impl std::fmt::Display for Scope {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(match self {
            Self::Attempt => "the attempt was",
            Self::Overall => "the call as a whole was",
        })
    }
}

impl<E> From<Refusal> for CallError<E> {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Open(open) => Self::Open(open),
            Refusal::Full(full) => Self::Full(full),
            Refusal::Limited(limited) => Self::Limited(limited),
        }
    }
}
