//! Lines that were said near the assistant and not to it, and output that came too late for the result of its act.

use std::collections::VecDeque;

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{Seq, Timestamp};
use serde::{Deserialize, Serialize};

use super::{heard::Heard, turn::Turn, turns::Turns};
use crate::event::Event;

/// How many overheard lines a state keeps.
pub const OVERHEARD_KEPT: usize = 50;

/// Lines overheard lately, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Overheard(VecDeque<Heard>);

impl Overheard {
    /// `turns` are as they were before the event.
    pub(super) fn apply(&mut self, seq: Seq, at: Timestamp, event: &Event, turns: &Turns) {
        let Event::Perceived(perceived) = event else {
            return;
        };
        let is_kept = match perceived.classification.verdict {
            MessageVerdict::Context => true,
            // A world that broke its promise delivered it after the mark. Nothing that it printed is lost.
            MessageVerdict::Capture => {
                let open = turns.current().and_then(Turn::open_effect);
                let cause = perceived.perception.attested.cause.as_ref();
                open.map(|effect| &effect.key) != cause
            }
            MessageVerdict::Trigger | MessageVerdict::Ignore => false,
        };
        if is_kept {
            if self.0.len() >= OVERHEARD_KEPT {
                self.0.pop_front();
            }
            self.0.push_back(Heard::new(seq, at, perceived));
        }
    }

    /// The lines, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Heard> + ExactSizeIterator {
        self.0.iter()
    }
}
