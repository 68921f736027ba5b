//! The emergency stop, and the reset that also clears it.

use dormouse_contracts::{Arguments, EffectKey, Outcome, ToolName};
use serde::{Deserialize, Serialize};

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// Why the emergency stop was triggered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StopCause {
    /// This many errors in a row, not caused by a single message or a single person.
    ConsecutiveErrors(u32),
    /// This tool failed in most of its last calls.
    FailureRate(String),
    /// The provider refused the credentials, or the account has no credit left. Fix that, then clear the stop.
    Credentials,
    /// Somebody stopped it: this is who.
    Operator(String),
}

/// The emergency stop was triggered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmergencyStopTriggered {
    /// Why.
    pub cause: StopCause,
    /// The reason that the person gave.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// The emergency stop was cleared.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmergencyStopCleared {
    /// Who cleared it.
    pub cleared_by: String,
}

/// The assistant says in its world that it is stopped: an act, and the only one until somebody clears the stop.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopNoticeIntended {
    /// Its idempotency key.
    pub key: EffectKey,
    /// Which tool of the world says it.
    pub tool: ToolName,
    /// Its arguments.
    pub arguments: Arguments,
}

/// What became of the act that says that the assistant is stopped. It is not repeated, even if its outcome is unknown.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StopNoticeSettled {
    /// Which act.
    pub key: EffectKey,
    /// What became of it.
    pub outcome: Outcome,
}

/// Somebody reset the history: prompts show no turn from before it, and errors from before it do not count.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HistoryReset {
    /// Who.
    pub reset_by: String,
}
