//! The text encoder that recall uses, if any.

use std::{path::Path, str::FromStr, sync::Arc};

use dormouse_contracts::{BoxError, Embedder};
use dormouse_providers::{
    EmbedderRef, EmbedderRefError, Environment, RequestedEmbedderError, open_requested_embedder,
};

#[cfg(not(feature = "encoder"))]
const NO_FOLDERS: &str = concat!(
    "this program was built without the feature `encoder`, which folder: needs: build it with `cargo build --release -p ",
    env!("CARGO_PKG_NAME"),
    " --features encoder`, or use openai: or ollama:"
);

/// A text that is not an embedder of this program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ParseEmbedderError {
    #[cfg(not(feature = "encoder"))]
    #[error("{NO_FOLDERS}")]
    NoFolders,
    #[error(transparent)]
    Ref(#[from] EmbedderRefError),
}

/// Reads which embedder is requested.
pub(crate) fn parse(text: &str) -> Result<EmbedderRef, ParseEmbedderError> {
    match EmbedderRef::from_str(text)? {
        #[cfg(not(feature = "encoder"))]
        EmbedderRef::Folder(_) => Err(ParseEmbedderError::NoFolders),
        requested => Ok(requested),
    }
}

/// The requested embedder; `None` if no embedder is requested. Connects to nothing yet.
pub(crate) fn open(
    requested: &EmbedderRef,
    environment: &Environment,
) -> Result<Option<Arc<dyn Embedder>>, RequestedEmbedderError> {
    open_requested_embedder(requested, environment, in_folder)
}

#[cfg(feature = "encoder")]
fn in_folder(folder: &Path) -> Result<Arc<dyn Embedder>, BoxError> {
    Ok(Arc::new(dormouse_encoder::LocalEncoder::open(folder)?))
}

#[cfg(not(feature = "encoder"))]
fn in_folder(_: &Path) -> Result<Arc<dyn Embedder>, BoxError> {
    Err(NO_FOLDERS.into())
}
