//! How tools are offered to a model.

use std::fmt;

use serde::{Deserialize, Serialize};

/// How tools are offered to a model, and how its calls are read.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum ToolCalling {
    /// The provider's native tool calling.
    #[default]
    Native,
    /// JSON in the text, for models without tool calling.
    Fallback,
}

impl ToolCalling {
    /// The name for users: `native` or `fallback`.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Native => "native",
            Self::Fallback => "fallback",
        }
    }
}

impl fmt::Display for ToolCalling {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}
