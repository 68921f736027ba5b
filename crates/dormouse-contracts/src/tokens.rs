//! Counting tokens.

use serde::{Deserialize, Serialize};

/// How many tokens a text takes, and whether that is known or guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenCount {
    /// The number of tokens.
    pub tokens: u32,
    /// True where the model's own vocabulary was used, false for an estimate.
    pub exact: bool,
}

/// Counts the tokens of a text for one model. A message is counted once in its life; the count is kept with it.
pub trait TokenCounter: Send + Sync {
    /// Counts `text`. Takes time in proportion to its length and does no I/O.
    fn count(&self, text: &str) -> TokenCount;
}
