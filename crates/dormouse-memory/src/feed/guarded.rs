//! The index behind its breakers.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{VectorError, VectorErrorKind, VectorIndex};
use dormouse_resilience::{
    BreakerError, BreakerPolicy, CircuitBreaker, CircuitHealth, Health, deadline,
};

use super::Trouble;
use crate::recall::Fallback;

/// An index that is left alone while it fails.
pub(crate) struct GuardedIndex {
    pub(super) port: Arc<dyn VectorIndex>,
    /// Whether the service answers, and lets this memory read.
    breaker: CircuitBreaker,
    /// Whether it lets this memory write. Apart, because a key that may only read still serves every question.
    write_breaker: CircuitBreaker,
    /// Whether the key was what it refused last.
    key_refused: AtomicBool,
}

/// Why the index did not answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refusal {
    /// It failed too often, and was not asked.
    Paused,
    /// It refused the key, now or so often that it was not asked.
    Key,
    Failed(VectorErrorKind),
}

impl Refusal {
    /// Whether what the index was given is not there any more, or not as it was given.
    pub(super) fn is_loss(self) -> bool {
        matches!(
            self,
            Self::Failed(
                VectorErrorKind::Missing
                    | VectorErrorKind::Dimension { .. }
                    | VectorErrorKind::Damaged
            )
        )
    }
}

impl From<Refusal> for Trouble {
    fn from(refusal: Refusal) -> Self {
        Self::Fallback(match refusal {
            Refusal::Paused => Fallback::IndexPaused,
            Refusal::Key => Fallback::IndexKey,
            Refusal::Failed(_) if refusal.is_loss() => Fallback::IndexLost,
            Refusal::Failed(_) => Fallback::VectorIndex,
        })
    }
}

impl GuardedIndex {
    pub(super) fn new(port: Arc<dyn VectorIndex>) -> Self {
        let name = format!("vectors {}", port.identity());
        let write_name = format!("{name}, writing");
        Self {
            breaker: CircuitBreaker::new(name, BreakerPolicy::service()),
            write_breaker: CircuitBreaker::new(write_name, BreakerPolicy::service()),
            key_refused: AtomicBool::new(false),
            port,
        }
    }

    pub(super) fn health(&self) -> [CircuitHealth; 2] {
        [self.breaker.health(), self.write_breaker.health()]
    }

    /// Makes a call that changes nothing. That it takes longer than `limit` counts as an illness.
    pub(super) async fn read<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<T, VectorError>>,
    ) -> Result<T, Refusal> {
        let judge = |error: &VectorError| ill_if(error.is_service_ill());
        let answer = self.breaker.guard(judge, self.within(limit, call)).await;
        self.read_refusal(answer)
    }

    /// Makes a call that changes something. A refused key counts against writing alone.
    pub(super) async fn write<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<T, VectorError>>,
    ) -> Result<T, Refusal> {
        let is_key = |error: &VectorError| error.kind() == VectorErrorKind::Unauthorised;
        let judge = |error: &VectorError| ill_if(error.is_service_ill() && !is_key(error));
        let call = async {
            // Inside of the write breaker, so that a service that is left alone says nothing about the key.
            let answer = self.breaker.guard(judge, self.within(limit, call)).await;
            answer.map_err(|failed| match failed {
                BreakerError::Open(_) => None,
                BreakerError::Failed(error) => Some(error),
            })
        };
        let judge = |error: &Option<VectorError>| ill_if(error.as_ref().is_some_and(is_key));
        match self.write_breaker.guard(judge, call).await {
            Ok(answer) => Ok(answer),
            // It opens for no other reason.
            Err(BreakerError::Open(_)) => Err(Refusal::Key),
            Err(BreakerError::Failed(None)) => Err(self.paused()),
            Err(BreakerError::Failed(Some(error))) => {
                if !is_key(&error) {
                    self.key_refused.store(false, Ordering::Relaxed);
                }
                Err(refusal(&error))
            }
        }
    }

    fn read_refusal<T>(&self, answer: Result<T, BreakerError<VectorError>>) -> Result<T, Refusal> {
        let refused = match answer {
            Ok(answer) => {
                self.key_refused.store(false, Ordering::Relaxed);
                return Ok(answer);
            }
            Err(BreakerError::Open(_)) => return Err(self.paused()),
            Err(BreakerError::Failed(error)) => refusal(&error),
        };
        let is_key = refused == Refusal::Key;
        self.key_refused.store(is_key, Ordering::Relaxed);
        Err(refused)
    }

    fn paused(&self) -> Refusal {
        if self.key_refused.load(Ordering::Relaxed) {
            Refusal::Key
        } else {
            Refusal::Paused
        }
    }

    async fn within<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<T, VectorError>>,
    ) -> Result<T, VectorError> {
        deadline(limit, call).await.unwrap_or_else(|too_late| {
            let error = VectorError::new(self.port.identity(), VectorErrorKind::Unavailable);
            Err(error.with_source(too_late))
        })
    }
}

fn ill_if(is_ill: bool) -> Health {
    if is_ill {
        Health::Ill
    } else {
        Health::Irrelevant
    }
}

fn refusal(error: &VectorError) -> Refusal {
    tracing::warn!(error = error as &dyn Error, "the vector index failed");
    match error.kind() {
        VectorErrorKind::Unauthorised => Refusal::Key,
        kind => Refusal::Failed(kind),
    }
}
