//! Creates the chosen embedder.

use std::{path::Path, sync::Arc};

use dormouse_contracts::{BoxError, Embedder};

use super::{EmbedderChoice, EmbedderChoiceError, EmbedderRef, EmbedderSettings, choose_embedder};
use crate::{Available, Environment, EnvironmentError, ServedBy};

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

/// Why a requested embedder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestedEmbedderError {
    /// A variable of the environment cannot be used.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// It lacks something, such as a key.
    #[error(transparent)]
    Choice(#[from] EmbedderChoiceError),
    /// It cannot be created.
    #[error(transparent)]
    Open(#[from] OpenEmbedderError),
}

/// Creates the embedder that a user requested (`--embedder`), with the servers and keys of the environment; `None` if the
/// user requested none.
///
/// Sends nothing. A folder is opened by `in_folder`, as in [`open_embedder`].
///
/// # Errors
///
/// [`RequestedEmbedderError`], with advice.
pub fn open_requested_embedder(
    requested: &EmbedderRef,
    environment: &Environment,
    in_folder: impl FnOnce(&Path) -> Result<Arc<dyn Embedder>, BoxError>,
) -> Result<Option<Arc<dyn Embedder>>, RequestedEmbedderError> {
    let available = Available::for_embedder(environment)?;
    let settings = EmbedderSettings {
        requested: Some(requested.clone()),
        ..EmbedderSettings::default()
    };
    // The provider of the chat model only matters if no embedder is requested.
    let choice = choose_embedder(ServedBy::Offline, &available, &settings)?;
    Ok(open_embedder(choice, in_folder)?)
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
