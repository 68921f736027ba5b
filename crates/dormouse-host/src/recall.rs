//! The encoder and the vector index of the memory.

use std::sync::Arc;

use dormouse_contracts::{AssistantId, Clock, Embedder, VectorIndex};
use dormouse_memory::{Memory, MemoryBuilder};
use dormouse_providers::{
    EmbedderChoice, Environment, NoEmbedder, OpenEmbedderError, RequestedEmbedderError,
};

use crate::{
    config::Config,
    encoder::OPENER,
    provider::{ModelSelection, ProviderError, network, select},
    system::SystemClock,
    vectors::{self, VectorsError},
};

/// The encoder or index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum RecallError {
    /// The encoder that is configured.
    #[error(transparent)]
    Encoder(#[from] RequestedEmbedderError),
    /// The vector index.
    #[error(transparent)]
    Vectors(#[from] VectorsError),
    /// The network settings for servers of encoders.
    #[error(transparent)]
    Network(#[from] ProviderError),
}

impl From<OpenEmbedderError> for RecallError {
    fn from(error: OpenEmbedderError) -> Self {
        Self::Encoder(error.into())
    }
}

/// The encoder and the vector index, opened once and used by the memories of all assistants.
#[derive(Clone)]
pub(crate) struct Recall {
    /// Which encoder this is.
    pub(crate) embedder: EmbedderChoice,
    encoder: Option<Arc<dyn Embedder>>,
    vectors: Option<Arc<dyn VectorIndex>>,
}

impl Recall {
    /// Opens the configured encoder (or else this one of the provider) and the index. Does not connect yet.
    pub(crate) fn open(
        config: &Config,
        environment: &Environment,
        of_provider: EmbedderChoice,
    ) -> Result<Self, RecallError> {
        let network = network(&config.provider);
        let (embedder, encoder) = match &config.memory.embedder {
            Some(requested) => {
                let choice = OPENER.choose_requested(&requested.0, environment)?;
                (choice.clone(), OPENER.open_on(choice, &network?)?)
            }
            // If this server cannot be used for vectors, it cannot be used for answers either. That is reported
            // elsewhere.
            None => {
                let open = |network| OPENER.open_on(of_provider.clone(), &network).ok().flatten();
                let encoder = network.ok().and_then(open);
                (of_provider, encoder)
            }
        };
        let vectors = vector_index(config, environment)?;
        Ok(Self {
            embedder,
            encoder,
            vectors,
        })
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

/// No encoder: memories are found by their words.
pub const WORDS_ALONE: EmbedderChoice = EmbedderChoice::None {
    reason: NoEmbedder::Provider,
};

/// The encoder that is configured, or else the one of the provider that configuration and environment choose. If no
/// provider can be used, memories are found by their words.
///
/// # Errors
///
/// [`RequestedEmbedderError`] if the configured encoder cannot be used.
pub fn embedder(
    config: &Config,
    environment: &Environment,
) -> Result<EmbedderChoice, RequestedEmbedderError> {
    match &config.memory.embedder {
        Some(requested) => OPENER.choose_requested(&requested.0, environment),
        None => Ok(of_provider(config, environment)),
    }
}

fn of_provider(config: &Config, environment: &Environment) -> EmbedderChoice {
    let chosen = select(&ModelSelection::default(), &config.provider, environment);
    chosen.map_or(WORDS_ALONE, |chosen| chosen.embedder())
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
    let recall = Recall::open(config, environment, of_provider(config, environment))?;
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
