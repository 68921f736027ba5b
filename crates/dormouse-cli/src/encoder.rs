//! Which text encoder recall goes by, if any.

use std::{str::FromStr, sync::Arc};

use dormouse_contracts::Embedder;
use dormouse_providers::{
    Available, EmbedderChoiceError, EmbedderWanted, EmbedderWish, EmbedderWishError,
    OpenEmbedderError, ServedBy, choose_embedder, open_embedder,
};

use crate::{
    exit::Exit,
    provider::{Environment, ProviderError},
};

/// Why an encoder cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EncoderError {
    #[error(transparent)]
    Environment(#[from] ProviderError),
    #[error(transparent)]
    Choice(#[from] EmbedderChoiceError),
    #[error(transparent)]
    Unusable(#[from] OpenEmbedderError),
}

impl EncoderError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        Exit::Usage
    }
}

const NO_FOLDERS: &str = "this program was built without the feature `encoder`, which folder: needs: build it with \
                          `cargo build --release -p dormouse-cli --features encoder`, or use openai: or ollama:";

/// A text that asks for no embedder.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WishError {
    #[error("{NO_FOLDERS}")]
    NoFolders,
    #[error(transparent)]
    Wish(#[from] EmbedderWishError),
}

/// Reads which embedder is wanted.
pub(crate) fn wish(text: &str) -> Result<EmbedderWish, WishError> {
    EmbedderWish::from_str(text).map_err(|error| match error {
        EmbedderWishError::NoCandle => WishError::NoFolders,
        error => WishError::Wish(error),
    })
}

/// The embedder that is wanted; `None` if none is. Connects to nothing yet.
pub(crate) fn open(
    wish: &EmbedderWish,
    environment: &Environment,
) -> Result<Option<Arc<dyn Embedder>>, EncoderError> {
    let available = Available {
        dormouse_base_url: environment.text("DORMOUSE_BASE_URL")?,
        dormouse_api_key: environment.secret("DORMOUSE_API_KEY")?,
        openai_api_key: environment.secret("OPENAI_API_KEY")?,
        openai_base_url: environment.text("OPENAI_BASE_URL")?,
        ..Available::default()
    };
    let wanted = EmbedderWanted {
        asked: Some(wish.clone()),
        ..EmbedderWanted::default()
    };
    let choice = choose_embedder(ServedBy::Offline, &available, &wanted)?;
    Ok(open_embedder(choice)?)
}
