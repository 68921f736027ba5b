//! Why a memory could not be looked into or changed.

use std::{io, path::PathBuf};

use dormouse_engine::CatchUpError;
use dormouse_memory::{
    ExportError, Fallback, ImportError, MemoryError, MemoryOpenError, MigrateError, RecordId,
    StoreErrorKind,
};

use super::searching::because;
use crate::{
    compose::RememberingError, config::ConfigError, data::DataError, encoder::EncoderError,
    exit::Exit, log::LogError,
};

/// A memory could not be looked into or changed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Encoder(#[from] EncoderError),
    #[error(transparent)]
    Remembering(#[from] RememberingError),
    #[error("the memory cannot be opened")]
    Open(#[from] MemoryOpenError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    Log(#[from] LogError),
    #[error(transparent)]
    CatchUp(#[from] CatchUpError),
    #[error("there is no record {0}")]
    NoSuchRecord(RecordId),
    #[error("{} could not be read", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    #[error("{} could not be made; nothing is ever written over. Name a new file in a folder that exists", path.display())]
    Create {
        /// The file.
        path: PathBuf,
        /// What the operating system said.
        source: io::Error,
    },
    #[error(
        "the import stopped; what was stored is kept, and importing the same again goes on from there"
    )]
    Import(#[source] ImportError),
    #[error(transparent)]
    Export(#[from] ExportError),
    #[error("not all vectors could be made, because {}; what was done is kept, and is gone on from", because(.0))]
    Vectors(Fallback),
    #[error(transparent)]
    Migrate(#[from] MigrateError),
    #[error("--embedder none embeds nothing: name an embedder to migrate to")]
    NoEmbedder,
    #[error(transparent)]
    Entity(#[from] crate::entity::EntityError),
    #[error("the result could not be put into JSON")]
    Json(#[from] serde_json::Error),
    #[error("the operating system refuses")]
    System(#[source] io::Error),
    #[error("output could not be written")]
    Output(#[source] io::Error),
}

impl CommandError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Open(error) => open_exit(error),
            Self::Memory(error)
            | Self::Import(ImportError::Memory(error))
            | Self::Export(ExportError::Memory(error))
            | Self::Migrate(MigrateError::Memory(error)) => memory_exit(error),
            Self::Log(error) => error.exit(),
            Self::CatchUp(CatchUpError::Memory(error)) => memory_exit(error),
            Self::CatchUp(_) => Exit::Damaged,
            Self::Encoder(error) => error.exit(),
            Self::Remembering(error) => error.exit(),
            Self::Config(_)
            | Self::NoSuchRecord(_)
            | Self::NoEmbedder
            | Self::Entity(_)
            | Self::Migrate(MigrateError::SameEncoder(_) | MigrateError::NoFormer) => Exit::Usage,
            Self::Data(_)
            | Self::Read { .. }
            | Self::Create { .. }
            | Self::Import(_)
            | Self::Export(_)
            | Self::Vectors(_)
            | Self::Migrate(_)
            | Self::Json(_)
            | Self::System(_)
            | Self::Output(_) => Exit::Failure,
        }
    }
}

/// The exit code for a memory that cannot be opened.
pub(crate) fn open_exit(error: &MemoryOpenError) -> Exit {
    use dormouse_database::DatabaseOpenError as File;
    match error {
        MemoryOpenError::File(File::InUse { .. }) => Exit::InUse,
        MemoryOpenError::File(
            File::Empty { .. }
            | File::Foreign { .. }
            | File::NewerFormat { .. }
            | File::Damaged { .. }
            | File::Repaired { .. },
        )
        | MemoryOpenError::Entities { .. }
        | MemoryOpenError::OtherAssistant { .. } => Exit::Damaged,
        MemoryOpenError::Store(error) => store_exit(error.kind()),
        _ => Exit::Failure,
    }
}

fn memory_exit(error: &MemoryError) -> Exit {
    match error {
        MemoryError::Change(_) => Exit::Usage,
        MemoryError::Store(error) => store_exit(error.kind()),
        _ => Exit::Failure,
    }
}

fn store_exit(kind: StoreErrorKind) -> Exit {
    match kind {
        StoreErrorKind::Damaged => Exit::Damaged,
        _ => Exit::Failure,
    }
}
