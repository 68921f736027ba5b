//! Why a visit failed, and the exit code for it.

use std::io;

use dormouse_contracts::BoxError;

use super::feed::WatchError;
use dormouse_host::{ContinuityError, DataFolder, EndedError, HostError};

use crate::{
    assistant::roster_exit,
    command,
    config::ConfigFileError,
    data::{LocateError, data_exit},
    exit::Exit,
    provider::ProviderError,
    record::TapeError,
};

/// A visit failed. Every accepted message is on disk.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PlayError {
    #[error(transparent)]
    Data(#[from] LocateError),
    #[error(transparent)]
    Config(#[from] ConfigFileError),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Tape(#[from] TapeError),
    #[error(transparent)]
    Script(#[from] super::script::ScriptError),
    #[error(transparent)]
    Compose(#[from] HostError),
    #[error(transparent)]
    Mismatch(Box<command::Mismatch>),
    #[error(transparent)]
    Ended(#[from] EndedError),
    #[cfg(unix)]
    #[error(transparent)]
    Socket(#[from] crate::control::SocketError),
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
    /// The error of composing a host in this folder, with what to do about it.
    pub(crate) fn composing(data: &DataFolder, error: HostError) -> Self {
        match error {
            HostError::Mismatch(source) => {
                Self::Mismatch(Box::new(command::Mismatch::new(data, source)))
            }
            error => Self::Compose(error),
        }
    }

    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Config(_) | Self::Provider(_) | Self::Script(_) => Exit::Usage,
            Self::Data(error) => error.exit(),
            #[cfg(unix)]
            Self::Socket(error) => error.exit(),
            Self::Tape(error) => error.exit(),
            Self::Compose(error) => host_exit(error),
            Self::Mismatch(_) => Exit::Damaged,
            _ => Exit::Failure,
        }
    }
}

/// The exit code for a host that cannot be opened, or an assistant that cannot be woken.
pub(crate) fn host_exit(error: &HostError) -> Exit {
    match error {
        HostError::Log(error) => command::log_open_exit(error),
        HostError::World(error) => world_exit(error),
        HostError::Memory(error) => command::memory_open_exit(error),
        HostError::Recall(_) => Exit::Usage,
        HostError::Continuity(error) => continuity_exit(error),
        HostError::Wake(_)
        | HostError::Mismatch(_)
        | HostError::Format(_)
        | HostError::Read(_)
        | HostError::Life { .. } => Exit::Damaged,
        HostError::Join {
            source: dormouse_contracts::AdmitError::World(_),
            ..
        } => Exit::Failure,
        HostError::Join { .. }
        | HostError::Id(_)
        | HostError::Limits(_)
        | HostError::Archived { .. } => Exit::Usage,
        HostError::Roster(error) => roster_exit(error),
        HostError::Data(error) => data_exit(error),
        _ => Exit::Failure,
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
