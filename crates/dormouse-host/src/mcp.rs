//! Servers of tools, as the configuration names them.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::Duration,
};

use dormouse_contracts::{IdError, ToolSourceName};
pub use dormouse_mcp::{
    AcceptError, AcceptedTool, KnownToolsError, McpAgreement, McpRequestCounts, McpServerError,
    McpServerState, McpServerStatus, McpToolState, McpToolStatus, McpTools,
};
use dormouse_mcp::{McpServer, McpToolPolicy, McpTransport, SecretText};
use dormouse_providers::Environment;
use dormouse_text::error_chain;
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

/// The servers of this configuration, if it names any. Starts none of them.
///
/// # Errors
///
/// [`McpServerError`], which names the server.
pub fn open(
    section: &McpSection,
    environment: &Environment,
    folder: &DataFolder,
) -> Result<Option<McpTools>, McpServerError> {
    if section.servers.is_empty() {
        return Ok(None);
    }
    let servers = section.servers.iter();
    let servers = servers.map(|(name, section)| server(name, section, environment));
    let servers = servers.collect();
    Ok(Some(McpTools::open(servers, folder.mcp_tools())?))
}

/// Adds the servers to these sources, as one source named `mcp`.
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

/// The server of this section. If something that it needs is missing, it is not used; the other servers are.
fn server(name: &str, section: &McpServerSection, environment: &Environment) -> McpServer {
    let mut missing = None;
    let transport = match &section.place {
        McpPlace::Program { command, args, env } => {
            let unset = env.iter().find(|it| variable(it, environment).is_none());
            missing = unset.map(|unset| {
                format!("the variable {unset} is not set or is not text; set it, or remove it from `env`")
            });
            McpTransport::Program {
                command: command.clone(),
                arguments: args.clone(),
                environment: variables(env, environment),
            }
        }
        McpPlace::Address { url, token_from } => {
            let token = match token_from {
                None => None,
                Some(from) => match environment.key_from(&from.value) {
                    Ok(secret) => secret,
                    Err(error) => {
                        let why = error_chain(&error);
                        missing = Some(format!(
                            "its token cannot be read from {}: {why}",
                            from.place()
                        ));
                        None
                    }
                },
            };
            McpTransport::Http {
                url: url.clone(),
                token: token.map(|secret| SecretText(secret.expose().to_owned())),
            }
        }
    };
    let mut server = McpServer::new(name, transport);
    server.disabled = missing;
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
    if let Some(start) = section.start {
        server.start_limit = start.0;
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
    server
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

fn variable(name: &str, environment: &Environment) -> Option<String> {
    environment.variable(name)?.into_string().ok()
}

/// The environment of a server, as far as it is set.
fn variables(named: &BTreeSet<String>, environment: &Environment) -> BTreeMap<String, SecretText> {
    let usual = USUAL_VARIABLES.iter().copied();
    let all = usual.chain(named.iter().map(String::as_str));
    all.filter_map(|name| Some((name.to_owned(), SecretText(variable(name, environment)?))))
        .collect()
}
