//! Why a visit failed, and the exit code for it.

use std::io;

use dormouse_contracts::BoxError;
use dormouse_engine::RunError;

use super::{feed::WatchError, pump::PumpError};
use dormouse::ContinuityError;

use crate::{
    compose::ComposeError, config::ConfigError, data::DataError, exit::Exit,
    provider::ProviderError, record::TapeError,
};

/// A visit failed. Every accepted message is on disk.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlayError {
    #[error(transparent)]
    Data(#[from] DataError),
    #[error(transparent)]
    Config(#[from] ConfigError),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Tape(#[from] TapeError),
    #[error(transparent)]
    Compose(#[from] ComposeError),
    #[error("the assistant has ended")]
    Assistant(#[from] RunError),
    #[error("the assistant has ended although nobody asked it to")]
    Ended,
    #[error("a part of the program has failed")]
    Task(#[source] tokio::task::JoinError),
    #[error("messages could not be handed to the assistant")]
    Pump(#[from] PumpError),
    #[error("the world could not be watched")]
    Watch(#[from] WatchError),
    #[error("input could not be read")]
    Input(#[source] io::Error),
    #[error("output could not be written")]
    Output(#[source] io::Error),
    #[error("the operating system refuses")]
    System(#[source] io::Error),
    #[error("the terminal cannot be used")]
    Terminal(#[source] BoxError),
}

impl PlayError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Config(_) | Self::Provider(_) => Exit::Usage,
            Self::Data(error) => error.exit(),
            Self::Tape(error) => error.exit(),
            Self::Compose(error) => compose_exit(error),
            _ => Exit::Failure,
        }
    }
}

fn compose_exit(error: &ComposeError) -> Exit {
    match error {
        ComposeError::Log(error) => crate::command::log_open_exit(error),
        ComposeError::World(error) => world_exit(error),
        ComposeError::Memory(error) => crate::command::memory_open_exit(error),
        ComposeError::Recall(_) => Exit::Usage,
        ComposeError::Continuity(error) => continuity_exit(error),
        ComposeError::Wake(_) | ComposeError::Mismatch(_) => Exit::Damaged,
        ComposeError::Join {
            source: dormouse_sandbox::JoinError::World(_),
            ..
        } => Exit::Failure,
        ComposeError::Join { .. }
        | ComposeError::Id(_)
        | ComposeError::Provider(_)
        | ComposeError::Limits(_) => Exit::Usage,
        ComposeError::Data(error) => error.exit(),
    }
}

/// The exit code for a world and a log that cannot be used together.
pub(crate) fn continuity_exit(error: &ContinuityError) -> Exit {
    match error {
        ContinuityError::OldWorld { .. } | ContinuityError::OtherLog { .. } => Exit::Damaged,
        ContinuityError::Id(_) => Exit::Usage,
        _ => Exit::Failure,
    }
}

/// The exit code for a world that cannot be opened.
pub(crate) fn world_exit(error: &dormouse_sandbox::SandboxOpenError) -> Exit {
    use dormouse_sandbox::SandboxOpenError;
    match error {
        SandboxOpenError::InUse { .. } => Exit::InUse,
        SandboxOpenError::Empty { .. }
        | SandboxOpenError::Foreign { .. }
        | SandboxOpenError::NewerFormat { .. }
        | SandboxOpenError::OlderFormat { .. }
        | SandboxOpenError::Damaged { .. }
        | SandboxOpenError::Repaired { .. } => Exit::Damaged,
        _ => Exit::Failure,
    }
}
