//! `dormouse mcp tools` and `dormouse mcp accept`: which tools servers offer, and which of them a person accepts.

use clap::Subcommand;
use dormouse_contracts::Clock;
use dormouse_host::{
    SystemClock,
    mcp::{
        AcceptError, AcceptedTool, KnownToolsError, McpAgreement, McpRequestCounts, McpServerError,
        McpServerState, McpServerStatus, McpToolState, McpToolStatus, McpTools, open,
    },
};
use dormouse_text::one_line;
use serde::Serialize;

use crate::{
    command::{
        CommandError, CommandFailure, JsonFlag, Places, Printing, block_on, callers_host, operator,
    },
    exit::{Exit, file_exit},
    provider,
};

/// The servers of `[mcp.servers]`, whose tools assistants may use.
#[derive(Debug, Subcommand)]
pub(crate) enum McpClient {
    /// Ask the configured servers for their tools, and list each tool as offered, new, changed or left out
    Tools {
        /// Start no server: list what is known already
        #[arg(long)]
        known: bool,
        #[command(flatten)]
        json: JsonFlag,
    },
    /// Accept the tools of a server as `dormouse mcp tools` showed them. Assistants get these tools at the next start
    Accept {
        /// The name of the server in the configuration
        server: String,
        /// The name of one tool at the server [default: all that are new or changed]
        tool: Option<String>,
        /// Your name, which is stored with the decision [default: your user name]
        #[arg(long, value_name = "NAME")]
        by: Option<String>,
        #[command(flatten)]
        json: JsonFlag,
    },
}

impl CommandFailure for McpServerError {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

impl CommandFailure for KnownToolsError {
    fn exit(&self) -> Exit {
        match self {
            Self::File { source, .. } => file_exit(source),
            _ => Exit::Damaged,
        }
    }
}

impl CommandFailure for AcceptError {
    fn exit(&self) -> Exit {
        match self {
            Self::Known(error) => error.exit(),
            _ => Exit::Usage,
        }
    }
}

/// No server is configured.
#[derive(Debug, thiserror::Error)]
#[error(
    "no server is configured; expected a table [mcp.servers.NAME] with a command or a url in the configuration"
)]
struct NoServer;

impl CommandFailure for NoServer {
    fn exit(&self) -> Exit {
        Exit::Usage
    }
}

/// A server as it is printed.
#[derive(Serialize)]
struct ServerLine<'a> {
    r#type: &'static str,
    server: &'a str,
    state: McpServerState,
    /// Why it could not be asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    /// How many requests it made; absent if it does not run or made none.
    #[serde(skip_serializing_if = "Option::is_none")]
    requests: Option<McpRequestCounts>,
    /// Tools in its settings that it does not have.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    misnamed: &'a [String],
}

/// A tool as it is printed.
#[derive(Serialize)]
struct ToolLine<'a> {
    r#type: &'static str,
    server: &'a str,
    #[serde(flatten)]
    tool: &'a McpToolStatus,
}

/// A tool to which a person agreed.
#[derive(Serialize)]
struct AcceptedLine<'a> {
    r#type: &'static str,
    server: &'a str,
    #[serde(flatten)]
    tool: &'a AcceptedTool,
}

pub(crate) fn run(places: &Places, command: McpClient) -> Result<Exit, CommandError> {
    let data = crate::data::locate(places.data.as_deref())?;
    let (config, _) = places.configuration(&data)?;
    data.create()?;
    let tools = open(&config.mcp, &provider::environment(), &data)?.ok_or(NoServer)?;
    match command {
        McpClient::Tools { known, json } => list(&tools, known, json.printing()),
        McpClient::Accept {
            server,
            tool,
            by,
            json,
        } => {
            let agreement = McpAgreement {
                by: operator(by)?,
                at: SystemClock.now(),
            };
            let host = callers_host();
            // If a running program carries out this command, its `McpTools` writes the file: two writers would
            // overwrite each other's changes.
            let tools = host.as_ref().and_then(|host| host.mcp()).unwrap_or(&tools);
            let accepted = tools.accept(&server, tool.as_deref(), &agreement)?;
            print_accepted(&server, &accepted, json.printing())
        }
    }
}

fn list(tools: &McpTools, known: bool, printing: Printing) -> Result<Exit, CommandError> {
    let host = callers_host();
    let (failed, all, running) = block_on(async {
        let failed = match known {
            true => Default::default(),
            // Starts the servers anew for this question; they end with this command.
            false => tools.ask(None).await,
        };
        tools.close().await;
        let running = match host.as_ref().and_then(|host| host.mcp()) {
            Some(mcp) => mcp.status().await?,
            None => Vec::new(),
        };
        Ok::<_, KnownToolsError>((failed, tools.status().await?, running))
    })??;
    for status in &all {
        let running = running.iter().find(|it| it.server == status.server);
        let error = failed.get(&status.server).map(String::as_str);
        let line = ServerLine {
            r#type: "mcp_server",
            server: &status.server,
            state: running.map_or(status.state, |running| running.state),
            error: error.or(status.disabled.as_deref()),
            requests: running.and_then(|running| running.requests),
            misnamed: &status.misnamed,
        };
        printing.print(&line, || server_text(&line, status))?;
        for tool in &status.tools {
            let line = ToolLine {
                r#type: "mcp_tool",
                server: &status.server,
                tool,
            };
            printing.print(&line, || tool_text(tool))?;
        }
    }
    let writer = host.as_ref().and_then(|host| host.mcp()).unwrap_or(tools);
    writer.shown(&all)?;
    Ok(match failed.is_empty() {
        true => Exit::Success,
        false => Exit::Failure,
    })
}

fn server_text(line: &ServerLine<'_>, status: &McpServerStatus) -> Vec<String> {
    let state = match line.state {
        McpServerState::Disabled => "it is not used",
        McpServerState::Configured => "it was never asked",
        McpServerState::Known => "it does not run; it is started when it is needed",
        McpServerState::Started => "it runs, and was not called",
        _ => "it runs, and was called",
    };
    let waiting =
        |tool: &&McpToolStatus| matches!(tool.state, McpToolState::New | McpToolState::Changed);
    let mut lines = vec![format!("{}: {state}", line.server)];
    lines.extend(
        line.error
            .map(|error| format!("  it could not be asked: {error}")),
    );
    if let Some(requests) = line.requests {
        lines.push(format!(
            "  it asked the model: {} answered, {} refused; it asked a person: {} answered, {} declined",
            requests.model_answered,
            requests.model_refused,
            requests.questions_answered,
            requests.questions_declined,
        ));
    }
    if !line.misnamed.is_empty() {
        lines.push(format!(
            "  the configuration names tools that it does not have: {}",
            line.misnamed.join(", ")
        ));
    }
    if status.tools.iter().find(waiting).is_some() {
        lines.push(format!(
            "  `dormouse mcp accept {}` accepts what is new or changed",
            line.server
        ));
    }
    lines
}

fn tool_text(tool: &McpToolStatus) -> Vec<String> {
    let name = tool.offered_as.as_ref();
    let name = name.map_or(tool.tool.as_str(), |name| name.as_str());
    let state = match &tool.state {
        McpToolState::Offered => "offered".to_owned(),
        McpToolState::New => "new, not offered".to_owned(),
        McpToolState::Changed => "changed, not offered any more".to_owned(),
        McpToolState::LeftOut => "left out by the configuration".to_owned(),
        McpToolState::Gone => {
            "the server does not have it any more, so it is not offered".to_owned()
        }
        McpToolState::Unusable(why) => format!("cannot be offered: {why}"),
        _ => "unknown".to_owned(),
    };
    let digest = tool.digest.get(..12).unwrap_or(&tool.digest);
    let agreed = tool.agreement.as_ref().map_or_else(String::new, |it| {
        format!("; {} agreed at {}", one_line(&it.by), it.at)
    });
    let mut lines = vec![
        format!("  {name} ({state}; {digest}{agreed})"),
        format!("    {}", tool.description),
    ];
    // A person agrees to all that models read.
    if tool.state != McpToolState::Offered {
        lines.push(format!("    arguments: {}", tool.parameters));
    }
    lines.extend(tool.was.as_ref().map(|was| format!("    it was: {was}")));
    let before = tool.parameters_were.as_ref();
    lines.extend(before.map(|before| format!("    arguments were: {before}")));
    lines
}

fn print_accepted(
    server: &str,
    accepted: &[AcceptedTool],
    printing: Printing,
) -> Result<Exit, CommandError> {
    for tool in accepted {
        let line = AcceptedLine {
            r#type: "mcp_accepted",
            server,
            tool,
        };
        let digest = tool.digest.get(..12).unwrap_or(&tool.digest);
        printing.print(&line, || {
            format!(
                "{} of {server} is offered from the next start on ({digest})",
                tool.tool
            )
        })?;
    }
    Ok(Exit::Success)
}
