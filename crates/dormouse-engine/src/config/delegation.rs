//! How far tasks may go that are given to other assistants.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// How far tasks may go that are given to other assistants. Whether they may be given at all, to whom, and how many at the same
/// time, is in [`ExecutionConfig`](crate::ExecutionConfig).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct DelegationSettings {
    /// For how many seconds a result is waited for. Default 600.
    pub timeout_seconds: u32,
    /// How often a task may be passed on. Default 2: a delegate may give a part of its task away, but the second
    /// delegate may not.
    pub depth: u32,
    /// How many tasks may follow from one message or occasion, including those that delegates give. Default 10.
    pub tasks: u32,
    /// The most tokens that one task may take, including all that follow from it. It counts the prompts and replies of
    /// each answered call. In a turn for a task there are no other model calls, such as assessments. Default 100,000.
    /// If the assistant has a budget, a
    /// task gets at most half of what is left.
    pub tokens: u32,
}

impl DelegationSettings {
    pub(super) fn are_usual(&self) -> bool {
        *self == Self::default()
    }

    /// For how long a result is waited for.
    #[must_use]
    pub fn timeout(&self) -> Duration {
        Duration::from_secs(self.timeout_seconds.into())
    }
}

impl Default for DelegationSettings {
    fn default() -> Self {
        Self {
            timeout_seconds: 600,
            depth: 2,
            tasks: 10,
            tokens: 100_000,
        }
    }
}
