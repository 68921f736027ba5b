//! A tool as its server describes it, and as it is offered.

use std::{fmt::Write, time::Duration};

use dormouse_contracts::{IdError, ToolCategory, ToolName, ToolReach, ToolSpec, Trust};
use dormouse_text::{beginning_bytes, error_chain, escape_hidden, escape_template_tokens};
use dormouse_tools::{Registry, RegistryError};
use rmcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{
    connection::MOST_PROGRESS,
    requests::TURN_LIMIT,
    settings::{McpServer, McpToolPolicy},
};

/// The longest description that is offered, in bytes.
const DESCRIPTION_LIMIT: usize = 1_024;
/// The longest description that is kept, in bytes.
const KEPT_LIMIT: usize = 4_096;
/// The largest schema that is offered, in bytes of JSON.
const SCHEMA_LIMIT: usize = 16 * 1_024;

/// What a server says of a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Definition {
    pub(super) description: String,
    /// Null if it is too large to be offered.
    pub(super) schema: Value,
    #[serde(default)]
    reads_only: bool,
    #[serde(default = "yes")]
    destroys: bool,
    /// The digest of everything that the server says of it.
    pub(super) digest: String,
}

fn yes() -> bool {
    true
}

/// Why a tool cannot be offered.
#[derive(Debug, thiserror::Error)]
pub(super) enum NotOffered {
    #[error("its name and that of its server are not a valid name: {0}")]
    Name(#[from] IdError),
    #[error("its schema has more than {SCHEMA_LIMIT} bytes")]
    TooLarge,
    #[error("its schema cannot be used: {}", error_chain(.0))]
    Schema(#[from] RegistryError),
}

impl Definition {
    pub(super) fn of(tool: &Tool) -> Self {
        let hints = tool.annotations.as_ref();
        let mut all = serde_json::to_value(tool).unwrap_or_default();
        if let Value::Object(fields) = &mut all {
            // Neither is shown to a model, and servers put times into the second.
            fields.remove("icons");
            fields.remove("_meta");
        }
        let schema = Value::Object((*tool.input_schema).clone());
        let is_too_large = schema.to_string().len() > SCHEMA_LIMIT;
        let description = tool.description.as_deref().unwrap_or_default();
        Self {
            description: beginning_bytes(description, KEPT_LIMIT).to_owned(),
            schema: if is_too_large { Value::Null } else { schema },
            reads_only: hints.and_then(|hints| hints.read_only_hint) == Some(true),
            destroys: hints.and_then(|hints| hints.destructive_hint) != Some(false),
            digest: digest(&all),
        }
    }
}

/// The SHA-256 of JSON whose fields are in the order of their names.
fn digest(value: &Value) -> String {
    let digest = Sha256::digest(sorted(value).to_string());
    digest.iter().fold(String::new(), |mut text, byte| {
        // Writing into a text cannot fail.
        write!(text, "{byte:02x}").ok();
        text
    })
}

/// The value with its fields in the order of their names, whichever map the library uses.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(fields) => {
            let mut fields: Vec<_> = fields.iter().collect();
            fields.sort_by_key(|(name, _)| *name);
            let fields = fields.into_iter();
            fields
                .map(|(name, value)| (name.clone(), sorted(value)))
                .collect()
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => value.clone(),
    }
}

/// The first `limit` bytes of a text of a server, without hidden characters and tokens of chat templates: their escapes may be longer.
pub(super) fn safe(text: &str, limit: usize) -> String {
    let text = beginning_bytes(text, limit);
    escape_template_tokens(&escape_hidden(text)).into_owned()
}

/// The same schema, with every name and text in it as a model may read it.
fn shown(schema: &Value) -> Value {
    let safe = |text: &str| escape_template_tokens(&escape_hidden(text)).into_owned();
    match schema {
        Value::String(text) => Value::String(safe(text)),
        Value::Array(items) => items.iter().map(shown).collect(),
        Value::Object(fields) => {
            let fields = fields.iter();
            let fields = fields.map(|(name, value)| (safe(name), shown(value)));
            Value::Object(fields.collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => schema.clone(),
    }
}

/// The tool as it is offered.
pub(super) fn offer(
    server: &McpServer,
    tool: &str,
    definition: &Definition,
) -> Result<ToolSpec, NotOffered> {
    let name = ToolName::try_new(format!("{}_{tool}", server.name))?;
    if definition.schema.is_null() {
        return Err(NotOffered::TooLarge);
    }
    let schema = shown(&definition.schema);
    let described = match definition.description.trim() {
        "" => "(The server does not say what it does.)".to_owned(),
        text => safe(text, DESCRIPTION_LIMIT),
    };
    let McpToolPolicy {
        category,
        reach,
        required_trust,
        result_trust,
        timeout,
    } = server.policy(tool);
    let believed = server.believe_hints;
    // A call may have to wait for the one before it.
    let turn = match server.requests.is_nothing() {
        true => Duration::ZERO,
        false => TURN_LIMIT,
    };
    let hinted = match (believed, definition.reads_only, definition.destroys) {
        (true, true, _) => (ToolReach::Query, ToolCategory::SafeChain),
        (true, false, true) => (ToolReach::Effect, ToolCategory::Dangerous),
        _ => (ToolReach::Effect, ToolCategory::SafeChain),
    };
    let spec = ToolSpec {
        category: category.unwrap_or(hinted.1),
        reach: reach.unwrap_or(hinted.0),
        // The server may have to be started first, and may report progress.
        timeout: turn
            + server.start_limit
            + timeout.unwrap_or(McpToolPolicy::TIMEOUT) * MOST_PROGRESS,
        required_trust: Some(required_trust.unwrap_or(McpToolPolicy::REQUIRED_TRUST)),
        result_trust: Some(result_trust.unwrap_or(Trust::NONE)),
        ..ToolSpec::effect(name, described, schema)
    };
    // A schema that no call can be checked against would keep the whole program from starting.
    Registry::try_new([spec.clone()])?;
    Ok(spec)
}
