//! Why an assistant cannot be woken, or ends without being asked to.

use dormouse_contracts::{AppendErrorKind, IdError, Seq};
use dormouse_tools::RegistryError;

use crate::{
    config::ConfigError, prompt::PreambleTooLong, remembering::CatchUpError, replay::ReplayError,
};

/// An assistant could not be woken.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WakeError {
    /// No assistant can run with its configuration.
    #[error("the assistant's configuration is not possible")]
    Config(#[from] ConfigError),
    /// Its log could not be folded.
    #[error("the assistant's log could not be folded into its state")]
    Replay(#[from] ReplayError),
    /// Its memory and its log do not belong together. A memory that merely cannot be read does not cause this error:
    /// the assistant runs on without it.
    #[error("the assistant's memory and its log cannot be used together")]
    Memory(#[source] CatchUpError),
    /// Its tools conflict.
    #[error("the assistant's tools cannot be offered")]
    Tools(#[from] RegistryError),
    /// Persona and tools leave too little room in the context window.
    #[error("the assistant's prompt leaves no room for a conversation")]
    Preamble(#[from] PreambleTooLong),
    /// The engine's own tool has an invalid name.
    #[error("a tool's name is not acceptable")]
    Name(#[from] IdError),
}

/// An assistant ended without being asked to. Every accepted message is on disk.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// Another writer uses the same log.
    #[error(
        "the log ends at event {actual} where {expected} was expected: another writer is at work on it"
    )]
    Conflict {
        /// Where it should have ended.
        expected: Seq,
        /// Where it ends.
        actual: Seq,
    },
    /// The log is closed, or rejects an event for good.
    #[error("the log does not take events any more: {0}")]
    Log(AppendErrorKind),
    /// An event could not be encoded as JSON.
    #[error("an event could not be written down")]
    Encode(#[from] serde_json::Error),
}
