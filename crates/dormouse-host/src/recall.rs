//! What the memory recalls with: the configured encoder and vector index.

use std::sync::Arc;

use dormouse_contracts::{AssistantId, Clock, Embedder, VectorIndex};
use dormouse_memory::{Memory, MemoryBuilder};
use dormouse_providers::{Environment, RequestedEmbedderError};

use crate::{
    config::Config,
    encoder::OPENER,
    system::SystemClock,
    vectors::{self, VectorsError},
};

/// The configured encoder or index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The encoder.
    #[error(transparent)]
    Encoder(#[from] RequestedEmbedderError),
    /// The vector index.
    #[error(transparent)]
    Vectors(#[from] VectorsError),
}

/// The encoder and the vector index, opened once for all assistants. Their servers are asked by every memory.
#[derive(Clone, Default)]
pub(crate) struct Recall {
    encoder: Option<Arc<dyn Embedder>>,
    vectors: Option<Arc<dyn VectorIndex>>,
}

impl Recall {
    /// Opens what is configured. Connects to nothing yet.
    pub(crate) fn open(config: &Config, environment: &Environment) -> Result<Self, RecallError> {
        let encoder = match &config.memory.embedder {
            Some(requested) => OPENER.open_requested(&requested.0, environment)?,
            None => None,
        };
        let vectors = vector_index(config, environment)?;
        Ok(Self { encoder, vectors })
    }

    /// Settings of the memory of one assistant.
    pub(crate) fn builder(&self, key: &AssistantId, clock: Arc<dyn Clock>) -> MemoryBuilder {
        let mut memory = Memory::builder(key.clone(), move || clock.now());
        if let Some(encoder) = &self.encoder {
            memory = memory.encoder(Arc::clone(encoder));
        }
        if let Some(vectors) = &self.vectors {
            memory = memory.vectors(Arc::clone(vectors));
        }
        memory
    }
}

/// Settings of the configured assistant's memory, with its encoder and vector index.
///
/// # Errors
///
/// [`RecallError`] if the encoder or the index cannot be used.
pub fn memory_builder(
    config: &Config,
    environment: &Environment,
) -> Result<MemoryBuilder, RecallError> {
    let recall = Recall::open(config, environment)?;
    Ok(recall.builder(&config.assistant.key(), Arc::new(SystemClock)))
}

/// The configured vector index; `None` for the one in this process.
///
/// # Errors
///
/// [`RecallError::Vectors`] if the index cannot be used.
pub fn vector_index(
    config: &Config,
    environment: &Environment,
) -> Result<Option<Arc<dyn VectorIndex>>, RecallError> {
    Ok(vectors::open(&config.memory.vectors, environment)?)
}
