//! Counting tokens.

use serde::{Deserialize, Serialize};

/// How many tokens a text has, and whether the number is exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCount {
    /// The number of tokens.
    pub tokens: u32,
    /// Whether the model's own vocabulary was used; otherwise the number is an estimate.
    pub exact: bool,
}

/// Counts the tokens of a text for one model. Each message is counted once, and its count is stored with it.
pub trait TokenCounter: Send + Sync {
    /// Counts `text`. Takes time in proportion to its length and does no I/O.
    fn count(&self, text: &str) -> TokenCount;
}
