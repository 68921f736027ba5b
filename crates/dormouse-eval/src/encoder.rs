//! Which text encoder recall is measured with, if any.

use std::{path::Path, str::FromStr, sync::Arc};

use dormouse_contracts::{BoxError, Embedder};
use dormouse_providers::{
    Available, EmbedderChoiceError, EmbedderRef, EmbedderRefError, EmbedderSettings, Environment,
    EnvironmentError, OpenEmbedderError, ServedBy, choose_embedder, open_embedder,
};

/// Why an encoder cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EncoderError {
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    #[error(transparent)]
    Choice(#[from] EmbedderChoiceError),
    #[error(transparent)]
    Unusable(#[from] OpenEmbedderError),
}

#[cfg(not(feature = "encoder"))]
const NO_FOLDERS: &str = "this program was built without the feature `encoder`, which folder: needs: build it with \
                          `cargo build --release -p dormouse-eval --features encoder`, or use openai: or ollama:";

/// A text that asks for no embedder.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WishError {
    #[cfg(not(feature = "encoder"))]
    #[error("{NO_FOLDERS}")]
    NoFolders,
    #[error(transparent)]
    Wish(#[from] EmbedderRefError),
}

/// Reads which embedder is wanted.
pub(crate) fn wish(text: &str) -> Result<EmbedderRef, WishError> {
    match EmbedderRef::from_str(text)? {
        #[cfg(not(feature = "encoder"))]
        EmbedderRef::Folder(_) => Err(WishError::NoFolders),
        wish => Ok(wish),
    }
}

/// The embedder that is wanted; `None` if none is. Connects to nothing yet.
pub(crate) fn open(
    wish: &EmbedderRef,
    environment: &Environment,
) -> Result<Option<Arc<dyn Embedder>>, EncoderError> {
    let available = Available::for_embedder(environment)?;
    let wanted = EmbedderSettings {
        requested: Some(wish.clone()),
        ..EmbedderSettings::default()
    };
    let choice = choose_embedder(ServedBy::Offline, &available, &wanted)?;
    Ok(open_embedder(choice, in_folder)?)
}

#[cfg(feature = "encoder")]
fn in_folder(folder: &Path) -> Result<Arc<dyn Embedder>, BoxError> {
    Ok(Arc::new(dormouse_encoder::LocalEncoder::open(folder)?))
}

#[cfg(not(feature = "encoder"))]
fn in_folder(_: &Path) -> Result<Arc<dyn Embedder>, BoxError> {
    Err(NO_FOLDERS.into())
}
