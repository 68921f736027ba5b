//! `dormouse mcp`: for agents that speak the Model Context Protocol, the assistants of a running service, or a memory alone; and
//! the tools of servers that speak it.

use std::{env, io, path::PathBuf, time::Duration};

use clap::Args;
use dormouse_contracts::{AssistantId, EntityId, Trust};
use dormouse_host::SystemClock;
use dormouse_mcp::{MemoryLimits, MemoryServer, ServeError, ServeMemoryError};
use dormouse_memory::Memory;
use dormouse_server::{McpBridge, ServiceAddress};
use tokio::{io::BufReader, runtime::Builder};

use crate::{
    command::{CommandError, CommandFailure, Places},
    exit::Exit,
    mcp_tools::{self, McpClient},
    signals::Signals,
};

/// The environment variable with the token of a service. An argument would be visible to everybody on the machine.
const TOKEN: &str = "DORMOUSE_TOKEN";

/// What is served: the assistants of a running service, whose token is in the variable DORMOUSE_TOKEN, or a memory.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Mcp {
    #[command(subcommand)]
    client: Option<McpClient>,
    /// Where `dormouse serve` listens; the variable DORMOUSE_TOKEN holds the token
    #[arg(
        long,
        value_name = "URL",
        default_value = "http://127.0.0.1:8420",
        conflicts_with = "memory"
    )]
    url: ServiceAddress,
    /// Serve only this memory file, without an assistant. The file is created if it does not exist. It must not be the
    /// memory of an assistant, because only the assistant's log may change that
    #[arg(long, value_name = "FILE")]
    memory: Option<PathBuf>,
    /// The key of the agent that owns the memory. You choose it; it is stored in the file
    #[arg(long, value_name = "KEY", default_value = "agent", requires = "memory")]
    agent: AssistantId,
    /// The maximum trust of anything that is remembered (0 to 1). Notes below 0.5 are stored, but not recalled
    #[arg(long, value_name = "TRUST", default_value = "1", value_parser = trust, requires = "memory")]
    trust: Trust,
    /// The id of a person who learns what is recalled. Then only what this person heard is recalled. May be given several
    /// times [default: only the agent learns it, and may recall everything]
    #[arg(long = "listener", value_name = "ID", requires = "memory")]
    listeners: Vec<EntityId>,
}

impl Mcp {
    /// Whether it is about servers of others. A memory is served here; they belong to a program that runs.
    pub(crate) fn is_about_tools(&self) -> bool {
        self.client.is_some()
    }
}

/// Why the assistants of a service cannot be served.
#[derive(Debug, thiserror::Error)]
enum McpError {
    #[error(
        "the variable {TOKEN} is not set: it holds the token of the service, which `dormouse token create` prints. To serve a memory alone, give --memory FILE"
    )]
    NoToken,
    #[error(
        "the variable {TOKEN} does not hold a token: a token is printable ASCII without spaces"
    )]
    NotAToken,
    #[error("standard input or output failed")]
    Streams(#[source] io::Error),
}

impl CommandFailure for McpError {
    fn exit(&self) -> Exit {
        match self {
            Self::NoToken | Self::NotAToken => Exit::Usage,
            Self::Streams(_) => Exit::Failure,
        }
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
    let runtime = Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(CommandError::System)?;
    let exit = runtime.block_on(async {
        let mut signals = Signals::listen().map_err(CommandError::System)?;
        let mut exit = Exit::Success;
        let stopped = async { exit = signals.next().await };
        match mcp.memory.take() {
            Some(file) => Box::pin(serve_memory(mcp, file, stopped)).await?,
            None => Box::pin(serve_service(mcp.url, stopped)).await?,
        }
        Ok(exit)
    });
    // The thread that reads the input may be waiting for a line that never comes.
    runtime.shutdown_timeout(Duration::from_millis(100));
    exit
}

async fn serve_memory(
    mcp: Mcp,
    file: PathBuf,
    stopped: impl Future<Output = ()>,
) -> Result<(), CommandError> {
    let memory = Memory::builder(mcp.agent, SystemClock).open(&file).await?;
    let limits = MemoryLimits {
        trust: mcp.trust,
        listeners: (!mcp.listeners.is_empty()).then(|| mcp.listeners.into_iter().collect()),
    };
    let server = MemoryServer::try_new(memory, limits).await?;
    server
        .serve(tokio::io::stdin(), tokio::io::stdout(), stopped)
        .await?;
    Ok(())
}

async fn serve_service(
    service: ServiceAddress,
    stopped: impl Future<Output = ()>,
) -> Result<(), CommandError> {
    let token = env::var_os(TOKEN).filter(|token| !token.is_empty());
    let token = token.ok_or(McpError::NoToken)?.into_string();
    let token = token
        .ok()
        .filter(|it| it.bytes().all(|byte| byte.is_ascii_graphic()));
    let bridge = McpBridge::new(service, token.ok_or(McpError::NotAToken)?);
    let input = BufReader::new(tokio::io::stdin());
    let served = bridge.serve(input, tokio::io::stdout(), stopped).await;
    Ok(served.map_err(McpError::Streams)?)
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
