//! Lines that were said near the assistant and not to it.

use std::collections::VecDeque;

use dormouse_classify::MessageVerdict;
use dormouse_contracts::{Seq, Timestamp};
use serde::{Deserialize, Serialize};

use super::heard::Heard;
use crate::event::Event;

/// How many overheard lines a state keeps.
pub const OVERHEARD_KEPT: usize = 50;

/// Lines overheard lately, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Overheard(VecDeque<Heard>);

impl Overheard {
    pub(super) fn apply(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        match event {
            Event::Perceived(it) if it.classification.verdict == MessageVerdict::Context => {
                if self.0.len() >= OVERHEARD_KEPT {
                    self.0.pop_front();
                }
                self.0.push_back(Heard::new(seq, at, it));
            }
            _ => {}
        }
    }

    /// The lines, oldest first.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = &Heard> + ExactSizeIterator {
        self.0.iter()
    }
}
