//! A message whose answer takes long.

use dormouse_contracts::Seq;
use serde::{Deserialize, Serialize};

use super::turn::Call;

/// Why a sender is asked to wait.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum DelayCause {
    /// The model takes long.
    #[default]
    Slow,
    /// The model has answered nobody for a long time.
    Outage,
    /// The budgets do not allow a call of the model for now.
    Budget,
}

/// The answer to a message takes long, and its sender is asked to wait. Happens at most once for each message and cause.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Delayed {
    /// The sequence number of the message.
    pub trigger: Seq,
    /// Why.
    #[serde(default)]
    pub cause: DelayCause,
    /// The calls that ask the sender to wait; empty if no tool speaks in the way the message came.
    pub calls: Vec<Call>,
    /// How many tokens that takes.
    pub tokens: u32,
}
