//! The turn that a prompt is for, within the room that there is.

use super::{
    CallState, Excerpt, MESSAGE, Preamble, briefing, divide, leaves_room, result, room::Room,
    turn_tokens, widened,
};
use crate::{
    decide::low_line,
    state::{State, Turn},
};

/// How the current turn is shown. Everything else of a prompt is shown only as far as it fits.
#[derive(Clone, Copy, Debug)]
pub(super) struct Current {
    /// How many tokens instructions, tools and the turn take.
    pub(super) tokens: u32,
    /// The most tokens of one message.
    pub(super) message_cap: u32,
    /// The most tokens of one result, where they do not fit whole.
    pub(super) result_cap: Option<u32>,
    /// How many tokens are not shown, because the turn would be longer than the room.
    pub(super) cut: u32,
}

impl Current {
    /// Shows the turn whole if it fits. Otherwise its results share what is left, then only the beginning of the message is
    /// shown, and then of no result more than that there is one. What the model said and called is always shown.
    pub(super) fn within(state: &State, turn: &Turn, preamble: &Preamble, room: Room) -> Self {
        let form = state.configuration.settings.tool_calling;
        let around = [
            preamble.tokens,
            MESSAGE,
            match turn.is_careful() {
                true => preamble.careful,
                false => 0,
            },
            briefing::tokens(state, turn, &*preamble.counter),
            noted_tokens(widened(turn), preamble),
            noted_tokens(divide(turn), preamble),
            noted_tokens(state.ledger.of_turn().and_then(low_line), preamble),
        ];
        let around = around.into_iter().fold(0, u32::saturating_add);
        let with =
            |message_cap| around.saturating_add(turn_tokens(turn, message_cap, form, preamble));
        let whole = with(room.message());
        let fits = |tokens: u32| tokens <= room.whole();
        let mut current = Self {
            tokens: whole,
            message_cap: room.message(),
            result_cap: None,
            cut: 0,
        };
        if fits(whole) {
            return current;
        }
        let results = Results::of(turn, preamble);
        for (message_cap, is_bare) in [
            (room.message(), false),
            (room.least_message(), false),
            (room.least_message(), true),
        ] {
            let rest = with(message_cap).saturating_sub(results.tokens);
            let left = match is_bare {
                true => 0,
                false => room.whole().saturating_sub(rest),
            };
            let (cap, tokens) = results.within(left, preamble);
            current = Self {
                tokens: rest.saturating_add(tokens),
                message_cap,
                result_cap: Some(cap),
                cut: 0,
            };
            if fits(current.tokens) {
                break;
            }
        }
        Self {
            cut: whole.saturating_sub(current.tokens),
            ..current
        }
    }
}

/// Whether a prompt for `turn` has room with these instructions and tools: they take at most half of it, and the turn fits behind
/// them. The turn counts only where it turned out that the model takes no longer prompts. Pure.
pub(crate) fn has_room(
    state: &State,
    turn: Option<&Turn>,
    preamble: &Preamble,
    longest: u32,
) -> bool {
    let room = Room::of(state, preamble).up_to(longest, u32::MAX);
    let window = room
        .longest()
        .min(state.configuration.settings.limits.max_context_tokens());
    let fits = |turn: &Turn| {
        let current = Current::within(state, turn, preamble, room);
        current.tokens <= room.whole()
    };
    leaves_room(window, preamble).is_ok() && (room.longest() == u32::MAX || turn.is_none_or(fits))
}

/// The results of a turn, which are counted again only if it overflows.
struct Results<'a> {
    shown: Vec<&'a CallState>,
    /// How many tokens they take whole.
    tokens: u32,
}

impl<'a> Results<'a> {
    fn of(turn: &'a Turn, preamble: &Preamble) -> Self {
        let calls = turn.shown_steps().flat_map(|step| &step.calls);
        let shown: Vec<_> = calls.filter(|call| !result(call).is_empty()).collect();
        let tokens = shown
            .iter()
            .map(|call| preamble.counter.count(result(call)).tokens);
        Self {
            tokens: tokens.fold(0, u32::saturating_add),
            shown,
        }
    }

    /// The most tokens of one, if they share `left` tokens, and how many all of them take then.
    fn within(&self, left: u32, preamble: &Preamble) -> (u32, u32) {
        let count = u32::try_from(self.shown.len()).unwrap_or(u32::MAX);
        let cap = left / count.max(1);
        let cut = self
            .shown
            .iter()
            .map(|call| Excerpt::of_result(result(call), cap, &*preamble.counter).tokens);
        (cap, cut.fold(0, u32::saturating_add))
    }
}

/// How many tokens a note of the program takes, if there is one.
fn noted_tokens(note: Option<String>, preamble: &Preamble) -> u32 {
    note.map_or(0, |note| {
        let tokens = preamble.counter.count(&note).tokens;
        tokens.saturating_add(MESSAGE)
    })
}
