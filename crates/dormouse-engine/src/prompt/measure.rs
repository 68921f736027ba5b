//! How much of the context window the whole history takes, whether or not all of it is shown.

use super::{
    Budgets, Preamble, Room, choose,
    earlier::{saved_by_masking, shows_masked, tokens},
};
use crate::{
    privacy::Shareable,
    state::{FinishedTurn, State, Turn, TurnView},
};

/// How many tokens the finished turns in prompts take of the context window, and how many everything else takes.
#[derive(Clone, Debug)]
pub(crate) struct HistoryMeasure<'a> {
    /// The size of the window: the configured one, or less if a smaller limit was learnt.
    pub(crate) window: u32,
    /// The tokens of everything except the turns: instructions, tools, the trigger, memories.
    pub(crate) fixed: u32,
    /// How many tokens of turns fit.
    pub(crate) room: u32,
    /// The turns, oldest first.
    pub(crate) turns: Vec<MeasuredTurn<'a>>,
}

/// A finished turn and what it takes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct MeasuredTurn<'a> {
    pub(crate) turn: &'a Turn,
    pub(crate) tokens: u32,
    /// How many tokens are saved if its results are not shown; 0 if they are already hidden.
    pub(crate) saved_by_masking: u32,
}

impl HistoryMeasure<'_> {
    /// How many tokens the turns take.
    pub(crate) fn of_turns(&self) -> u32 {
        let sizes = self.turns.iter().map(|turn| turn.tokens);
        sizes.fold(0, u32::saturating_add)
    }

    /// How many tokens a prompt takes that shows all of it.
    pub(crate) fn tokens(&self) -> u32 {
        self.fixed.saturating_add(self.of_turns())
    }
}

/// Measures the history that a prompt for `turn` may show. Before memories are looked up, the most tokens that they may
/// take are counted. Pure.
pub(crate) fn measure<'a>(
    state: &'a State,
    turn: &Turn,
    preamble: &Preamble,
) -> HistoryMeasure<'a> {
    let room = Room::of(state, preamble);
    let shareable = Shareable::of(state, turn);
    let reserved = match turn.recollected {
        Some(_) => 0,
        None => {
            let now = choose(state, &shareable, turn, preamble, room, u32::MAX).tokens;
            let settings = &state.configuration.settings;
            Budgets::within(room.before_the_turn(now), settings, preamble).shown(preamble)
        }
    };
    let choice = choose(state, &shareable, turn, preamble, room, reserved);
    let (shown, left) = choice.turns_tokens;
    let fixed = choice.tokens.saturating_sub(shown).saturating_add(reserved);
    HistoryMeasure {
        window: room.window(),
        fixed,
        room: left,
        turns: measured(state, shareable.turns, room, preamble),
    }
}

/// Measures all of the history, while nobody waits. Pure.
pub(crate) fn measure_all<'a>(state: &'a State, preamble: &Preamble) -> HistoryMeasure<'a> {
    let room = Room::of(state, preamble);
    let turns = state.history.turns();
    let turns = turns.filter(|turn| turn.view != TurnView::Dropped);
    HistoryMeasure {
        window: room.window(),
        fixed: preamble.tokens,
        room: room.before_the_turn(preamble.tokens),
        turns: measured(state, turns.collect(), room, preamble),
    }
}

fn measured<'a>(
    state: &State,
    turns: Vec<&'a FinishedTurn>,
    room: Room,
    preamble: &Preamble,
) -> Vec<MeasuredTurn<'a>> {
    let measured = turns.into_iter().map(|turn| MeasuredTurn {
        turn,
        tokens: tokens(state, turn, room.message(), preamble),
        saved_by_masking: match shows_masked(state, turn) {
            true => 0,
            false => saved_by_masking(turn, preamble),
        },
    });
    measured.collect()
}
