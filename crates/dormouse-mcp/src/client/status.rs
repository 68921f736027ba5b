//! What people see of servers, and how they agree to tools.

use std::collections::BTreeSet;

use dormouse_contracts::ToolName;
use serde::Serialize;
use serde_json::Value;

use super::{
    McpTools,
    definition::{offer, safe},
    known::{KnownServers, KnownTool, KnownToolsError, McpAgreement},
    requests::McpRequestCounts,
    server::Server,
};

/// The longest description that is shown to people, in bytes.
const SHOWN_LIMIT: usize = 4_096;

/// How far a server has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum McpServerState {
    /// It is not used, because something that it needs is missing.
    Disabled,
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
    /// The settings leave it out.
    LeftOut,
    /// A person agreed to it, and the server does not have it any more.
    Gone,
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
    /// Who agreed to it last, and when.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agreement: Option<McpAgreement>,
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
    /// Why it is not used, if it is not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disabled: Option<String>,
    /// How often it asked for something, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requests: Option<McpRequestCounts>,
    /// Its tools, by name.
    pub tools: Vec<McpToolStatus>,
    /// Names of tools in its settings that it does not have, if it was asked.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub misnamed: Vec<String>,
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
        "nothing new is known of the server {server:?}; `dormouse mcp tools` asks it and shows what it offers"
    )]
    Nothing {
        /// The server.
        server: String,
    },
    /// There is nothing to agree to under this name.
    #[error("the server {server:?} offers no new tool {tool:?}; expected {}", one_tool_of(.tools))]
    NoSuchTool {
        /// The server.
        server: String,
        /// The name.
        tool: String,
        /// Those that are new or changed.
        tools: Vec<String>,
    },
    /// What the server says now was not shown to anybody.
    #[error(
        "nothing was agreed to: what the server {server:?} says of {} is newer than what was shown; `dormouse mcp tools` shows it", .tools.join(", ")
    )]
    NotShown {
        /// The server.
        server: String,
        /// The tools.
        tools: Vec<String>,
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

fn one_tool_of(tools: &[String]) -> String {
    match tools {
        [] => "none: `dormouse mcp tools` asks the server".to_owned(),
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
            let requests = server.gate.counts();
            all.push(McpServerStatus {
                server: name.clone(),
                state: server.state(!tools.is_empty()).await,
                disabled: server.settings.disabled.clone(),
                requests: (requests != McpRequestCounts::default()).then_some(requests),
                misnamed: misnamed(&known, name, server),
                tools,
            });
        }
        Ok(all)
    }

    /// A person was shown these servers, as [`McpTools::status`] says they are. Only to what was shown can be agreed.
    ///
    /// # Errors
    ///
    /// [`KnownToolsError`] if the file fails.
    pub fn shown(&self, listed: &[McpServerStatus]) -> Result<(), KnownToolsError> {
        let digests = |status: &McpServerStatus| {
            let tools = status.tools.iter();
            tools.map(|tool| tool.digest.clone()).collect::<Vec<_>>()
        };
        let listed: Vec<_> = listed
            .iter()
            .map(|status| (status.server.as_str(), digests(status)))
            .collect();
        let shown = listed
            .iter()
            .map(|(server, digests)| (*server, digests.iter().map(String::as_str).collect()));
        self.known.show(&shown.collect())
    }

    /// A person agrees to what was [shown](McpTools::shown) of this server, or of one tool of it. It is offered from the next start
    /// on. What the settings leave out, and what cannot be offered, is no part of it.
    ///
    /// # Errors
    ///
    /// [`AcceptError`] if there is nothing to agree to, the server has said something else since, or the file fails.
    pub fn accept(
        &self,
        server: &str,
        tool: Option<&str>,
        agreement: &McpAgreement,
    ) -> Result<Vec<AcceptedTool>, AcceptError> {
        let Some(known) = self.servers.get(server) else {
            return Err(AcceptError::Unknown {
                server: server.to_owned(),
                servers: self.servers.keys().cloned().collect(),
            });
        };
        let server = server.to_owned();
        let read = self.known.read()?;
        let new = read.of(&server).filter(|(name, tool)| {
            let offered = tool.offered.as_ref();
            offered.is_some_and(|offered| offer(&known.settings, name, offered).is_ok())
                && known.settings.allows(name)
        });
        let new: Vec<String> = new.map(|(name, _)| name.to_owned()).collect();
        let chosen = match tool {
            Some(tool) if !new.iter().any(|name| name == tool) => {
                let (tool, tools) = (tool.to_owned(), new);
                return Err(AcceptError::NoSuchTool {
                    server,
                    tool,
                    tools,
                });
            }
            Some(tool) => vec![tool.to_owned()],
            None if new.is_empty() => return Err(AcceptError::Nothing { server }),
            None => new,
        };
        let accepted = match self.known.accept(&server, &chosen, agreement)? {
            Ok(accepted) => accepted,
            Err(tools) => return Err(AcceptError::NotShown { server, tools }),
        };
        let shown = accepted.into_iter().map(|(tool, definition)| AcceptedTool {
            tool: safe(&tool, SHOWN_LIMIT),
            description: safe(&definition.description, SHOWN_LIMIT),
            digest: definition.digest,
        });
        Ok(shown.collect())
    }
}

/// The names in the settings that the server does not have, if anything is known of it.
pub(super) fn misnamed(known: &KnownServers, name: &str, server: &Server) -> Vec<String> {
    let has = |tool: &str| {
        let mut tools = known.of(name);
        tools.any(|(known, _)| known == tool)
    };
    let settings = &server.settings;
    let named = settings.each.keys().chain(settings.allow.iter().flatten());
    let missing = named.filter(|tool| known.of(name).next().is_some() && !has(tool));
    let missing: BTreeSet<_> = missing.cloned().collect();
    missing.into_iter().collect()
}

fn tools(known: &KnownServers, name: &str, server: &Server) -> Vec<McpToolStatus> {
    let tools = known.of(name);
    tools
        .filter_map(|(tool, known)| status(server, tool, known))
        .collect()
}

fn status(server: &Server, tool: &str, known: &KnownTool) -> Option<McpToolStatus> {
    let (definition, state) = match (&known.accepted, &known.offered) {
        (None, Some(offered)) => (offered, McpToolState::New),
        (Some(_), Some(offered)) => (offered, McpToolState::Changed),
        (Some(accepted), None) if known.is_gone => (accepted, McpToolState::Gone),
        (Some(accepted), None) => (accepted, McpToolState::Offered),
        (None, None) => return None,
    };
    let is_allowed = server.settings.allows(tool) || state == McpToolState::Gone;
    let state = if is_allowed {
        state
    } else {
        McpToolState::LeftOut
    };
    let offered = offer(&server.settings, tool, definition);
    let before = known.accepted.as_ref().filter(|_| known.offered.is_some());
    Some(McpToolStatus {
        tool: safe(tool, SHOWN_LIMIT),
        state: match (&offered, state) {
            (Err(why), _) => McpToolState::Unusable(safe(&why.to_string(), SHOWN_LIMIT)),
            (Ok(_), McpToolState::Offered) if server.settings.disabled.is_some() => {
                McpToolState::Unusable("the server is not used".to_owned())
            }
            (Ok(_), state) => state,
        },
        offered_as: offered.ok().map(|spec| spec.name),
        digest: definition.digest.clone(),
        description: safe(&definition.description, SHOWN_LIMIT),
        agreement: known.agreement.clone(),
        parameters: definition.schema.clone(),
        was: before.map(|before| safe(&before.description, SHOWN_LIMIT)),
        parameters_were: before.map(|before| before.schema.clone()),
    })
}
