//! How often a call of a tool is tried, and when a tool is not called for a while.

use std::{collections::BTreeMap, time::Duration};

use dormouse_resilience::{BreakerPolicy, BreakerPolicyError, RetryPolicy};
use serde::{Deserialize, Serialize};

/// The longest time for which a tool is not called, as a multiple of the first.
const LONGEST_COOLDOWNS: u32 = 10;

/// When a tool that does not answer is not called for a while. A log without it was decided without it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolBreaker {
    /// After how many calls without an answer, 1 to 1,000; 0 switches this off. Default 5.
    pub failures: u32,
    /// Within how many seconds, 1 to 86,400. Default 600: each call may take four attempts of 30 seconds.
    pub window_seconds: u32,
    /// For how many seconds it is not called the first time, 1 to 8,640. Doubled each further time, up to ten times the
    /// first. Default 30.
    pub cooldown_seconds: u32,
}

impl Default for ToolBreaker {
    fn default() -> Self {
        Self {
            failures: 5,
            window_seconds: 600,
            cooldown_seconds: 30,
        }
    }
}

impl ToolBreaker {
    pub(super) fn of_older_logs() -> Self {
        Self {
            failures: 0,
            ..Self::default()
        }
    }

    pub(super) fn is_of_older_logs(&self) -> bool {
        *self == Self::of_older_logs()
    }

    /// The rule of each tool's circuit; `None` if there is none.
    pub(crate) fn policy(&self) -> Result<Option<BreakerPolicy>, BreakerPolicyError> {
        if self.failures == 0 {
            return Ok(None);
        }
        let window = Duration::from_secs(self.window_seconds.into());
        let cooldown = Duration::from_secs(self.cooldown_seconds.into());
        let longest = cooldown.saturating_mul(LONGEST_COOLDOWNS);
        let policy = BreakerPolicy::service().try_with_trip(self.failures, window)?;
        policy.try_with_cooldown(cooldown, longest).map(Some)
    }
}

/// How often a call that may be repeated is tried, and how long the pauses between are. No decision reads it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolRetries {
    /// For tools without a policy of their own. Default: 4 attempts, 1 s × 2, at most 10 s.
    pub usual: RetryPolicy,
    /// For the tool of this name.
    pub each: BTreeMap<String, RetryPolicy>,
}

impl Default for ToolRetries {
    fn default() -> Self {
        Self {
            usual: RetryPolicy::tool_call(),
            each: BTreeMap::new(),
        }
    }
}

impl ToolRetries {
    /// How often a call of this tool is tried.
    pub(crate) fn of(&self, tool: &str) -> &RetryPolicy {
        self.each.get(tool).unwrap_or(&self.usual)
    }
}
