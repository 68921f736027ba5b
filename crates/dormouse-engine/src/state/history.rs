//! Turns that are over.

use std::collections::VecDeque;

use dormouse_contracts::Seq;
use serde::{Deserialize, Serialize};

use super::turn::{Phase, Turn};
use crate::event::{Event, StopReason};

/// How many finished turns a state keeps; a prompt may show fewer.
pub const HISTORY_KEPT: usize = 200;
/// How many tokens of finished turns a state keeps, so that long replies do not make it grow without bound.
const HISTORY_TOKENS_KEPT: u64 = 1_000_000;
/// How many of the messages that were given up a state remembers.
const GIVEN_UP_KEPT: usize = 100;

/// Turns that are over, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    turns: VecDeque<Turn>,
    given_up: VecDeque<Seq>,
}

impl History {
    /// Folds one event in: what a command took out of the memory is in no result of a finished turn any more.
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::MemoryChanged(changed) => {
                self.turns.iter_mut().for_each(|turn| {
                    turn.forget_records(|record| changed.takes_out(record));
                    if changed.may_take_away() {
                        turn.forget_profiles();
                    }
                });
            }
            Event::EntityChanged(changed) if !changed.is_by_call() && changed.takes_away() => {
                self.turns.iter_mut().for_each(Turn::forget_profiles);
            }
            _ => {}
        }
    }

    /// No words are kept of what was looked up.
    pub(super) fn forget_looked_up(&mut self) {
        self.turns.iter_mut().for_each(Turn::forget_looked_up);
    }

    /// Takes in a turn that was closed.
    pub(super) fn take_in(&mut self, turn: Turn) {
        if turn.phase == Phase::Over(StopReason::GivenUp) {
            // The provider refused this message, so no later prompt shows it.
            push_bounded(&mut self.given_up, turn.trigger.seq(), GIVEN_UP_KEPT);
            return;
        }
        push_bounded(&mut self.turns, turn, HISTORY_KEPT);
        let sizes = self.turns.iter().map(|turn| u64::from(turn.tokens()));
        let mut tokens: u64 = sizes.sum();
        while tokens > HISTORY_TOKENS_KEPT
            && let Some(oldest) = self.turns.pop_front()
        {
            tokens = tokens.saturating_sub(u64::from(oldest.tokens()));
        }
    }

    /// The turns, oldest first.
    pub fn turns(&self) -> impl DoubleEndedIterator<Item = &Turn> + ExactSizeIterator {
        self.turns.iter()
    }

    /// The sequence numbers of the last messages that were given up, because every prompt with them failed. No later
    /// prompt shows them.
    pub fn given_up(&self) -> impl ExactSizeIterator<Item = Seq> {
        self.given_up.iter().copied()
    }
}

fn push_bounded<T>(queue: &mut VecDeque<T>, item: T, limit: usize) {
    if queue.len() >= limit {
        queue.pop_front();
    }
    queue.push_back(item);
}
