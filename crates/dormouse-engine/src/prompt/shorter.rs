//! What to do where a prompt was too long for the model, whatever its window was said to be.

use super::{Preamble, Room, choose};
use crate::{
    config::AssistantConfig,
    event::Narrowed,
    state::{State, Turn},
};

/// How often in a row what stands behind the preamble is halved before nothing but the message is left.
const HALVINGS: u32 = 4;

/// How long the next prompt for `turn` may be if one of `tokens` tokens was too long: half of what stood behind the preamble,
/// and after some halvings, or where that would change nothing, only the message and what was done about it, cut.
///
/// `None` if no prompt would be shorter than that one. So there is an end, and nothing is asked twice. Pure.
pub(crate) fn shorter(
    state: &State,
    turn: &Turn,
    config: &AssistantConfig,
    preamble: &Preamble,
    tokens: u32,
) -> Option<Narrowed> {
    let window = config.limits.max_context_tokens();
    let room = Room::of(state, config, preamble);
    let half = tokens.saturating_sub(preamble.tokens) / 2;
    let half = preamble.tokens.saturating_add(half);
    let halved = (turn.narrowings < HALVINGS).then_some(half);
    let lengths = halved.into_iter().chain([preamble.tokens]);
    let mut rooms = lengths.map(|longest| room.with_prompts_up_to(longest));
    let room =
        rooms.find(|room| choose(state, turn, config, preamble, *room, 0).tokens < tokens)?;
    Some(Narrowed {
        tokens: room.longest(),
        window,
    })
}
