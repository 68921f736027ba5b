//! The services that answer for the model.

use dormouse_contracts::{ModelErrorKind, ServiceName, Timestamp};
use serde::{Deserialize, Serialize};

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// The model could not be reached, or refused, after the retries of one call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ModelFailed {
    /// Why.
    pub kind: ModelErrorKind,
    /// How often it was tried.
    pub attempts: u32,
    /// How long it took, in milliseconds.
    pub duration_ms: f64,
    /// What the provider reported, or what else is known, for people; at most 500 bytes, and without its key.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The service that failed, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub service: Option<ServiceName>,
    /// The end of the pause that it asked for, if that is so long that this call did not wait for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paused_until: Option<Timestamp>,
    /// The limit of the next prompt, if this prompt was too long for the model and a shorter one is tried. Then the
    /// tick continues, and this does not count as an error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context_limit: Option<ContextLimit>,
}

/// How long a prompt may be, and how many reply tokens are reserved after it, learnt from a prompt that was too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextLimit {
    /// The most tokens of a prompt.
    pub tokens: u32,
    /// The most reply tokens to request; absent if the operator set no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reply: Option<u32>,
    /// The context window that was configured when this was learnt, in tokens. It does not apply to any other window.
    pub window: u32,
}

/// Somebody wants the model to be asked again now. All pauses end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetryRequested {
    /// Who.
    pub requested_by: String,
}
