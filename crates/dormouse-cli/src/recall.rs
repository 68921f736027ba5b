//! What the memory recalls with, in the environment of this process.

use std::sync::Arc;

use dormouse_contracts::VectorIndex;
use dormouse_host::recall;
pub(crate) use dormouse_host::recall::RecallError;
use dormouse_memory::MemoryBuilder;

use crate::{config::Config, provider::environment};

/// Settings of the configured assistant's memory, with its encoder and vector index.
pub(crate) fn memory_builder(config: &Config) -> Result<MemoryBuilder, RecallError> {
    recall::memory_builder(config, &environment())
}

/// The configured vector index; `None` for the one in this process.
pub(crate) fn vector_index(config: &Config) -> Result<Option<Arc<dyn VectorIndex>>, RecallError> {
    recall::vector_index(config, &environment())
}
