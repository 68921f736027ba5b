//! The encoder and the vector index of a memory, each behind a circuit breaker, and what is known of the index.

mod guarded;
mod knowledge;

use std::{
    error::Error,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use dormouse_contracts::{Embedder, ModelError, ModelErrorKind, VectorIndex};
use dormouse_resilience::{
    BreakerError, BreakerPolicy, CircuitBreaker, CircuitHealth, Health, deadline,
};
use tokio::sync::Mutex;

use crate::fallback::Fallback;
use guarded::GuardedIndex;
pub(crate) use guarded::IndexRefusal;
use knowledge::IndexKnowledge;
pub(crate) use knowledge::{IndexCheck, IndexCheckpoint};

/// How long one call to an encoder or an index may take.
pub(crate) const CALL_LIMIT: Duration = Duration::from_secs(30);

/// The encoder and the index, each behind a breaker of its own.
pub(crate) struct Vectors {
    pub(crate) encoder: Arc<dyn Embedder>,
    encoder_breaker: CircuitBreaker,
    /// Whether the encoder has made a vector since the memory was opened.
    has_encoded: AtomicBool,
    pub(crate) index: GuardedIndex,
    /// Held while vectors are made or sent to the index, so that only one task does so at a time.
    pub(crate) indexing: Mutex<()>,
    pub(crate) knowledge: IndexKnowledge,
}

impl Vectors {
    pub(crate) fn new(encoder: Arc<dyn Embedder>, index: Arc<dyn VectorIndex>) -> Self {
        Self {
            encoder_breaker: CircuitBreaker::new("encoder", BreakerPolicy::service()),
            has_encoded: AtomicBool::new(false),
            encoder,
            index: GuardedIndex::new(index),
            indexing: Mutex::default(),
            knowledge: IndexKnowledge::default(),
        }
    }

    /// The state of the breakers: of the encoder, of the index, and of writing to the index.
    pub(crate) fn health(&self) -> Vec<CircuitHealth> {
        let [reading, writing] = self.index.health();
        vec![self.encoder_breaker.health(), reading, writing]
    }

    /// Embeds texts with `encoder`, which may differ from the configured one but shares its breaker.
    ///
    /// Exceeding `limit` counts as a failure of the service. So callers pass a limit here and never wrap this call in a
    /// deadline of their own, which would drop the call before the breaker could record the failure.
    pub(crate) async fn encode(
        &self,
        encoder: &dyn Embedder,
        texts: &[String],
        limit: Duration,
    ) -> Result<Vec<Vec<f32>>, Fallback> {
        let call = async {
            match deadline(limit, encoder.embed(texts)).await {
                Ok(answer) => answer.map_err(Some),
                Err(_too_late) => Err(None),
            }
        };
        let judge = |error: &Option<ModelError>| match error {
            None => Health::Unhealthy,
            Some(error) if error.kind() == ModelErrorKind::Auth => Health::Refused,
            // A server without this model, or without embeddings, is not called again for every message.
            Some(error) if error.kind() == ModelErrorKind::NotFound => Health::Refused,
            Some(error) if error.kind() == ModelErrorKind::Refused && !self.has_encoded() => {
                Health::Refused
            }
            Some(error) if error.kind().is_service_unhealthy() => Health::Unhealthy,
            // An encoder has no rate limiter here, so its breaker also pauses the calls after the provider asks to slow
            // down.
            Some(error) if matches!(error.kind(), ModelErrorKind::RateLimited(_)) => {
                Health::Unhealthy
            }
            Some(_) => Health::Irrelevant,
        };
        let vectors = match self.encoder_breaker.guard(judge, call).await {
            Ok(vectors) => vectors,
            Err(BreakerError::Open(_)) => return Err(Fallback::EncoderPaused),
            Err(BreakerError::Failed(error)) => {
                if let Some(error) = error {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        "the encoder failed; recall compares words"
                    );
                }
                return Err(Fallback::Encoder);
            }
        };
        if vectors.len() != texts.len() {
            tracing::warn!(
                texts = texts.len(),
                vectors = vectors.len(),
                "the encoder did not return one vector for each text"
            );
            return Err(Fallback::Encoder);
        }
        self.has_encoded.store(true, Ordering::Relaxed);
        Ok(vectors)
    }

    fn has_encoded(&self) -> bool {
        self.has_encoded.load(Ordering::Relaxed)
    }
}

/// Whether a vector has a direction: all of its numbers are finite and at least one is not zero.
pub(crate) fn is_usable(vector: &[f32]) -> bool {
    vector.iter().all(|n| n.is_finite()) && vector.iter().any(|n| *n != 0.0)
}
