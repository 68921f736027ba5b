//! Messages, and the tools that are offered with them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{
    ids::{CallId, ToolName},
    tool::ToolSpec,
};

/// One message of a conversation, as a model reads it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "role", rename_all = "snake_case")]
#[non_exhaustive]
pub enum Message {
    /// Instructions of the operator.
    System {
        /// The text.
        content: String,
    },
    /// A message from the world to the assistant.
    User {
        /// The text.
        content: String,
    },
    /// A reply of the model.
    Assistant {
        /// Its text; empty if it only called tools.
        content: String,
        /// The tools it called.
        tool_calls: Vec<ToolCall>,
    },
    /// The result of a tool call.
    Tool {
        /// The id of the call.
        call_id: CallId,
        /// The result as JSON text.
        content: String,
    },
}

/// A tool call of a model, unchecked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Links the result to the call.
    pub id: CallId,
    /// The name the model used; there may be no such tool.
    pub name: String,
    /// The arguments as the model wrote them; they need not be JSON.
    pub arguments: String,
}

/// A tool as a chat request offers it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolDefinition {
    /// Its name.
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
