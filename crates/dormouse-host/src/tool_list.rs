//! The tools of assistants, with where each comes from and which trust it needs.

use dormouse_contracts::{ToolCategory, ToolSpec, Trust};
use serde::Serialize;

/// A tool, with where it comes from and which trust it needs.
#[derive(Clone, Debug, Serialize)]
pub struct ListedTool {
    /// Where it comes from: `engine`, `world`, or the name of another source.
    pub source: String,
    /// The lowest trust that texts in the prompt may have for a call of this tool; absent if any trust is enough.
    pub trust: Option<Trust>,
    /// The tool.
    #[serde(flatten)]
    pub spec: ToolSpec,
}

impl ListedTool {
    /// A tool of this source, for assistants whose dangerous acts need this trust.
    #[must_use]
    pub fn new(source: impl Into<String>, spec: ToolSpec, dangerous_trust: Trust) -> Self {
        let is_dangerous = spec.category == ToolCategory::Dangerous;
        let floors = [spec.required_trust, is_dangerous.then_some(dangerous_trust)];
        let highest = |one: Trust, other| if other > one { other } else { one };
        Self {
            source: source.into(),
            trust: floors.into_iter().flatten().reduce(highest),
            spec,
        }
    }
}

/// The categories of tools in the order in which they are listed: their documented names, and what each means.
pub const TOOL_CATEGORIES: [(ToolCategory, &str, &str); 4] = [
    (
        ToolCategory::SafeChain,
        "SAFE_CHAIN",
        "another call may follow in the same tick",
    ),
    (
        ToolCategory::AsyncRequired,
        "ASYNC_REQUIRED",
        "waits for an outside result; another call may follow",
    ),
    (
        ToolCategory::Terminal,
        "TERMINAL",
        "ends the turn: the others answer now",
    ),
    (
        ToolCategory::Dangerous,
        "DANGEROUS",
        "at most one in a tick, which it ends; only if all shown text is trusted",
    ),
];
