//! Creates the chosen embedder.

use std::{path::Path, sync::Arc};

use dormouse_contracts::{BoxError, Embedder};

use super::EmbedderChoice;

/// Why the chosen embedder cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenEmbedderError {
    /// This program was built without it.
    #[error(
        "this program was built without the feature `{feature}`, which the embedder needs; build it again with --features {feature}"
    )]
    NotBuiltIn {
        /// The missing feature.
        feature: &'static str,
    },
    /// The server's address is invalid, or the HTTP client cannot be created; the source is a `ServerConfigError`.
    #[error("the embedder's server cannot be used: {0}")]
    Server(#[source] BoxError),
    /// The model in the folder cannot be used; the source is the error of `in_folder`.
    #[error("{0}")]
    Folder(#[source] BoxError),
}

/// Creates the chosen embedder, if any.
///
/// Sends nothing. A folder is opened by `in_folder`: encoders that run in this process are in `dormouse-encoder`.
///
/// # Errors
///
/// [`OpenEmbedderError`], with advice. A program may go on without an embedder: memories are then found by their words.
pub fn open_embedder(
    choice: EmbedderChoice,
    in_folder: impl FnOnce(&Path) -> Result<Arc<dyn Embedder>, BoxError>,
) -> Result<Option<Arc<dyn Embedder>>, OpenEmbedderError> {
    match choice {
        EmbedderChoice::None { .. } => Ok(None),
        EmbedderChoice::OpenAi(config) => over_openai(config).map(Some),
        EmbedderChoice::Ollama(config) => over_ollama(config).map(Some),
        EmbedderChoice::Folder(folder) => in_folder(&folder)
            .map(Some)
            .map_err(OpenEmbedderError::Folder),
    }
}

#[cfg(feature = "openai")]
fn over_openai(
    config: crate::OpenAiEmbedderConfig,
) -> Result<Arc<dyn Embedder>, OpenEmbedderError> {
    let embedder = crate::OpenAiEmbedder::try_new(config);
    let embedder = embedder.map_err(|error| OpenEmbedderError::Server(error.into()))?;
    Ok(Arc::new(embedder))
}

#[cfg(feature = "openai")]
fn over_ollama(config: crate::OllamaConfig) -> Result<Arc<dyn Embedder>, OpenEmbedderError> {
    let embedder = crate::OllamaEmbedder::try_new(config);
    let embedder = embedder.map_err(|error| OpenEmbedderError::Server(error.into()))?;
    Ok(Arc::new(embedder))
}

#[cfg(not(feature = "openai"))]
fn over_openai(_: crate::OpenAiEmbedderConfig) -> Result<Arc<dyn Embedder>, OpenEmbedderError> {
    Err(OpenEmbedderError::NotBuiltIn { feature: "openai" })
}

#[cfg(not(feature = "openai"))]
fn over_ollama(_: crate::OllamaConfig) -> Result<Arc<dyn Embedder>, OpenEmbedderError> {
    Err(OpenEmbedderError::NotBuiltIn { feature: "openai" })
}
