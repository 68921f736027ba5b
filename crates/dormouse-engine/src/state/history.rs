//! Turns that are over.

use std::collections::{BTreeSet, VecDeque};

use dormouse_contracts::Seq;
use serde::{Deserialize, Serialize};

use super::{
    finished::FinishedTurn,
    turn::{Phase, Turn, TurnView},
    turns::Turns,
};
use crate::event::{Compacted, Event, StopReason};

/// How many finished turns a state keeps although prompts do not show them: they may be shown again. Turns that leave
/// the state stay in the log and in the memory, and can be recalled.
pub const HISTORY_KEPT: usize = 200;
/// How many finished turns a state keeps at most.
const MOST_KEPT: usize = 2_000;
/// How many tokens of finished turns a state keeps, so that long replies do not make it grow without bound.
const HISTORY_TOKENS_KEPT: u64 = 1_000_000;
/// How many of the messages that were given up a state remembers.
const GIVEN_UP_KEPT: usize = 100;

/// Turns that are over, oldest first.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct History {
    turns: VecDeque<FinishedTurn>,
    given_up: VecDeque<Seq>,
    /// Whether somebody reset the history during a turn. That turn may still depend on what its prompt showed, so the
    /// history is cleared later.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    is_to_be_cleared: bool,
}

impl History {
    /// Folds one event in: what a command removed from the memory is also removed from the results of finished turns.
    pub(super) fn apply(&mut self, event: &Event) {
        match event {
            Event::HistoryReset(_) => self.is_to_be_cleared = true,
            Event::MemoryChanged(changed) if changed.takes_something_out() => {
                self.change(|turn| {
                    turn.forget_records(|record| changed.takes_out(record));
                    if changed.may_take_away() {
                        turn.forget_profiles();
                    }
                });
            }
            Event::EntityChanged(changed) if !changed.is_by_call() && changed.takes_away() => {
                self.change(Turn::forget_profiles);
            }
            Event::Compacted(compacted) => self.compact(compacted),
            _ => {}
        }
    }

    fn change(&mut self, change: impl Fn(&mut Turn)) {
        self.turns.iter_mut().for_each(|turn| turn.change(&change));
    }

    fn compact(&mut self, compacted: &Compacted) {
        let dropped = compacted.dropped.iter().flat_map(|span| &span.turns);
        let dropped: BTreeSet<Seq> = dropped.copied().collect();
        let masked: BTreeSet<Seq> = compacted.masked.iter().copied().collect();
        for turn in &mut self.turns {
            let seq = turn.trigger_seq();
            if dropped.contains(&seq) {
                turn.change(|turn| turn.view = TurnView::Dropped);
            } else if masked.contains(&seq) && turn.view == TurnView::Whole {
                turn.change(|turn| turn.view = TurnView::Masked);
            }
        }
    }

    /// Drops the words of everything that was looked up.
    pub(super) fn forget_looked_up(&mut self) {
        self.change(Turn::forget_looked_up);
    }

    /// Drops the turns from before a reset, once no decision depends on them any more.
    pub(super) fn clear_after_reset(&mut self, turns: &Turns) {
        let may_follow = |turn: &Turn| turn.is_ticking() || turn.open_call().is_some();
        if self.is_to_be_cleared && !turns.current().is_some_and(may_follow) {
            self.turns.clear();
            self.is_to_be_cleared = false;
        }
    }

    /// Adds a closed turn.
    pub(super) fn take_in(&mut self, turn: Turn) {
        if turn.phase == Phase::Over(StopReason::GivenUp) {
            // The provider refused this message, so no later prompt shows it.
            push_bounded(&mut self.given_up, turn.trigger.seq(), GIVEN_UP_KEPT);
            return;
        }
        self.turns.push_back(turn.into());
        if self.turns.len() > HISTORY_KEPT {
            let is_dropped = |turn: &FinishedTurn| turn.view == TurnView::Dropped;
            match self.turns.iter().position(is_dropped) {
                Some(oldest) => drop(self.turns.remove(oldest)),
                None if self.turns.len() > MOST_KEPT => drop(self.turns.pop_front()),
                None => {}
            }
        }
        let sizes = self.turns.iter().map(|turn| u64::from(turn.tokens()));
        let mut tokens: u64 = sizes.sum();
        while tokens > HISTORY_TOKENS_KEPT
            && let Some(oldest) = self.turns.pop_front()
        {
            tokens = tokens.saturating_sub(u64::from(oldest.tokens()));
        }
    }

    /// The turns, oldest first.
    pub fn turns(&self) -> impl DoubleEndedIterator<Item = &FinishedTurn> + ExactSizeIterator {
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
