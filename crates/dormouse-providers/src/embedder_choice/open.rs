//! Creates the chosen embedder.

use std::{path::Path, sync::Arc};

use dormouse_contracts::{BoxError, Embedder};

use super::{
    EmbedderChoice, EmbedderChoiceError, EmbedderRef, EmbedderRefError, EmbedderSettings,
    choose_embedder,
};
use crate::{Available, Environment, EnvironmentError, ServedBy};

/// Why the chosen embedder cannot be created.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenEmbedderError {
    /// This program was built without the feature that the embedder needs.
    #[error(
        "this program was built without the feature `{feature}`, which the embedder needs; build it again with --features {feature}"
    )]
    NotBuiltIn {
        /// The missing feature.
        feature: &'static str,
    },
    /// The server's address is invalid, or the HTTP client cannot be created. The source is a `ServerConfigError`.
    #[error("the embedder's server cannot be used: {0}")]
    Server(#[source] BoxError),
    /// The model in the folder cannot be used; the source is the error of the function that opens folders.
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
    /// The embedder lacks something, such as a key.
    #[error(transparent)]
    Choice(#[from] EmbedderChoiceError),
    /// The embedder cannot be created.
    #[error(transparent)]
    Open(#[from] OpenEmbedderError),
}

type OpenFolder = fn(&Path) -> Result<Arc<dyn Embedder>, BoxError>;

/// Parses and opens the embedders that one program offers: those on servers, and those in folders if it has an encoder.
#[derive(Clone, Copy, Debug)]
pub struct EmbedderOpener {
    open_folder: Option<OpenFolder>,
}

impl EmbedderOpener {
    /// Opens folders with this function, such as `LocalEncoder::open` of `dormouse-encoder`.
    pub const fn with_folders(open_folder: OpenFolder) -> Self {
        Self {
            open_folder: Some(open_folder),
        }
    }

    /// Rejects folders: the program was built without the feature `encoder`.
    pub const fn without_folders() -> Self {
        Self { open_folder: None }
    }

    /// Parses what a user wrote (`--embedder`).
    ///
    /// # Errors
    ///
    /// [`EmbedderRefError`]; [`NotBuiltIn`](EmbedderRefError::NotBuiltIn) for a folder that this program cannot open.
    pub fn parse(self, text: &str) -> Result<EmbedderRef, EmbedderRefError> {
        match text.parse()? {
            EmbedderRef::Folder(_) if self.open_folder.is_none() => {
                Err(EmbedderRefError::NotBuiltIn)
            }
            requested => Ok(requested),
        }
    }

    /// Creates the embedder that a user requested, with the servers and keys of the environment; `None` if the user requested
    /// none. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`RequestedEmbedderError`], whose message says what to change.
    pub fn open_requested(
        self,
        requested: &EmbedderRef,
        environment: &Environment,
    ) -> Result<Option<Arc<dyn Embedder>>, RequestedEmbedderError> {
        let available = Available::for_embedder(environment)?;
        let settings = EmbedderSettings {
            requested: Some(requested.clone()),
            ..EmbedderSettings::default()
        };
        // The provider of the chat model only matters if no embedder is requested.
        let choice = choose_embedder(ServedBy::Offline, &available, &settings)?;
        Ok(self.open(choice)?)
    }

    /// Creates the chosen embedder, if any. Sends nothing.
    ///
    /// # Errors
    ///
    /// [`OpenEmbedderError`], whose message says what to change. A program may go on without an embedder; memory search
    /// then compares only words.
    pub(super) fn open(
        self,
        choice: EmbedderChoice,
    ) -> Result<Option<Arc<dyn Embedder>>, OpenEmbedderError> {
        match choice {
            EmbedderChoice::None { .. } => Ok(None),
            EmbedderChoice::OpenAi(config) => over_openai(config).map(Some),
            EmbedderChoice::Ollama(config) => over_ollama(config).map(Some),
            EmbedderChoice::Folder(folder) => {
                let open = self.open_folder;
                let open = open.ok_or(OpenEmbedderError::NotBuiltIn { feature: "encoder" })?;
                open(&folder).map(Some).map_err(OpenEmbedderError::Folder)
            }
        }
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
