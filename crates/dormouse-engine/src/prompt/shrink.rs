//! What to do if a prompt was too long for the model, whatever its configured window is.

use super::{Preamble, Prompt, Room, choose, reply_tokens};
use crate::{
    event::ContextLimit,
    privacy::Shareable,
    state::{State, Turn},
};

/// How many times in a row the part after the preamble is halved before only the message is left.
const HALVINGS: u32 = 4;

/// How much of the context window a prompt takes, and the reply that is requested after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Length {
    prompt: u32,
    reply: Option<u32>,
}

impl Length {
    pub(crate) fn of(prompt: &Prompt) -> Self {
        Self {
            prompt: prompt.length,
            reply: prompt.request.max_tokens,
        }
    }

    fn whole(self) -> u32 {
        self.prompt.saturating_add(self.reply.unwrap_or(0))
    }
}

/// How long the next prompt for `turn` may be if one of this length was too long: half of the part after the preamble,
/// and half of the reply. After some halvings, or if halving changes nothing, only the message and what was done about
/// it are left, cut.
///
/// `None` if nothing would be shorter than it was. So this ends, and no prompt is sent twice. Pure.
pub(crate) fn shrink(
    state: &State,
    turn: &Turn,
    preamble: &Preamble,
    length: Length,
) -> Option<ContextLimit> {
    let room = Room::of(state, preamble);
    let config = &state.configuration.settings;
    let shareable = Shareable::of(state, turn);
    let half = length.prompt.saturating_sub(preamble.tokens) / 2;
    let half = preamble.tokens.saturating_add(half);
    let halved = (turn.narrowings < HALVINGS).then_some(half);
    let reply = length.reply.map(|reply| reply.div_ceil(2));
    let prompts = halved.into_iter().chain([preamble.tokens]);
    let mut rooms = prompts.map(|prompt| room.up_to(prompt, reply.unwrap_or(u32::MAX)));
    let room = rooms.find(|room| {
        let prompt = choose(state, &shareable, turn, preamble, *room, 0).tokens;
        let reply = reply_tokens(config, *room, prompt);
        prompt <= length.prompt && Length { prompt, reply }.whole() < length.whole()
    })?;
    Some(ContextLimit {
        tokens: room.longest(),
        reply,
        window: config.limits.max_context_tokens(),
    })
}
