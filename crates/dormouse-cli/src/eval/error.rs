//! Why nothing was measured.

use std::{io, path::PathBuf};

use super::{contender::ContenderError, dataset::DatasetError};
use crate::{encoder::EncoderError, exit::Exit};

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EvalError {
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    #[error(transparent)]
    Contender(#[from] ContenderError),
    #[error("{}: receipts must not replace the file that is evaluated", path.display())]
    SameFile {
        /// The file.
        path: PathBuf,
    },
    #[error("the receipts {} could not be written", path.display())]
    Receipts {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    #[error("the result could not be put into JSON")]
    Json(#[from] serde_json::Error),
    #[error("the operating system refuses")]
    System(#[source] io::Error),
    #[error("output could not be written")]
    Output(#[source] io::Error),
}

impl EvalError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Encoder(error) => error.exit(),
            Self::SameFile { .. } => Exit::Usage,
            Self::Dataset(_)
            | Self::Contender(_)
            | Self::Receipts { .. }
            | Self::Json(_)
            | Self::System(_)
            | Self::Output(_) => Exit::Failure,
        }
    }
}
