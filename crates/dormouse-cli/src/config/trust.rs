//! `[trust]`: what moves the trust of messages and notes.

use serde::Deserialize;

/// `[trust]`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TrustSection {
    pub(crate) sender_history: bool,
}

impl Default for TrustSection {
    fn default() -> Self {
        Self {
            sender_history: true,
        }
    }
}
