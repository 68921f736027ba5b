//! The errors that stop an evaluation.

use std::{io, path::PathBuf};

use dormouse_providers::RequestedEmbedderError;

use crate::{
    contender::ContenderError, dataset::DatasetError, life::LifeError, orders::OrdersFileError,
    tool_life::ToolLifeError, tool_set::ToolFileError,
};

/// Why an evaluation stopped without a result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum EvalError {
    #[error(transparent)]
    Dataset(#[from] DatasetError),
    #[error(transparent)]
    Orders(#[from] OrdersFileError),
    #[error(transparent)]
    Encoder(#[from] RequestedEmbedderError),
    #[error(transparent)]
    Contender(#[from] ContenderError),
    #[error(transparent)]
    Life(#[from] LifeError),
    #[error(transparent)]
    ToolFile(#[from] ToolFileError),
    #[error(transparent)]
    ToolLife(#[from] ToolLifeError),
    #[error(
        "--conversation is {asked}; expected 1 to {count}, the number of conversations in the file"
    )]
    NoConversation {
        /// The number that was asked for.
        asked: usize,
        /// How many there are.
        count: usize,
    },
    #[error(
        "{} has one conversation; --confidence needs at least two, because each is asked about the others",
        path.display()
    )]
    OneConversation {
        /// The file.
        path: PathBuf,
    },
    #[error("two weeks with seed {seed} did not end in the same state")]
    Unequal {
        /// The seed.
        seed: u64,
    },
    #[error("{}: the results file (--receipts) must not be the evaluated file", path.display())]
    SameFile {
        /// The file.
        path: PathBuf,
    },
    #[error("the results file {} (--receipts) could not be written", path.display())]
    Receipts {
        /// The file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    #[error("the result could not be encoded as JSON")]
    Json(#[from] serde_json::Error),
    #[error("the program could not start a runtime")]
    System(#[source] io::Error),
    #[error("output could not be written")]
    Output(#[source] io::Error),
}

impl EvalError {
    /// 2 for a wrong command line or environment, 1 for everything else.
    pub(crate) fn exit_code(&self) -> u8 {
        match self {
            Self::Encoder(_) | Self::SameFile { .. } | Self::NoConversation { .. } => 2,
            Self::Dataset(_)
            | Self::Orders(_)
            | Self::ToolFile(_)
            | Self::ToolLife(_)
            | Self::OneConversation { .. }
            | Self::Contender(_)
            | Self::Life(_)
            | Self::Unequal { .. }
            | Self::Receipts { .. }
            | Self::Json(_)
            | Self::System(_)
            | Self::Output(_) => 1,
        }
    }

    /// Whether the only cause is that the reader of the output closed the pipe.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }
}
