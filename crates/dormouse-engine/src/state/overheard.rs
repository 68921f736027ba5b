//! Lines that were said near the assistant but not to it, and output that came too late for the result of an act.

use std::collections::VecDeque;

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{Seq, Timestamp};
use serde::{Deserialize, Serialize};

use super::{heard::Heard, step::StepKind, turn::Turn, turns::Turns};
use crate::event::{DelayCause, Event};

/// How many overheard lines a state keeps.
pub const OVERHEARD_KEPT: usize = 50;

/// Lines overheard lately, oldest first.
///
/// Lines that a prompt showed stay until all decisions about the reply are made, no matter how much is overheard
/// meanwhile. So each decision reads what the model read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Overheard {
    /// The lines that the prompts of the turn under way show.
    shown: VecDeque<Heard>,
    /// Lines overheard since then, for the next prompt.
    since: VecDeque<Heard>,
}

impl Overheard {
    /// `turns` are as they were before the event.
    pub(super) fn apply(&mut self, seq: Seq, at: Timestamp, event: &Event, turns: &Turns) {
        let Event::Perceived(perceived) = event else {
            return;
        };
        if perceived.perception.words.is_forgotten() {
            return;
        }
        let is_kept = match perceived.classification.verdict {
            MessageVerdict::Context => true,
            // The world delivered output after the end mark, against the protocol. The output is kept as overheard.
            MessageVerdict::Capture => {
                let open = turns.current().and_then(Turn::open_effect);
                let cause = perceived.perception.attested.cause.as_ref();
                open.map(|effect| &effect.key) != cause
            }
            MessageVerdict::Trigger | MessageVerdict::Ignore => false,
        };
        if is_kept {
            push(&mut self.since, Heard::new(seq, at, perceived));
        }
    }

    /// Moves new lines into what the next prompt shows, if a prompt can follow this event. `turns` are
    /// as they are after it.
    pub(super) fn refresh(&mut self, event: &Event, turns: &Turns) {
        let turn = turns.current();
        if turn.is_some_and(|turn| turn.open_call().is_some()) {
            return;
        }
        let is_asking = match event {
            Event::TickStarted(_) => false,
            // The model call is still under way while the engine asks the sender to wait.
            Event::Recollected(_) | Event::ToolAnswered(_) | Event::EffectSettled(_) => {
                let last = turn.and_then(|turn| turn.steps.last());
                last.is_some_and(|step| step.kind == StepKind::Notice(DelayCause::Slow))
            }
            _ => return,
        };
        if !is_asking {
            for line in self.since.drain(..) {
                push(&mut self.shown, line);
            }
        }
    }

    /// What the prompts of the turn under way show, oldest first.
    pub(crate) fn shown(&self) -> impl DoubleEndedIterator<Item = &Heard> + ExactSizeIterator {
        self.shown.iter()
    }

    /// The newest lines, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = &Heard> {
        let all = self.shown.len() + self.since.len();
        let lines = self.shown.iter().chain(&self.since);
        lines.skip(all.saturating_sub(OVERHEARD_KEPT))
    }
}

fn push(lines: &mut VecDeque<Heard>, line: Heard) {
    if lines.len() >= OVERHEARD_KEPT {
        lines.pop_front();
    }
    lines.push_back(line);
}
