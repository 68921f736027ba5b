//! What the offline model does in one step.

use dormouse_contracts::Arguments;
use serde_json::Value;

/// One step: a tool call, or text.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    /// Call this tool.
    Call {
        /// Which tool.
        tool: &'static str,
        /// With what.
        arguments: Arguments,
    },
    /// Say this as the text of the reply.
    Text(String),
}

impl Act {
    /// A call with these arguments, all of them texts.
    pub(crate) fn call<const N: usize>(tool: &'static str, arguments: [(&str, &str); N]) -> Self {
        let arguments = arguments
            .into_iter()
            .map(|(name, value)| (name.to_owned(), Value::from(value)))
            .collect();
        Self::Call { tool, arguments }
    }
}
