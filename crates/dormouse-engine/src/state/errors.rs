//! What went wrong lately, for the emergency stop.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use dormouse_text::beginning;
use serde::{Deserialize, Serialize};

/// Over how many of a tool's last calls its failure rate is taken.
pub const RECENT_CALLS: usize = 20;
/// How many tools are watched; a model that invents names must not make the state grow.
const TOOLS_WATCHED: usize = 64;
/// How many of a tool's failures are noted for the messages of one person.
const FAILURES_OF_ONE: usize = 4;

/// Errors in a row, and how the last calls of each tool ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorRecord {
    /// How many errors have come without a success between them. The errors of a message count against the message; once
    /// it is given up they are one error here, and none if a message of the same person is one already.
    pub consecutive: u32,
    /// Whose messages are among them.
    pub given_up: BTreeSet<String>,
    /// For each tool, how its last calls ended, oldest first: nothing for a success, and for a failure whose message it
    /// was called for.
    pub recent: BTreeMap<String, VecDeque<Option<String>>>,
}

impl ErrorRecord {
    /// There was an error that no message is to blame for.
    pub(super) fn failed(&mut self) {
        self.consecutive = self.consecutive.saturating_add(1);
    }

    /// A message of this person was given up.
    pub(super) fn gave_up(&mut self, person: &str) {
        if self.given_up.insert(person.to_owned()) {
            self.failed();
        }
    }

    /// A tool failed in a call for a message of this person.
    pub(super) fn tool_failed(&mut self, tool: &str, person: &str) {
        self.note(tool, Some(person));
    }

    pub(super) fn tool_succeeded(&mut self, tool: &str) {
        self.consecutive = 0;
        self.given_up.clear();
        self.note(tool, None);
    }

    pub(super) fn clear(&mut self) {
        *self = Self::default();
    }

    fn note(&mut self, tool: &str, failed_for: Option<&str>) {
        if !self.recent.contains_key(tool) && self.recent.len() >= TOOLS_WATCHED {
            return;
        }
        let calls = self
            .recent
            .entry(beginning(tool, 64).to_owned())
            .or_default();
        let same = calls
            .iter()
            .filter(|call| call.is_some() && call.as_deref() == failed_for);
        if same.count() >= FAILURES_OF_ONE {
            return;
        }
        if calls.len() >= RECENT_CALLS {
            calls.pop_front();
        }
        calls.push_back(failed_for.map(ToOwned::to_owned));
    }

    /// A tool that failed in at least four of five of its last [`RECENT_CALLS`] calls, if there is one. So a loop
    /// of one success and four failures ends too, though it never has many errors in a row. One person's messages make
    /// up no more than four of these failures.
    #[must_use]
    pub fn failing_tool(&self) -> Option<&str> {
        self.recent
            .iter()
            .find(|(_, calls)| {
                let failures = calls.iter().flatten().count();
                calls.len() >= RECENT_CALLS && failures * 5 >= RECENT_CALLS * 4
            })
            .map(|(tool, _)| tool.as_str())
    }
}
