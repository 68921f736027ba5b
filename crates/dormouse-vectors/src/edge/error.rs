//! The error of opening a folder.

use std::{io, path::PathBuf};

/// Why a folder cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EdgeError {
    /// Another index, in this process or another one, has the folder open.
    #[error("{} is in use by another process", folder.display())]
    InUse {
        /// The folder.
        folder: PathBuf,
    },
    /// The file system reported an error.
    #[error("{} cannot be used", folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// Why.
        #[source]
        source: io::Error,
    },
}
