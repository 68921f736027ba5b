//! What a tool's category does to the loop that called it.

use dormouse_contracts::ToolCategory;

/// What a call that was carried out does to the loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LoopEffect {
    /// The model may call another tool in the same tick.
    Continue,
    /// The loop ends: the other party has the word.
    EndTerminal,
    /// The loop ends: one such call in a tick is enough.
    EndDangerous,
}

/// Says what a call of a tool of this category does to the loop.
///
/// A tool that waits for something outside ([`ToolCategory::AsyncRequired`]) may be followed by another, once
/// it has been waited for. A category that this version does not know ends the loop like a dangerous one.
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
