//! `dormouse mcp`: a memory for agents that speak the Model Context Protocol, and tools of servers that speak it.

use std::{path::PathBuf, time::Duration};

use clap::Args;
use dormouse_contracts::{AssistantId, EntityId, Trust};
use dormouse_host::SystemClock;
use dormouse_mcp::{MemoryLimits, MemoryServer, ServeError, ServeMemoryError};
use dormouse_memory::Memory;
use tokio::runtime::Builder;

use crate::{
    command::{CommandError, CommandFailure, Places},
    exit::Exit,
    mcp_tools::{self, McpClient},
    signals::Signals,
};

/// Which memory, and what clients may do with it.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    client: Option<McpClient>,
    /// The file of the memory; it is made if it does not exist. Not the memory of an assistant, which its log alone changes
    #[arg(long, value_name = "FILE")]
    memory: Option<PathBuf>,
    /// Whose memory it is: a key of your choice, which is in the file
    #[arg(long, value_name = "KEY", default_value = "agent")]
    agent: AssistantId,
    /// How far anything that is remembered is believed at most (0 to 1). Below 0.5, notes are stored and not recalled
    #[arg(long, value_name = "TRUST", default_value = "1", value_parser = trust)]
    trust: Trust,
    /// The id of a person who learns what is recalled: only what they heard is; may be given several times
    /// [default: the agent alone, who may recall everything]
    #[arg(long = "listener", value_name = "ID")]
    listeners: Vec<EntityId>,
}

impl Mcp {
    /// Whether it is about servers of others. A memory is served here; they belong to a program that runs.
    pub(crate) fn is_about_tools(&self) -> bool {
        self.client.is_some()
    }
}

/// Nothing is said of what to serve.
#[derive(Debug, thiserror::Error)]
#[error(
    "--memory is missing; expected --memory FILE to serve a memory, or `tools` or `accept` for the tools of servers"
)]
struct NoMemory;

impl CommandFailure for NoMemory {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

fn trust(text: &str) -> Result<Trust, String> {
    let score: f32 = text
        .parse()
        .map_err(|_not_a_number| format!("{text:?} is not a number"))?;
    Trust::try_new(score).map_err(|error| error.to_string())
}

/// Serves one client on standard input and output, until it closes them or a signal ends the program.
pub(crate) fn run(places: &Places, mut mcp: Mcp) -> Result<Exit, CommandError> {
    if let Some(client) = mcp.client.take() {
        return mcp_tools::run(places, client);
    }
    let file = mcp.memory.take().ok_or(NoMemory)?;
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(CommandError::System)?;
    let exit = runtime.block_on(async {
        let memory = Memory::builder(mcp.agent, SystemClock).open(&file).await?;
        let limits = MemoryLimits {
            trust: mcp.trust,
            listeners: (!mcp.listeners.is_empty()).then(|| mcp.listeners.into_iter().collect()),
        };
        let server = MemoryServer::try_new(memory, limits).await?;
        let mut signals = Signals::listen().map_err(CommandError::System)?;
        let mut exit = Exit::Success;
        let stopped = async { exit = signals.next().await };
        server
            .serve(tokio::io::stdin(), tokio::io::stdout(), stopped)
            .await?;
        Ok(exit)
    });
    // The thread that reads the input may be waiting for a line that never comes.
    runtime.shutdown_timeout(Duration::from_millis(100));
    exit
}

impl CommandFailure for ServeMemoryError {
    fn exit(&self) -> Exit {
        match self {
            Self::FollowsLog(_) => Exit::Usage,
            _ => Exit::Damaged,
        }
    }
}

impl CommandFailure for ServeError {
    fn exit(&self) -> Exit {
        Exit::Failure
    }
}
