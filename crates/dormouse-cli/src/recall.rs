//! What the memory recalls with: the configured encoder and vector index.

use std::sync::Arc;

use dormouse::SystemClock;
use dormouse_contracts::VectorIndex;
use dormouse_memory::{Memory, MemoryBuilder};
use dormouse_providers::RequestedEmbedderError;

use crate::{
    config::Config,
    encoder::OPENER,
    provider,
    vectors::{self, VectorsError},
};

/// The configured encoder or index cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecallError {
    /// The encoder.
    #[error(transparent)]
    Encoder(#[from] RequestedEmbedderError),
    /// The vector index.
    #[error(transparent)]
    Vectors(#[from] VectorsError),
}

/// Settings of the configured assistant's memory, with its encoder and vector index.
pub(crate) fn memory_builder(config: &Config) -> Result<MemoryBuilder, RecallError> {
    let environment = provider::environment();
    let mut memory = Memory::builder(config.assistant.key(), SystemClock);
    if let Some(requested) = &config.memory.embedder
        && let Some(encoder) = OPENER.open_requested(&requested.0, &environment)?
    {
        memory = memory.encoder(encoder);
    }
    if let Some(index) = vector_index(config)? {
        memory = memory.vectors(index);
    }
    Ok(memory)
}

/// The configured vector index; `None` for the one in this process.
pub(crate) fn vector_index(config: &Config) -> Result<Option<Arc<dyn VectorIndex>>, RecallError> {
    Ok(vectors::open(
        &config.memory.vectors,
        &provider::environment(),
    )?)
}
