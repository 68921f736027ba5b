//! Creates the chosen embedder.

use std::{path::Path, sync::Arc};

use dormouse_contracts::{BoxError, Embedder};

use super::{
    EmbedderChoice, EmbedderChoiceError, EmbedderRef, EmbedderRefError, EmbedderSettings,
    choose_embedder,
};
use crate::{Available, Environment, EnvironmentError, ServedBy};
#[cfg(feature = "openai")]
use crate::{Network, OllamaEmbedder, OpenAiEmbedder, ServerConfigError};

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

    /// Chooses the embedder that a user requested, with the servers and keys of the environment.
    ///
    /// # Errors
    ///
    /// [`RequestedEmbedderError`], whose message says what to change.
    pub fn choose_requested(
        self,
        requested: &EmbedderRef,
        environment: &Environment,
    ) -> Result<EmbedderChoice, RequestedEmbedderError> {
        let available = Available::for_embedder(environment)?;
        let settings = EmbedderSettings {
            requested: Some(requested.clone()),
            ..EmbedderSettings::default()
        };
        // The provider of the chat model only matters if no embedder is requested.
        Ok(choose_embedder(ServedBy::Offline, &available, &settings)?)
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
        Ok(self.open(self.choose_requested(requested, environment)?)?)
    }

    /// Creates the chosen embedder, if any, which sends its requests through `network`. Sends nothing yet.
    ///
    /// # Errors
    ///
    /// [`OpenEmbedderError`], whose message says what to change. A program may go on without an embedder; memory search
    /// then compares only words.
    #[cfg(feature = "openai")]
    pub fn open_on(
        self,
        choice: EmbedderChoice,
        network: &Network,
    ) -> Result<Option<Arc<dyn Embedder>>, OpenEmbedderError> {
        let server = |error: ServerConfigError| OpenEmbedderError::Server(error.into());
        match choice {
            EmbedderChoice::OpenAi(config) => {
                let embedder = OpenAiEmbedder::on(network, config).map_err(server)?;
                Ok(Some(Arc::new(embedder)))
            }
            EmbedderChoice::Ollama(config) => {
                let embedder = OllamaEmbedder::on(network, config).map_err(server)?;
                Ok(Some(Arc::new(embedder)))
            }
            EmbedderChoice::None { .. } | EmbedderChoice::Folder(_) => self.in_process(choice),
        }
    }

    #[cfg(feature = "openai")]
    pub(super) fn open(
        self,
        choice: EmbedderChoice,
    ) -> Result<Option<Arc<dyn Embedder>>, OpenEmbedderError> {
        self.open_on(choice, &Network::direct())
    }

    #[cfg(not(feature = "openai"))]
    pub(super) fn open(
        self,
        choice: EmbedderChoice,
    ) -> Result<Option<Arc<dyn Embedder>>, OpenEmbedderError> {
        self.in_process(choice)
    }

    /// Creates an embedder that needs no server.
    fn in_process(
        self,
        choice: EmbedderChoice,
    ) -> Result<Option<Arc<dyn Embedder>>, OpenEmbedderError> {
        match choice {
            EmbedderChoice::None { .. } => Ok(None),
            EmbedderChoice::OpenAi(_) | EmbedderChoice::Ollama(_) => {
                Err(OpenEmbedderError::NotBuiltIn { feature: "openai" })
            }
            EmbedderChoice::Folder(folder) => {
                let open = self.open_folder;
                let open = open.ok_or(OpenEmbedderError::NotBuiltIn { feature: "encoder" })?;
                open(&folder).map(Some).map_err(OpenEmbedderError::Folder)
            }
        }
    }
}
