//! How a tool's category affects the loop that called the tool.

use dormouse_contracts::ToolCategory;

/// How an executed call affects the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopEffect {
    /// The model may call another tool in the same tick.
    Continue,
    /// The loop ends, because the other party acts next.
    EndTerminal,
    /// The loop ends, because a tick may contain only one call of this category.
    EndDangerous,
}

/// Returns how a call of a tool of this category affects the loop.
///
/// After a tool that waits for an outside result ([`ToolCategory::AsyncRequired`]), the model may call another one. An
/// unknown category ends the loop, like a dangerous one.
///
/// ```
/// use dormouse_contracts::ToolCategory;
/// use dormouse_tools::{LoopEffect, after};
///
/// assert_eq!(after(ToolCategory::SafeChain), LoopEffect::Continue);
/// assert_eq!(after(ToolCategory::Terminal), LoopEffect::EndTerminal);
/// ```
#[must_use]
pub fn after(category: ToolCategory) -> LoopEffect {
    match category {
        ToolCategory::SafeChain | ToolCategory::AsyncRequired => LoopEffect::Continue,
        ToolCategory::Terminal => LoopEffect::EndTerminal,
        ToolCategory::Dangerous => LoopEffect::EndDangerous,
        _ => LoopEffect::EndDangerous,
    }
}
