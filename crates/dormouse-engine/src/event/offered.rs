//! Which tools are offered.

use dormouse_contracts::{Seq, ToolName};
use serde::{Deserialize, Serialize};

/// The definitions of all tools take more tokens than they may, so from now on prompts offer these, in addition to the tools
/// that speak and to the engine's own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolsOffered {
    /// What calls for the turn that needs them.
    pub trigger: Seq,
    /// Why they are chosen anew.
    pub cause: OfferCause,
    /// The tools, the most needed first. A prompt has them in the order of the configuration.
    pub tools: Vec<ToolName>,
    /// Those of them that were searched for or called by name in this turn, the latest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub found: Vec<ToolName>,
    /// How many other tools the turn may use, and is not shown.
    pub left_out: u32,
    /// How many tokens the definitions take, those that are always offered included.
    pub tokens: u32,
}

/// Why the offered tools are chosen anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum OfferCause {
    /// What the turn is about needs them.
    Turn,
    /// The model searched for tools.
    Search,
    /// The model called a tool that was not offered.
    Call,
}
