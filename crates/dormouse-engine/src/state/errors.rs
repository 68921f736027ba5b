//! What went wrong lately, for the emergency stop.

use std::collections::{BTreeMap, VecDeque};

use serde::{Deserialize, Serialize};

/// Over how many of a tool's last calls its failure rate is taken.
pub const RECENT_CALLS: usize = 20;
/// How many tools are watched; a model that invents names must not make the state grow.
const TOOLS_WATCHED: usize = 64;

/// Errors in a row, and how the last calls of each tool ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorRecord {
    /// How many errors have come without a success between them.
    pub consecutive: u32,
    /// For each tool, how its last calls ended, oldest first: true for success.
    pub recent: BTreeMap<String, VecDeque<bool>>,
}

impl ErrorRecord {
    /// A model call failed, or its reply could not be read.
    pub(super) fn failed(&mut self) {
        self.consecutive = self.consecutive.saturating_add(1);
    }

    pub(super) fn tool_failed(&mut self, tool: &str) {
        self.failed();
        self.note(tool, false);
    }

    pub(super) fn tool_succeeded(&mut self, tool: &str) {
        self.consecutive = 0;
        self.note(tool, true);
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn note(&mut self, tool: &str, success: bool) {
        if !self.recent.contains_key(tool) && self.recent.len() >= TOOLS_WATCHED {
            return;
        }
        let calls = self
            .recent
            .entry(tool.chars().take(64).collect())
            .or_default();
        if calls.len() >= RECENT_CALLS {
            calls.pop_front();
        }
        calls.push_back(success);
    }

    /// A tool that failed in at least four of five of its last [`RECENT_CALLS`] calls, if there is one. So a loop
    /// of one success and four failures ends too, though it never has many errors in a row.
    #[must_use]
    pub fn failing_tool(&self) -> Option<&str> {
        self.recent
            .iter()
            .find(|(_, calls)| {
                let failures = calls.iter().filter(|success| !**success).count();
                calls.len() >= RECENT_CALLS && failures * 5 >= RECENT_CALLS * 4
            })
            .map(|(tool, _)| tool.as_str())
    }
}
