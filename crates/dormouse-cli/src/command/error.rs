//! Why a command failed, and the exit code for it.

use std::{error::Error, io};

use dormouse_contracts::{AppendError, BoxError, ReadError};
use dormouse_engine::{
    CatchUpError, ConsolidateError, DecodeError, LoggedChangeError, ReplayError,
};
use dormouse_host::{DataError, HostError};
use dormouse_memory::{MemoryError, MemoryOpenError, StoreErrorKind};
use dormouse_store::LogOpenError;

use super::host_exit::host_exit;
use crate::{
    config::ConfigFileError,
    data::{LocateError, data_exit},
    exit::{Exit, Report},
    provider::ProviderError,
    recall::RecallError,
};

/// A command failed. The variants are what several commands can meet.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CommandError {
    #[error(transparent)]
    Data(#[from] LocateError),
    #[error(transparent)]
    Config(#[from] ConfigFileError),
    #[error(transparent)]
    Provider(#[from] ProviderError),
    #[error(transparent)]
    Recall(#[from] RecallError),
    #[error(transparent)]
    LogOpen(#[from] LogOpenError),
    #[error("the log could not be read")]
    LogRead(#[from] ReadError),
    #[error("the log could not be replayed")]
    Replay(#[from] ReplayError),
    #[error("the log cannot be used")]
    Format(#[from] DecodeError),
    #[error("the event could not be written to the log")]
    Append(#[from] AppendError),
    #[error("the memory cannot be opened")]
    MemoryOpen(#[from] MemoryOpenError),
    #[error(transparent)]
    Memory(#[from] MemoryError),
    #[error(transparent)]
    CatchUp(#[from] CatchUpError),
    #[error("the result could not be encoded as JSON")]
    Json(#[from] serde_json::Error),
    #[error("the program could not start a runtime")]
    System(#[source] io::Error),
    #[error("output could not be written")]
    Output(#[from] io::Error),
    /// An error that only one command has.
    #[error("{source}")]
    Other {
        /// The exit code.
        exit: Exit,
        /// The error.
        source: BoxError,
    },
}

impl CommandFailure for HostError {
    fn exit(&self) -> Exit {
        host_exit(self)
    }
}

impl CommandFailure for DataError {
    fn exit(&self) -> Exit {
        data_exit(self)
    }
}

/// An error of one command, with its exit code.
pub(crate) trait CommandFailure: Error + Send + Sync + 'static {
    /// The exit code.
    fn exit(&self) -> Exit;
}

impl<E: CommandFailure> From<E> for CommandError {
    fn from(error: E) -> Self {
        Self::Other {
            exit: error.exit(),
            source: error.into(),
        }
    }
}

impl CommandError {
    /// The exit code.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Config(_) | Self::Provider(_) | Self::Recall(_) => Exit::Usage,
            Self::LogOpen(error) => log_open_exit(error),
            Self::LogRead(_) | Self::Replay(_) | Self::Format(_) => Exit::Damaged,
            Self::MemoryOpen(error) => memory_open_exit(error),
            Self::Memory(error) | Self::CatchUp(CatchUpError::Memory(error)) => memory_exit(error),
            Self::CatchUp(_) => Exit::Damaged,
            Self::Data(error) => error.exit(),
            Self::Append(_) | Self::Json(_) | Self::System(_) | Self::Output(_) => Exit::Failure,
            Self::Other { exit, .. } => *exit,
        }
    }
}

impl From<LoggedChangeError> for CommandError {
    fn from(error: LoggedChangeError) -> Self {
        match error {
            LoggedChangeError::Memory(error) => Self::Memory(error),
            LoggedChangeError::Encode(error) => Self::Json(error),
            LoggedChangeError::Append(error) => Self::Append(error),
            LoggedChangeError::CatchUp(error) => Self::CatchUp(error),
            other => Self::Other {
                exit: Exit::Failure,
                source: other.into(),
            },
        }
    }
}

impl From<ConsolidateError> for CommandError {
    fn from(error: ConsolidateError) -> Self {
        match error {
            ConsolidateError::Replay(error) => Self::Replay(error),
            ConsolidateError::Change(error) => error.into(),
            ConsolidateError::Memory(error) => Self::Memory(error),
            other => Self::Other {
                exit: Exit::Failure,
                source: other.into(),
            },
        }
    }
}

/// A change that the memory refuses, with what to do about it.
#[derive(Debug, thiserror::Error)]
#[error("{source}; {hint}")]
struct RefusedChange {
    source: MemoryError,
    hint: &'static str,
}

impl CommandFailure for RefusedChange {
    fn exit(&self) -> Exit {
        memory_exit(&self.source)
    }
}

/// The memory is damaged, and can be rebuilt.
#[derive(Debug, thiserror::Error)]
#[error("{}; `{command}` rebuilds the memory from the log", Report(.source))]
struct DamagedMemory {
    source: CommandError,
    command: String,
}

impl CommandFailure for DamagedMemory {
    fn exit(&self) -> Exit {
        Exit::Damaged
    }
}

impl CommandError {
    /// Adds the command that rebuilds the memory from the log, if it is damaged. A file that another version or another
    /// program wrote does not count as damaged.
    pub(super) fn with_rebuild_hint(self, command: String) -> Self {
        use dormouse_database::DatabaseOpenError as File;
        let is_damaged = match &self {
            Self::MemoryOpen(
                MemoryOpenError::OtherAssistant { .. }
                | MemoryOpenError::File(File::Foreign { .. } | File::NewerFormat { .. }),
            ) => false,
            Self::MemoryOpen(_) | Self::Memory(_) => self.exit() == Exit::Damaged,
            _ => false,
        };
        match is_damaged {
            true => DamagedMemory {
                source: self,
                command,
            }
            .into(),
            false => self,
        }
    }

    /// Adds what to do, if the memory refuses the change.
    pub(crate) fn with_hint(self, hint: &'static str) -> Self {
        match self {
            Self::Memory(source @ MemoryError::Change(_)) => RefusedChange { source, hint }.into(),
            other => other,
        }
    }
}

/// The exit code for a log that cannot be opened.
pub(crate) fn log_open_exit(error: &LogOpenError) -> Exit {
    match error {
        LogOpenError::InUse { .. } => Exit::InUse,
        LogOpenError::Empty { .. }
        | LogOpenError::NotALog { .. }
        | LogOpenError::Truncated { .. }
        | LogOpenError::Corrupt { .. }
        | LogOpenError::WriteAhead { .. }
        | LogOpenError::Newer { .. }
        | LogOpenError::Repaired { .. } => Exit::Damaged,
        _ => Exit::Failure,
    }
}

/// The exit code for a memory that cannot be opened.
pub(crate) fn memory_open_exit(error: &MemoryOpenError) -> Exit {
    use dormouse_database::DatabaseOpenError as File;
    match error {
        MemoryOpenError::File(File::InUse { .. }) => Exit::InUse,
        MemoryOpenError::File(
            File::Empty { .. }
            | File::Foreign { .. }
            | File::NewerFormat { .. }
            | File::OlderFormat { .. }
            | File::Truncated { .. }
            | File::Damaged { .. }
            | File::Repaired { .. },
        )
        | MemoryOpenError::Entities { .. }
        | MemoryOpenError::OtherAssistant { .. } => Exit::Damaged,
        MemoryOpenError::Store(error) => store_exit(error.kind()),
        _ => Exit::Failure,
    }
}

/// The exit code for a memory that cannot be read or changed.
pub(crate) fn memory_exit(error: &MemoryError) -> Exit {
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
