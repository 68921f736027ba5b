//! Acts that a person has to confirm.

use dormouse_contracts::{Arguments, Audience, CallId, Seq, Timestamp, ToolName, Trust};
use serde::{Deserialize, Serialize};

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// The assistant wants to do something dangerous, and a person has to confirm it. The place of this event in the log is the
/// number of the approval.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ApprovalRequested {
    /// The SHA-256 of the tool and of its exact arguments, in hexadecimal.
    pub digest: String,
    /// Which call asked for it.
    pub call: CallId,
    /// Which tool of the world.
    pub tool: ToolName,
    /// Its arguments, checked.
    pub arguments: Arguments,
    /// Until when it may be confirmed, and done.
    pub expires_at: Timestamp,
    /// How far the call is believed: like the least trusted text that was shown when it was decided.
    pub trust: Trust,
    /// Who perceived what it was made from, other than the assistant; anybody, if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
}

/// Somebody confirmed or refused an act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ApprovalAnswered {
    /// The number of the approval.
    pub approval: Seq,
    /// What they answered.
    pub answer: ApprovalAnswer,
    /// Who.
    pub by: String,
    /// Why, if they said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// What somebody answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ApprovalAnswer {
    /// It may be done once, exactly as it was asked for.
    Allowed,
    /// It may not be done.
    Denied,
}
