//! What people see of servers, and how they agree to tools.

use std::collections::BTreeMap;

use dormouse_contracts::ToolName;
use serde::Serialize;
use serde_json::Value;

use super::{
    McpTools,
    definition::{offer, safe},
    known::{KnownServers, KnownTool, KnownToolsError},
    server::Server,
};

/// The longest description that is shown to people, in bytes.
const SHOWN_LIMIT: usize = 4_096;

/// How far a server has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum McpServerState {
    /// It was never asked for its tools.
    Configured,
    /// Its tools are known. It does not run.
    Known,
    /// It runs, and was not called.
    Started,
    /// It runs, and was called.
    Called,
}

/// What holds for a tool.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum McpToolState {
    /// It is offered to assistants.
    Offered,
    /// Nobody has agreed to it.
    New,
    /// The server has changed it since a person agreed to it.
    Changed,
    /// A person agreed to it, and the settings leave it out.
    LeftOut,
    /// It cannot be offered, for this reason.
    Unusable(String),
}

/// A tool of a server.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct McpToolStatus {
    /// Its name at the server.
    pub tool: String,
    /// Its name for assistants, if it can have one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub offered_as: Option<ToolName>,
    /// What holds for it.
    pub state: McpToolState,
    /// The digest of its definition: of the new one, if the server changed it.
    pub digest: String,
    /// What the server says of it.
    pub description: String,
    /// The JSON Schema of its arguments, which models read, too; null if it is too large to be offered.
    pub parameters: Value,
    /// What the server said of it when a person agreed, if it has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub was: Option<String>,
    /// The arguments to which a person agreed, if it has changed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parameters_were: Option<Value>,
}

/// A server with its tools.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct McpServerStatus {
    /// Its name.
    pub server: String,
    /// How far it has come in this process.
    pub state: McpServerState,
    /// Its tools, by name.
    pub tools: Vec<McpToolStatus>,
}

/// A tool to which a person agreed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct AcceptedTool {
    /// Its name at the server.
    pub tool: String,
    /// The digest of its definition.
    pub digest: String,
    /// What the server says of it.
    pub description: String,
}

/// Why nothing was agreed to.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum AcceptError {
    /// There is no such server.
    #[error("no server {server:?} is configured; expected {}", one_of(.servers))]
    Unknown {
        /// The name.
        server: String,
        /// Those that are.
        servers: Vec<String>,
    },
    /// The server offers nothing new, as far as is known.
    #[error(
        "the server {server:?} offered nothing new when it was asked last; `dormouse mcp tools` asks it and shows what it offers"
    )]
    Nothing {
        /// The server.
        server: String,
    },
    /// The file failed.
    #[error(transparent)]
    Known(#[from] KnownToolsError),
}

fn one_of(servers: &[String]) -> String {
    match servers {
        [] => "a table [mcp.servers.NAME] in the configuration".to_owned(),
        names => names.join(", "),
    }
}

impl McpTools {
    /// The servers with all tools that are known of them.
    ///
    /// # Errors
    ///
    /// [`KnownToolsError`] if the file cannot be read.
    pub async fn status(&self) -> Result<Vec<McpServerStatus>, KnownToolsError> {
        let known = self.known.read()?;
        let mut all = Vec::new();
        for (name, server) in &self.servers {
            let tools = tools(&known, name, server);
            all.push(McpServerStatus {
                server: name.clone(),
                state: server.state(!tools.is_empty()).await,
                tools,
            });
        }
        Ok(all)
    }

    /// A person agrees to what this server offered when it was asked last, or to one tool of it. It is offered from the
    /// next start on.
    ///
    /// # Errors
    ///
    /// [`AcceptError`] if there is nothing to agree to, or the file fails.
    pub fn accept(
        &self,
        server: &str,
        tool: Option<&str>,
    ) -> Result<Vec<AcceptedTool>, AcceptError> {
        let named = |servers: &BTreeMap<String, _>| servers.keys().cloned().collect();
        if !self.servers.contains_key(server) {
            return Err(AcceptError::Unknown {
                server: server.to_owned(),
                servers: named(&self.servers),
            });
        }
        let accepted = self.known.accept(server, tool)?;
        if accepted.is_empty() {
            let server = server.to_owned();
            return Err(AcceptError::Nothing { server });
        }
        let shown = accepted.into_iter().map(|(tool, definition)| AcceptedTool {
            tool: safe(&tool, SHOWN_LIMIT),
            description: safe(&definition.description, SHOWN_LIMIT),
            digest: definition.digest,
        });
        Ok(shown.collect())
    }
}

fn tools(known: &KnownServers, name: &str, server: &Server) -> Vec<McpToolStatus> {
    let tools = known.of(name);
    tools
        .filter_map(|(tool, known)| status(server, tool, known))
        .collect()
}

fn status(server: &Server, tool: &str, known: &KnownTool) -> Option<McpToolStatus> {
    let (definition, state) = match (&known.accepted, &known.offered) {
        (_, Some(offered)) if known.accepted.is_none() => (offered, McpToolState::New),
        (_, Some(offered)) => (offered, McpToolState::Changed),
        (Some(accepted), None) if server.settings.allows(tool) => (accepted, McpToolState::Offered),
        (Some(accepted), None) => (accepted, McpToolState::LeftOut),
        (None, None) => return None,
    };
    let offered = offer(&server.settings, tool, definition);
    let before = known.accepted.as_ref().filter(|_| known.offered.is_some());
    Some(McpToolStatus {
        tool: safe(tool, SHOWN_LIMIT),
        state: match &offered {
            Ok(_) => state,
            Err(why) => McpToolState::Unusable(safe(&why.to_string(), SHOWN_LIMIT)),
        },
        offered_as: offered.ok().map(|spec| spec.name),
        digest: definition.digest.clone(),
        description: safe(&definition.description, SHOWN_LIMIT),
        parameters: definition.schema.clone(),
        was: before.map(|before| safe(&before.description, SHOWN_LIMIT)),
        parameters_were: before.map(|before| before.schema.clone()),
    })
}
