//! Why a host cannot be opened, or an assistant cannot be woken.

use std::path::PathBuf;

use dormouse_contracts::{AdmitError, AppendError, AssistantId, IdError, ReadError, ReadEvents};
use dormouse_engine::{
    Archived, CatchUpError, DecodeError, OutOfRange, ReplayError, RunError, WakeError, check_log,
};
use dormouse_memory::Memory;
use dormouse_tools::RouterError;

use crate::{
    continuity::ContinuityError,
    folder::{DataError, DataFolder},
    http_world::ToolFileError,
    pump::PumpError,
    recall::RecallError,
    roster::RosterError,
};

/// The host cannot be opened, or an assistant cannot be woken. Existing files are unchanged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HostError {
    /// The data folder cannot be used.
    #[error(transparent)]
    Data(#[from] DataError),
    /// The log has a format that this version does not read.
    #[error("the log cannot be used")]
    Format(#[from] DecodeError),
    /// The log cannot be opened.
    #[error(transparent)]
    Log(#[from] dormouse_store::LogOpenError),
    /// The memory cannot be opened.
    #[error("the memory cannot be opened")]
    Memory(#[from] dormouse_memory::MemoryOpenError),
    /// The memory does not belong to this log.
    #[error(transparent)]
    Mismatch(#[from] Box<Mismatch>),
    /// Its encoder or vector index cannot be used.
    #[error(transparent)]
    Recall(#[from] RecallError),
    /// The world cannot be opened.
    #[error("the world cannot be opened")]
    World(#[from] dormouse_sandbox::SandboxOpenError),
    /// The file of a world outside of this process cannot be opened.
    #[error("the world cannot be opened")]
    Bridge(#[from] dormouse_bridge::BridgeOpenError),
    /// The tools of this world cannot be read.
    #[error(transparent)]
    WorldTools(#[from] ToolFileError),
    /// The assistants live in another world than the sandbox.
    #[error(
        "the assistants of this folder live in a world outside of the program (world.kind is \"http\"): only that world says what happens there"
    )]
    NoSandbox,
    /// The assistants live in a game.
    #[error(
        "the assistants of this folder live in a game (world.kind is \"evennia\"): talk to them there; `dormouse run` and `dormouse serve` let them live in it"
    )]
    InGame,
    /// The assistants live in the sandbox.
    #[error(
        "the assistants of this folder live in the sandbox; with world.kind = \"http\" in dormouse.toml they live in a world of your own"
    )]
    NoHttpWorld,
    /// The tools of the world and of the other sources cannot be offered together.
    #[error(transparent)]
    Tools(#[from] RouterError),
    /// The servers of tools cannot be used.
    #[cfg(feature = "mcp")]
    #[error(transparent)]
    Mcp(#[from] crate::mcp::McpServerError),
    /// Log and world do not belong together.
    #[error(transparent)]
    Continuity(#[from] ContinuityError),
    /// Somebody's name cannot be used in the world.
    #[error("{name:?} cannot be the name of {whose}")]
    Join {
        /// Whose name: `the assistant` or `the player`.
        whose: &'static str,
        /// The name.
        name: String,
        /// Why not.
        source: AdmitError,
    },
    /// A name is not a valid id.
    #[error("the name cannot be used")]
    Id(#[from] IdError),
    /// A limit is out of range.
    #[error(transparent)]
    Limits(#[from] OutOfRange),
    /// The assistant's log cannot be folded, or its tools conflict.
    #[error("the assistant cannot be woken")]
    Wake(#[from] WakeError),
    /// The log cannot be read.
    #[error("the log could not be read")]
    Read(#[from] ReadError),
    /// The life of an assistant cannot be folded.
    #[error("the life of {assistant} cannot be read from the log")]
    Life {
        /// Whose life.
        assistant: AssistantId,
        /// Why not.
        source: ReplayError,
    },
    /// It is archived.
    #[error(
        "{assistant} is archived by {} since {} ({}): restore it first", .archived.by, .archived.at, .archived.reason
    )]
    Archived {
        /// Who.
        assistant: AssistantId,
        /// By whom, since when and why.
        archived: Archived,
    },
    /// The assistants of the folder were not changed, or could not be read.
    #[error(transparent)]
    Roster(#[from] RosterError),
    /// Somebody lets a model work on its memory already.
    #[error("a model works on the memory of {0} already: ask again when that has ended")]
    WorkedOn(AssistantId),
    /// The memory could not take in the log.
    #[error(transparent)]
    CatchUp(#[from] CatchUpError),
    /// The assistant ended by itself.
    #[error("the assistant has ended")]
    Run(#[from] RunError),
    /// What its character perceives cannot be delivered any more.
    #[error("messages could not be handed to the assistant")]
    Pump(#[from] PumpError),
    /// The host is closed.
    #[error("the host is closed; open it again")]
    Closed,
}

impl From<AppendError> for HostError {
    fn from(error: AppendError) -> Self {
        RosterError::from(error).into()
    }
}

impl From<serde_json::Error> for HostError {
    fn from(error: serde_json::Error) -> Self {
        RosterError::from(error).into()
    }
}

/// The memory does not follow the log of its folder. Both are unchanged.
#[derive(Debug, thiserror::Error)]
#[error("the memory {} does not follow the log {}: {source}", memory.display(), log.display())]
pub struct Mismatch {
    /// The file of the memory.
    pub memory: PathBuf,
    /// The file of the log.
    pub log: PathBuf,
    source: CatchUpError,
}

/// Refuses a memory that does not follow this log. A log that cannot be read is not compared.
///
/// # Errors
///
/// [`Mismatch`].
pub async fn check_follows<L: ReadEvents>(
    data: &DataFolder,
    log: &L,
    memory: &Memory,
) -> Result<(), Box<Mismatch>> {
    let key = memory.assistant();
    match check_log(log, key, memory).await {
        Err(source) if source.is_mismatch() => Err(Box::new(Mismatch {
            memory: data.memory(key),
            log: data.log(),
            source,
        })),
        Ok(()) | Err(_) => Ok(()),
    }
}
