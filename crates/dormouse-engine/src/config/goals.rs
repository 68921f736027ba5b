//! When goals call for turns, and how much of them is shown.

use dormouse_contracts::Trust;
use dormouse_memory::MIN_TRUST;
use serde::{Deserialize, Serialize};

/// When goals call for turns, and how much of them is shown. A log without it has no goals.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct GoalSettings {
    /// Whether goals that are due call for turns. Otherwise they are only kept and shown. Default: true.
    pub pursue: bool,
    /// The least trust of a goal that calls for turns. Default 0.5.
    pub pursue_trust: Trust,
    /// The most tokens of the goals in a prompt; 0 shows none. Default 400. In a small context window they take at most an
    /// eighth of what the turn leaves free.
    pub prompt_tokens: u32,
    /// After how many turns in a row without progress, or with errors, a goal is blocked. Default 3.
    pub attempts: u32,
    /// After how many turns a goal that does not recur is blocked, if it is not completed. Default 20.
    pub turns: u32,
    /// The least time between two turns for a goal that does not recur, in seconds. It doubles while they make no
    /// progress, up to a day. Default 600.
    pub retry_after_seconds: u32,
    /// After how many turns in a row without progress a goal without parts is divided, once, in a turn of its own; 0:
    /// never. Default 1.
    pub divide_after: u32,
}

impl GoalSettings {
    pub(super) fn is_usual(&self) -> bool {
        *self == Self::default()
    }
}

impl Default for GoalSettings {
    fn default() -> Self {
        Self {
            pursue: true,
            pursue_trust: MIN_TRUST,
            prompt_tokens: 400,
            attempts: 3,
            turns: 20,
            retry_after_seconds: 600,
            divide_after: 1,
        }
    }
}
