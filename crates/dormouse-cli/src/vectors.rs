//! Which index vectors are searched with.

use std::sync::Arc;

use dormouse_contracts::{BoxError, VectorIndex};

use crate::{config::VectorsWish, exit::Exit, provider::Environment};

/// Why an index cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum VectorsError {
    /// A variable holds what it may not.
    #[cfg(feature = "qdrant")]
    #[error(transparent)]
    Environment(#[from] crate::provider::ProviderError),
    /// The address or the key is none.
    #[error("the index of vectors at {address} cannot be used")]
    Unusable {
        /// The address that was given.
        address: String,
        /// Why not.
        source: BoxError,
    },
}

impl VectorsError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// The index that is wanted; `None` for the one that a memory brings along. Connects to nothing yet.
#[cfg(feature = "qdrant")]
pub(crate) fn open(
    wish: &VectorsWish,
    environment: &Environment,
) -> Result<Option<Arc<dyn VectorIndex>>, VectorsError> {
    use dormouse_vectors::{ApiKey, Qdrant, QdrantConfig, QdrantUrl};

    let VectorsWish::Qdrant(address) = wish else {
        return Ok(None);
    };
    let unusable = |source: dormouse_vectors::QdrantConfigError| VectorsError::Unusable {
        address: address.clone(),
        source: source.into(),
    };
    let mut config = QdrantConfig::new(QdrantUrl::try_new(address).map_err(unusable)?);
    if let Some(key) = environment.text("QDRANT_API_KEY")? {
        config.api_key = Some(ApiKey::try_new(key).map_err(unusable)?);
    }
    let index = Qdrant::connect(config).map_err(unusable)?;
    Ok(Some(Arc::new(index)))
}

/// The index that is wanted; `None` for the one that a memory brings along.
#[cfg(not(feature = "qdrant"))]
pub(crate) fn open(
    wish: &VectorsWish,
    _environment: &Environment,
) -> Result<Option<Arc<dyn VectorIndex>>, VectorsError> {
    match wish {
        VectorsWish::Exact => Ok(None),
        VectorsWish::Qdrant(address) => Err(VectorsError::Unusable {
            address: address.clone(),
            source: "this program was built without the feature `qdrant`: build it with `cargo build --release -p \
                     dormouse-cli --features qdrant`"
                .into(),
        }),
    }
}
