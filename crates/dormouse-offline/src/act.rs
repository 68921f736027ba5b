//! The action of one step.

use dormouse_contracts::Arguments;
use serde_json::Value;

/// One step: a tool call, or text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    /// Call this tool.
    Call {
        /// The tool.
        tool: &'static str,
        /// The arguments.
        arguments: Arguments,
    },
    /// Reply with this text.
    Text(String),
}

impl Act {
    /// A call with text arguments.
    pub(crate) fn call<const N: usize>(tool: &'static str, arguments: [(&str, &str); N]) -> Self {
        let arguments = arguments
            .into_iter()
            .map(|(name, value)| (name.to_owned(), Value::from(value)))
            .collect();
        Self::Call { tool, arguments }
    }
}
