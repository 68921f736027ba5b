//! `[trust]`: what moves the trust of messages and notes.

use serde::{Deserialize, Deserializer, de::Error};

/// `[trust]`.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(crate) struct TrustSection {
    pub(crate) sender_history: bool,
    #[serde(deserialize_with = "accounts")]
    pub(crate) independent_accounts: u32,
}

impl Default for TrustSection {
    fn default() -> Self {
        Self {
            sender_history: true,
            independent_accounts: 0,
        }
    }
}

/// One account is no corroboration.
fn accounts<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let number = u32::deserialize(deserializer)?;
    match number {
        0 | 2..=100 => Ok(number),
        _ => Err(D::Error::custom("expected 0, or 2 to 100")),
    }
}
