//! Why a visit failed, and the exit code for it.

use std::io;

use dormouse_contracts::BoxError;

use super::feed::WatchError;
use dormouse_host::{DataFolder, EndedError, HostError};
use dormouse_server::ServerError;

use crate::{
    command::{self, host_exit},
    config::ConfigFileError,
    data::LocateError,
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
    #[error(transparent)]
    Game(#[from] crate::evennia::GameError),
    #[error(transparent)]
    Serve(#[from] ServerError),
    #[cfg(feature = "otel")]
    #[error(transparent)]
    Spans(#[from] crate::otel::FollowingError),
    #[cfg(not(feature = "otel"))]
    #[error(transparent)]
    Spans(#[from] crate::otel::NotBuilt),
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
    /// An error while the host is opened, with what to do about it.
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
            Self::Game(error) => error.exit(),
            Self::Spans(error) => command::CommandFailure::exit(error),
            Self::Serve(ServerError::NoToken(_) | ServerError::Rate(_)) => Exit::Usage,
            Self::Compose(error) => host_exit(error),
            Self::Mismatch(_) => Exit::Damaged,
            _ => Exit::Failure,
        }
    }
}
