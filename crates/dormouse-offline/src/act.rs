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
        Self::call_with(tool, arguments.map(|(name, text)| (name, text.into())))
    }

    /// A call with arguments of any kind.
    pub(crate) fn call_with<const N: usize>(
        tool: &'static str,
        arguments: [(&str, Value); N],
    ) -> Self {
        let arguments = arguments.map(|(name, value)| (name.to_owned(), value));
        let arguments = arguments.into_iter().collect();
        Self::Call { tool, arguments }
    }
}
