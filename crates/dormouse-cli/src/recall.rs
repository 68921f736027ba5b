//! The encoder and the vector index of the memory, with the environment of this process.

use std::sync::Arc;

use dormouse_contracts::VectorIndex;
use dormouse_host::recall;
pub(crate) use dormouse_host::recall::RecallError;
use dormouse_memory::MemoryBuilder;
use dormouse_providers::{EmbedderChoice, RequestedEmbedderError};

use crate::{config::Config, provider::environment};

/// Settings of the configured assistant's memory, with its encoder and vector index.
pub(crate) fn memory_builder(config: &Config) -> Result<MemoryBuilder, RecallError> {
    recall::memory_builder(config, &environment())
}

/// The encoder of memories.
pub(crate) fn embedder(config: &Config) -> Result<EmbedderChoice, RequestedEmbedderError> {
    recall::embedder(config, &environment())
}

/// The encoder of the provider in a sentence for people, if the configuration names none.
pub(crate) fn by_provider(config: &Config, embedder: &EmbedderChoice) -> Option<String> {
    let is_used = !matches!(embedder, EmbedderChoice::None { .. });
    (is_used && config.memory.embedder.is_none()).then(|| {
        format!(
            "memories are also compared by {embedder}, which the provider has; embedder = \"none\" in [memory] turns that off"
        )
    })
}

/// The configured vector index; `None` for the one in this process.
pub(crate) fn vector_index(config: &Config) -> Result<Option<Arc<dyn VectorIndex>>, RecallError> {
    recall::vector_index(config, &environment())
}
