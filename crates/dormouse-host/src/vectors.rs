//! The index in which vectors are searched.

#[cfg(feature = "qdrant")]
mod qdrant;

use std::{io, path::PathBuf, sync::Arc};

use dormouse_contracts::{BoxError, VectorIndex};
use dormouse_providers::{Environment, EnvironmentError};

#[cfg(not(feature = "qdrant"))]
use crate::config::QdrantSection;
use crate::config::VectorBackend;

/// The vector index cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum VectorsError {
    /// A variable of the environment cannot be used.
    #[error(transparent)]
    Environment(#[from] EnvironmentError),
    /// The certificate of the authority cannot be read.
    #[error("{}: the certificate of the authority cannot be read (`authority` in [memory.vectors])", path.display())]
    Authority {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// This program cannot use an index on a server.
    #[error(
        "the vector index at {address} needs a program that is built with the feature `qdrant`; expected vectors = \"exact\""
    )]
    NotBuiltIn {
        /// The address that was given.
        address: String,
    },
    /// The address or the key is invalid.
    #[error("the vector index at {address} cannot be used")]
    Unusable {
        /// The address that was given.
        address: String,
        /// Why not.
        source: BoxError,
    },
}

/// The configured index; `None` for the one in this process. Connects to nothing yet.
pub(crate) fn open(
    requested: &VectorBackend,
    environment: &Environment,
) -> Result<Option<Arc<dyn VectorIndex>>, VectorsError> {
    match requested {
        VectorBackend::Exact => Ok(None),
        VectorBackend::Qdrant(section) => open_server(section, environment).map(Some),
    }
}

#[cfg(feature = "qdrant")]
use qdrant::open as open_server;

#[cfg(not(feature = "qdrant"))]
fn open_server(
    section: &QdrantSection,
    _environment: &Environment,
) -> Result<Arc<dyn VectorIndex>, VectorsError> {
    let address = section.addresses.join(", ");
    Err(VectorsError::NotBuiltIn { address })
}
