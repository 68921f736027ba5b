//! Servers of tools, as the configuration names them.

use std::{collections::BTreeMap, sync::Arc, time::Duration};

use dormouse_contracts::{IdError, ToolSourceName};
pub use dormouse_mcp::{
    AcceptError, AcceptedTool, KnownToolsError, McpAgreement, McpRequestCounts, McpServerError,
    McpServerState, McpServerStatus, McpToolState, McpToolStatus, McpTools,
};
use dormouse_mcp::{McpServer, McpToolPolicy, McpTransport, SecretText};
use dormouse_providers::{Environment, ResolveSecretError};
use dormouse_tools::NamedToolSource;

use crate::{
    config::{McpPlace, McpPolicySection, McpSection, McpServerSection},
    folder::DataFolder,
};

/// What programs need to run at all. Nothing else of the environment is passed on, unless the configuration names it: it may
/// hold keys.
const USUAL_VARIABLES: [&str; 8] = [
    "HOME",
    "LANG",
    "LC_ALL",
    "PATH",
    "SystemRoot",
    "TEMP",
    "TMPDIR",
    "TZ",
];

/// Servers cannot be used as they are configured.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum McpSetupError {
    /// A token cannot be read.
    #[error("the token of the server {server:?} cannot be read from {place}")]
    Token {
        /// The server.
        server: String,
        /// Where the token should be.
        place: String,
        /// Why not.
        source: ResolveSecretError,
    },
    /// A variable that a server should get is not set.
    #[error(
        "the server {server:?} should get the variable {variable}, which is not set or is not text"
    )]
    Variable {
        /// The server.
        server: String,
        /// The variable.
        variable: String,
    },
    /// The servers or the file of their tools cannot be used.
    #[error(transparent)]
    Servers(#[from] McpServerError),
}

/// The servers of this configuration, if it names any. Starts none of them.
///
/// # Errors
///
/// [`McpSetupError`], which names the server.
pub fn open(
    section: &McpSection,
    environment: &Environment,
    folder: &DataFolder,
) -> Result<Option<McpTools>, McpSetupError> {
    if section.servers.is_empty() {
        return Ok(None);
    }
    let servers = section.servers.iter();
    let servers = servers.map(|(name, section)| server(name, section, environment));
    let servers = servers.collect::<Result<Vec<_>, _>>()?;
    Ok(Some(McpTools::open(servers, folder.mcp_tools())?))
}

/// These sources, and the servers as one more.
pub(crate) fn with_servers(
    mut sources: Vec<NamedToolSource>,
    servers: Option<Arc<McpTools>>,
) -> Result<Vec<NamedToolSource>, IdError> {
    if let Some(source) = servers {
        let name = ToolSourceName::try_new("mcp")?;
        sources.push(NamedToolSource { name, source });
    }
    Ok(sources)
}

fn server(
    name: &str,
    section: &McpServerSection,
    environment: &Environment,
) -> Result<McpServer, McpSetupError> {
    let transport = match &section.place {
        McpPlace::Program { command, args, env } => McpTransport::Program {
            command: command.clone(),
            arguments: args.clone(),
            environment: variables(name, env, environment)?,
        },
        McpPlace::Address { url, token_from } => {
            let token = match token_from {
                None => None,
                Some(from) => {
                    let secret = environment.key_from(&from.value);
                    secret.map_err(|source| McpSetupError::Token {
                        server: name.to_owned(),
                        place: from.place().to_owned(),
                        source,
                    })?
                }
            };
            McpTransport::Http {
                url: url.clone(),
                token: token.map(|secret| SecretText(secret.expose().to_owned())),
            }
        }
    };
    let mut server = McpServer::new(name, transport);
    server.allow.clone_from(&section.allow);
    server.believe_hints = section.believe_hints;
    server.policy = policy(section.policy);
    let each = section.tools.iter();
    server.each = each.map(|(tool, it)| (tool.clone(), policy(*it))).collect();
    if let Some(kib) = section.result_kib {
        server.result_bytes = usize::try_from(kib.0)
            .unwrap_or(usize::MAX)
            .saturating_mul(1_024);
    }
    if let Some(idle) = section.idle {
        server.idle_after = idle.0;
    }
    if let Some(most) = section.model_requests {
        server.requests.model_requests = most.0;
    }
    if let Some(most) = section.model_tokens {
        server.requests.model_tokens = most.0;
    }
    let answers = section.answers.clone().into_iter();
    server.requests.answers = answers.map(|(field, it)| (field, it.into())).collect();
    Ok(server)
}

fn policy(section: McpPolicySection) -> McpToolPolicy {
    McpToolPolicy {
        category: section.category,
        reach: section.reach,
        required_trust: section.required_trust,
        result_trust: section.trust,
        timeout: section.timeout.map(|timeout| -> Duration { timeout.0 }),
    }
}

/// The environment of a server.
fn variables<'a>(
    server: &str,
    named: impl IntoIterator<Item = &'a String>,
    environment: &Environment,
) -> Result<BTreeMap<String, SecretText>, McpSetupError> {
    let value = |name: &str| environment.variable(name)?.into_string().ok();
    let usual = USUAL_VARIABLES.iter();
    let mut all: BTreeMap<_, _> = usual
        .filter_map(|name| Some(((*name).to_owned(), SecretText(value(name)?))))
        .collect();
    for name in named {
        let Some(value) = value(name) else {
            return Err(McpSetupError::Variable {
                server: server.to_owned(),
                variable: name.clone(),
            });
        };
        all.insert(name.clone(), SecretText(value));
    }
    Ok(all)
}
