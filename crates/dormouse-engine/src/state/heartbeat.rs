//! The heartbeat: the tick that began last, and how soon the next one may begin by itself.

use std::time::Duration;

use dormouse_contracts::Timestamp;
use serde::{Deserialize, Serialize};

use super::turns::Turns;
use crate::event::{Event, NOOP, TickEnded};

/// The tick under way, or the last one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Heartbeat {
    /// When it began.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began: Option<Timestamp>,
    /// The tool that it called last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub action: Option<String>,
    /// When the last turn began that nobody asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_itself: Option<Timestamp>,
}

impl Heartbeat {
    pub(super) fn is_none(&self) -> bool {
        *self == Self::default()
    }

    /// Notes that a turn begins that nobody asked for, because something was due.
    pub(super) fn begin_by_itself(&mut self, at: Timestamp) {
        self.by_itself = Some(at);
    }

    /// Until when due turns have to wait at `now`, if they have to.
    pub(super) fn next(&self, now: Timestamp, rate: Duration) -> Option<Timestamp> {
        let next = self.by_itself?.plus(rate);
        // If it is further away, the clock was set back.
        (next > now && next.since(now) <= rate).then_some(next)
    }

    /// Folds one event in. `turns` are those before the event.
    pub(super) fn apply(&mut self, at: Timestamp, event: &Event, turns: &Turns) {
        match event {
            Event::TickStarted(_) => {
                self.began = Some(at);
                self.action = None;
            }
            // A call without a category names a tool that does not exist, so it is not an action.
            Event::ToolAnswered(it) if it.category.is_some() && it.tool != NOOP => {
                self.action = Some(it.tool.clone());
            }
            Event::EffectSettled(it) => {
                let tool = turns.current().and_then(|turn| turn.effect_tool(&it.key));
                self.action = tool.map(ToOwned::to_owned).or(self.action.take());
            }
            _ => {}
        }
    }

    /// The end of the tick with its number, how long it lasted, and what it did.
    pub(super) fn account(&self, at: Timestamp, tick: u64, ended: &TickEnded) -> TickEnded {
        let lasted = |began| at.since(began).as_secs_f64() * 1_000.0;
        TickEnded {
            tick: Some(tick),
            duration_ms: self.began.map(lasted),
            action: self.action.clone(),
            ..TickEnded::new(ended.reason, ended.resume_at)
        }
    }
}
