//! The emergency stop.

use serde::{Deserialize, Serialize};

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// Why the emergency stop was triggered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopCause {
    /// That many errors in a row that no single message, and no single person, caused.
    ConsecutiveErrors(u32),
    /// This tool failed in most of its last calls.
    FailureRate(String),
    /// The provider refused the credentials, or the account has no credit left. Mend that, then clear the stop.
    Credentials,
    /// Somebody stopped it: this is who.
    Operator(String),
}

/// The emergency stop was triggered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmergencyStopTriggered {
    /// Why.
    pub cause: StopCause,
}

/// The emergency stop was cleared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmergencyStopCleared {
    /// Who cleared it.
    pub cleared_by: String,
}
