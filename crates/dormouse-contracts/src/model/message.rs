//! Messages, and the tools that are offered with them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{CallId, ToolName, ToolSpec};

/// One message of a conversation, as a model reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// Instructions of the one who runs the assistant.
    System {
        /// The text.
        content: String,
    },
    /// What the world says to the assistant.
    User {
        /// The text.
        content: String,
    },
    /// What the model said or called.
    Assistant {
        /// Its text; empty where it only called tools.
        content: String,
        /// The tools it called.
        tool_calls: Vec<ToolCall>,
    },
    /// The result of a tool call.
    Tool {
        /// Which call it answers.
        call_id: CallId,
        /// The result as JSON text.
        content: String,
    },
}

/// A tool call as a model made it. Nothing in it has been checked yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Ties the result to the call.
    pub id: CallId,
    /// The name the model used; there may be no such tool.
    pub name: String,
    /// The arguments as the model wrote them; there may be no JSON in there.
    pub arguments: String,
}

/// A tool as a chat request offers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// The name to call it by.
    pub name: ToolName,
    /// What it does.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub parameters: Value,
}

impl From<&ToolSpec> for ToolDefinition {
    fn from(spec: &ToolSpec) -> Self {
        Self {
            name: spec.name.clone(),
            description: spec.description.clone(),
            parameters: spec.parameters.clone(),
        }
    }
}
