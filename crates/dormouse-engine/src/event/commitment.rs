//! How a commitment ended: something that the assistant meant to do for somebody.

use dormouse_contracts::{EntityId, Seq, Timestamp};
use serde::{Deserialize, Serialize};

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// A pending action for a moment, or for something that may happen, is over. The assistant decides this by itself. If a
/// call completes the action, or a command takes it back, the event of the call or command says so instead.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CommitmentEnded {
    /// The event that noted it.
    pub commitment: Seq,
    /// For whom it was.
    pub entity: EntityId,
    /// When it was noted.
    pub noted_at: Timestamp,
    /// How it ended.
    pub outcome: CommitmentOutcome,
}

/// How a commitment ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum CommitmentOutcome {
    /// It was done, or an act of its turn may have been done.
    Kept,
    /// It was not done.
    Broken(BrokenCause),
}

/// Why a commitment was not kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum BrokenCause {
    /// What it waited for did not happen in time.
    Expired,
    /// Its turn came, and nothing was done.
    GivenUp,
    /// Somebody took it back.
    Withdrawn,
}
