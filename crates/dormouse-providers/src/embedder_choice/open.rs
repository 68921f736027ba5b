//! From a choice to an embedder.

use std::sync::Arc;

use dormouse_contracts::{BoxError, Embedder};

use super::EmbedderChoice;

/// Why the embedder that was chosen cannot be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenEmbedderError {
    /// It is not part of this program.
    #[error(
        "this program was built without the feature `{feature}`, which the embedder needs; build it again with --features {feature}"
    )]
    NotBuiltIn {
        /// What would bring it.
        feature: &'static str,
    },
    /// Its server's address is none, or no HTTP client can be made; the source is a `ServerConfigError`.
    #[error("the embedder's server cannot be used: {0}")]
    Server(#[source] BoxError),
    /// There is no usable model in the folder; the source is a `LocalEncoderError`.
    #[error("{0}")]
    Folder(#[source] BoxError),
}

/// Makes the embedder that was chosen; none where none was chosen.
///
/// Sends nothing. Reads a folder whole, which blocks for a fifth of a second with a model of 90 MB.
///
/// # Errors
///
/// [`OpenEmbedderError`], which says what helps. A program may go on without an embedder: what is remembered is found by
/// its words then.
pub fn open_embedder(
    choice: EmbedderChoice,
) -> Result<Option<Arc<dyn Embedder>>, OpenEmbedderError> {
    match choice {
        EmbedderChoice::None { .. } => Ok(None),
        EmbedderChoice::OpenAi(config) => over_openai(config).map(Some),
        EmbedderChoice::Ollama(config) => over_ollama(config).map(Some),
        EmbedderChoice::Folder(folder) => in_folder(&folder).map(Some),
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

#[cfg(feature = "candle")]
fn in_folder(folder: &std::path::Path) -> Result<Arc<dyn Embedder>, OpenEmbedderError> {
    let encoder = crate::LocalEncoder::open(folder);
    let encoder = encoder.map_err(|error| OpenEmbedderError::Folder(error.into()))?;
    Ok(Arc::new(encoder))
}

#[cfg(not(feature = "candle"))]
fn in_folder(_: &std::path::Path) -> Result<Arc<dyn Embedder>, OpenEmbedderError> {
    Err(OpenEmbedderError::NotBuiltIn { feature: "candle" })
}
