//! Recent errors, for the emergency stop.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use dormouse_text::beginning;
use serde::{Deserialize, Serialize};

use super::{service::Blame, services::Services, step::Step, turn::Turn, turns::Turns};
use crate::event::{Event, NOOP, Verdict};

/// The failure rate of a tool is computed over this many of its last calls.
pub const RECENT_CALLS: usize = 20;
/// How many tools are watched; a model that invents names must not make the state grow.
const TOOLS_WATCHED: usize = 64;
/// At most this many recent failures of a tool count for the messages of one person.
const FAILURES_OF_ONE: usize = 4;

/// Errors in a row, and how the last calls of each tool ended.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ErrorRecord {
    /// How many errors occurred without a success between them. All failed calls and given-up messages of one person
    /// together count as one error here. In a turn that nobody asked for, each error counts.
    pub consecutive: u32,
    /// The people whose messages are among them.
    pub given_up: BTreeSet<String>,
    /// For each tool, how its last calls ended, oldest first: `None` for a success, and for a failure the person whose
    /// message it was called for.
    pub recent: BTreeMap<String, VecDeque<Option<String>>>,
}

impl ErrorRecord {
    /// Folds one event in. `turns` are those before the event.
    pub(super) fn apply(&mut self, event: &Event, turns: &Turns, services: &Services) {
        let Some(turn) = turns.current() else {
            if forgives(event) {
                *self = Self::default();
            }
            return;
        };
        match event {
            // A tool that does not exist has no failure rate to watch.
            Event::ToolAnswered(it) if it.category.is_some() && it.tool != NOOP => {
                self.ended(&it.tool, it.verdict, turn);
            }
            Event::EffectSettled(settled) => {
                let verdict = Verdict::from(&settled.outcome);
                if let Some(tool) = turn.effect_tool(&settled.key) {
                    self.ended(tool, verdict, turn);
                }
            }
            Event::Unanswered(it) if it.cause.is_error() => self.failed_for(turn.trigger.person()),
            Event::ModelFailed(failed) if services.blame(failed) == Blame::Configuration => {
                self.failed();
            }
            event if forgives(event) => *self = Self::default(),
            _ => {}
        }
    }

    /// Counts how a tool call ended, except for a call that speaks instead of an answer (an apology) or before one (a
    /// wait notice).
    fn ended(&mut self, tool: &str, verdict: Verdict, turn: &Turn) {
        match verdict {
            _ if turn.steps.last().is_some_and(Step::is_of_the_engine) => {}
            Verdict::Success => self.tool_succeeded(tool),
            Verdict::Failure => {
                let person = turn.trigger.person();
                self.failed_for(person);
                self.note(tool, Some(person.unwrap_or_default()));
            }
            Verdict::Skipped | Verdict::Deferred => {}
        }
    }

    /// Counts an error that no message caused.
    fn failed(&mut self) {
        self.consecutive = self.consecutive.saturating_add(1);
    }

    /// Counts a failed call, or a message that was given up, unless one of the same person is counted already.
    fn failed_for(&mut self, person: Option<&str>) {
        if person.is_none_or(|person| self.given_up.insert(person.to_owned())) {
            self.failed();
        }
    }

    fn tool_succeeded(&mut self, tool: &str) {
        self.consecutive = 0;
        self.given_up.clear();
        self.note(tool, None);
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

    /// How many of its last calls of each tool failed, and how many of them are known; only tools that failed.
    pub fn failures(&self) -> impl Iterator<Item = (&str, usize, usize)> {
        let rates = self.recent.iter().map(|(tool, calls)| {
            let failures = calls.iter().flatten().count();
            (tool.as_str(), failures, calls.len())
        });
        rates.filter(|(_, failures, _)| *failures > 0)
    }

    /// A tool that failed in at least 80 % of its last [`RECENT_CALLS`] calls, if any. So a loop of one success and
    /// four failures also ends, although it never has many errors in a row. At most four of these
    /// failures come from one person's messages.
    #[must_use]
    pub fn failing_tool(&self) -> Option<&str> {
        self.failures()
            .find(|(_, failures, calls)| *calls >= RECENT_CALLS && failures * 5 >= RECENT_CALLS * 4)
            .map(|(tool, ..)| tool)
    }
}

/// Whether errors before this event no longer count.
fn forgives(event: &Event) -> bool {
    matches!(
        event,
        Event::EmergencyStopCleared(_) | Event::HistoryReset(_)
    )
}
