//! Circuit breakers for tools that gave no answers lately: such a tool is not called for a while.

use std::{collections::BTreeMap, time::Duration};

use dormouse_contracts::{Outcome, Timestamp};
use dormouse_resilience::{Circuit, CircuitOpen, CircuitState, Health};
use serde::{Deserialize, Serialize};

use super::turns::Turns;
use crate::{
    config::ToolBreaker,
    event::{Event, Verdict},
};

/// The circuit breaker of each tool that gave no answer lately. A query gave no answer if it timed out; an act, if its
/// outcome is unknown, as after a panic. A refusal is an answer, and so is the failure of a query that panics. Circuit
/// breakers are computed from the log, so a replay skips the same calls.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ToolCircuits(BTreeMap<String, ToolCircuit>);

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ToolCircuit {
    circuit: Circuit,
    /// When its tool was called last.
    last: Timestamp,
}

/// Circuit breakers count time from the epoch.
fn since_epoch(at: Timestamp) -> Duration {
    Duration::from_micros(u64::try_from(at.as_micros()).unwrap_or(0))
}

impl ToolCircuits {
    /// Whether a call of this tool may be made at `now`.
    pub(crate) fn admits(&self, tool: &str, now: Timestamp) -> Result<(), CircuitOpen> {
        match self.0.get(tool) {
            // If the clock was set back, the time since the failure is unknown.
            Some(known) if known.last <= now => known.circuit.peek(since_epoch(now)),
            _ => Ok(()),
        }
    }

    /// The tools whose circuit breakers are not closed at `now`, and how long no call is made.
    pub fn open(&self, now: Timestamp) -> impl Iterator<Item = (&str, Option<Duration>)> {
        let known = self.0.iter().filter(move |(_, known)| known.last <= now);
        known.filter_map(move |(tool, known)| {
            let state = known.circuit.state(since_epoch(now));
            let retry_in = known.circuit.peek(since_epoch(now)).err();
            let retry_in = retry_in.and_then(|open| open.retry_in);
            (state != CircuitState::Closed).then_some((tool.as_str(), retry_in))
        })
    }

    /// Whether every tool answers.
    #[must_use]
    pub fn is_none(&self) -> bool {
        self.0.is_empty()
    }

    /// Folds one event in. `turns` are those before the event.
    pub(super) fn apply(
        &mut self,
        at: Timestamp,
        event: &Event,
        turns: &Turns,
        breaker: &ToolBreaker,
    ) {
        match event {
            Event::ToolAnswered(it) if it.is_unanswered => {
                self.record(&it.tool, Health::Unhealthy, at, breaker);
            }
            Event::ToolAnswered(it) if it.cached.is_none() => match it.verdict {
                Verdict::Success | Verdict::Failure => {
                    self.record(&it.tool, Health::Healthy, at, breaker);
                }
                Verdict::Skipped | Verdict::Deferred => {}
            },
            Event::EffectSettled(it) => {
                let turn = turns.current();
                let health = match it.outcome {
                    Outcome::Unknown => Health::Unhealthy,
                    Outcome::Done(_) | Outcome::Rejected(_) => Health::Healthy,
                };
                if let Some(tool) = turn.and_then(|turn| turn.effect_tool(&it.key)) {
                    self.record(tool, health, at, breaker);
                }
            }
            // The tools or their breakers changed, or somebody fixed the problem.
            Event::Configured(_) | Event::EmergencyStopCleared(_) | Event::HistoryReset(_) => {
                self.0.clear();
            }
            _ => {}
        }
    }

    fn record(&mut self, tool: &str, health: Health, at: Timestamp, breaker: &ToolBreaker) {
        self.0.retain(|_, known| known.last <= at);
        let Ok(Some(policy)) = breaker.policy() else {
            return;
        };
        if health == Health::Healthy && !self.0.contains_key(tool) {
            return;
        }
        let now = since_epoch(at);
        let known = self
            .0
            .entry(tool.to_owned())
            .or_insert_with(|| ToolCircuit {
                circuit: Circuit::new(policy),
                last: at,
            });
        known.last = at;
        // An assistant makes one call at a time, so the call that ended is the one that was admitted.
        if let Ok(ticket) = known.circuit.admit(now) {
            known.circuit.record(ticket, health, now);
        }
        let is_closed = known.circuit.state(now) == CircuitState::Closed;
        if health == Health::Healthy && is_closed {
            self.0.remove(tool);
        }
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::ToolCategory;

    use super::*;
    use crate::event::ToolAnswered;

    const SECOND: i64 = 1_000_000;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_micros(seconds * SECOND)
    }

    fn answered(is_unanswered: bool) -> Event {
        Event::ToolAnswered(ToolAnswered {
            call: "call_1_0".parse().unwrap(),
            tool: "look".to_owned(),
            category: Some(ToolCategory::SafeChain),
            verdict: match is_unanswered {
                true => Verdict::Failure,
                false => Verdict::Success,
            },
            content: "{}".to_owned(),
            tokens: 1,
            trust: None,
            cached: None,
            is_unanswered,
        })
    }

    fn after(calls: &[(i64, bool)]) -> ToolCircuits {
        let mut circuits = ToolCircuits::default();
        let turns = Turns::default();
        for (seconds, is_unanswered) in calls {
            let event = answered(*is_unanswered);
            circuits.apply(at(*seconds), &event, &turns, &ToolBreaker::default());
        }
        circuits
    }

    #[test]
    fn a_tool_without_answers_is_left_alone_tried_again_and_used_again() {
        let failing: Vec<_> = (1..=5).map(|number| (100 * number, true)).collect();
        let four = after(&failing[..4]);
        assert!(four.admits("look", at(401)).is_ok());
        let five = after(&failing);
        let open = five.admits("look", at(501)).unwrap_err();
        assert_eq!(open.retry_in, Some(Duration::from_secs(29)));
        assert!(five.admits("say", at(501)).is_ok(), "each tool has its own");
        assert!(five.admits("look", at(530)).is_ok(), "one call tries it");
        let tried = [failing.as_slice(), &[(531, false), (532, false)]].concat();
        assert!(after(&tried).is_none(), "two answers close it");
        let again = [failing.as_slice(), &[(531, true)]].concat();
        assert!(after(&again).admits("look", at(560)).is_err(), "for longer");
    }

    #[test]
    fn a_clock_that_jumps_ten_years_leaves_no_tool_alone_for_as_long() {
        let years = 10 * 365 * 86_400;
        let failing: Vec<_> = (1..=5).map(|number| (years + number, true)).collect();
        let circuits = after(&failing);
        assert!(circuits.admits("look", at(years + 6)).is_err());
        assert!(circuits.admits("look", at(6)).is_ok(), "set back");
        assert!(circuits.admits("look", at(2 * years)).is_ok(), "and forth");
        let back = [failing.as_slice(), &[(7, true)]].concat();
        assert!(after(&back).admits("look", at(8)).is_ok());
    }
}
