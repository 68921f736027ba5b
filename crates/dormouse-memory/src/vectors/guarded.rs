//! The vector index behind its breakers.

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{Retention, VectorError, VectorErrorKind, VectorIndex};
use dormouse_resilience::{
    BreakerError, BreakerPolicy, CircuitBreaker, CircuitHealth, Health, deadline,
};

use crate::fallback::Fallback;

/// An index that is not called while its circuit is open.
pub(crate) struct GuardedIndex {
    pub(crate) port: Arc<dyn VectorIndex>,
    /// Opens when the service fails or does not let this memory read.
    breaker: CircuitBreaker,
    /// Opens when the service does not let this memory write. It is separate because a key that may only read still serves
    /// every question.
    write_breaker: CircuitBreaker,
    /// Whether the last refusal was about the key, to name that cause while the circuit is open.
    key_refused: AtomicBool,
}

/// Why the index did not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum IndexRefusal {
    /// The circuit is open: the call was not sent.
    Paused,
    /// The index refused the key, now or so often that the call was not sent.
    Key,
    Failed(VectorErrorKind),
}

impl IndexRefusal {
    /// Whether the index no longer has what it was sent, or has it in another form.
    pub(crate) fn is_loss(self) -> bool {
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

impl From<IndexRefusal> for Fallback {
    fn from(refusal: IndexRefusal) -> Self {
        match refusal {
            IndexRefusal::Paused => Self::IndexPaused,
            IndexRefusal::Key => Self::IndexKey,
            IndexRefusal::Failed(_) if refusal.is_loss() => Self::IndexLost,
            IndexRefusal::Failed(_) => Self::VectorIndex,
        }
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

    /// Whether the index is empty after every start and must be filled again.
    pub(crate) fn is_volatile(&self) -> bool {
        self.port.retention() == Retention::Volatile
    }

    pub(super) fn health(&self) -> [CircuitHealth; 2] {
        [self.breaker.health(), self.write_breaker.health()]
    }

    /// Makes a call that changes nothing. Exceeding `limit` counts as a failure of the service.
    pub(crate) async fn read<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<T, VectorError>>,
    ) -> Result<T, IndexRefusal> {
        let judge = |error: &VectorError| unhealthy_if(error.is_service_unhealthy());
        let answer = self.breaker.guard(judge, self.within(limit, call)).await;
        self.note_key(answer)
    }

    /// Makes a call that changes something. A refused key opens only the breaker for writing.
    pub(crate) async fn write<T>(
        &self,
        limit: Duration,
        call: impl Future<Output = Result<T, VectorError>>,
    ) -> Result<T, IndexRefusal> {
        let is_key = |error: &VectorError| error.kind() == VectorErrorKind::Unauthorised;
        let judge =
            |error: &VectorError| unhealthy_if(error.is_service_unhealthy() && !is_key(error));
        let call = async {
            // The breaker of the service is the inner one: a call that it did not send must not count for or against
            // the key.
            let answer = self.breaker.guard(judge, self.within(limit, call)).await;
            answer.map_err(|failed| match failed {
                BreakerError::Open(_) => None,
                BreakerError::Failed(error) => Some(error),
            })
        };
        let judge = |error: &Option<VectorError>| unhealthy_if(error.as_ref().is_some_and(is_key));
        match self.write_breaker.guard(judge, call).await {
            Ok(answer) => Ok(answer),
            // This breaker opens only after refused keys, by the judge above.
            Err(BreakerError::Open(_)) => Err(IndexRefusal::Key),
            Err(BreakerError::Failed(None)) => Err(self.paused()),
            Err(BreakerError::Failed(Some(error))) => {
                if !is_key(&error) {
                    self.key_refused.store(false, Ordering::Relaxed);
                }
                Err(refusal(&error))
            }
        }
    }

    /// The answer of a reading call. Remembers whether the key was what the index refused.
    fn note_key<T>(&self, answer: Result<T, BreakerError<VectorError>>) -> Result<T, IndexRefusal> {
        let refused = match answer {
            Ok(answer) => {
                self.key_refused.store(false, Ordering::Relaxed);
                return Ok(answer);
            }
            Err(BreakerError::Open(_)) => return Err(self.paused()),
            Err(BreakerError::Failed(error)) => refusal(&error),
        };
        let is_key = refused == IndexRefusal::Key;
        self.key_refused.store(is_key, Ordering::Relaxed);
        Err(refused)
    }

    fn paused(&self) -> IndexRefusal {
        if self.key_refused.load(Ordering::Relaxed) {
            IndexRefusal::Key
        } else {
            IndexRefusal::Paused
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

fn unhealthy_if(is_unhealthy: bool) -> Health {
    if is_unhealthy {
        Health::Unhealthy
    } else {
        Health::Irrelevant
    }
}

fn refusal(error: &VectorError) -> IndexRefusal {
    tracing::warn!(error = error as &dyn Error, "the vector index failed");
    match error.kind() {
        VectorErrorKind::Unauthorised => IndexRefusal::Key,
        kind => IndexRefusal::Failed(kind),
    }
}
