//! What to do if a prompt was too long for the model, whatever its configured window is.

use std::sync::Arc;

use super::{Current, Preamble, Prompt, Room, choose, reply_tokens};
use crate::{
    event::ContextLimit,
    privacy::Shareable,
    state::{State, Turn},
};

/// How often in a row a prompt is halved before only the message is left.
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

    /// The tokens of the prompt.
    pub(crate) fn prompt(self) -> u32 {
        self.prompt
    }

    fn whole(self) -> u32 {
        self.prompt.saturating_add(self.reply.unwrap_or(0))
    }
}

/// How long the next prompt for `turn` may be if one of this length was too long: half of it, and half of the reply; only the
/// latter, if the reply is longer than the prompt. Instructions, tools and conversation share that: `preamble_within` returns the instructions with the tools that a prompt of so many tokens
/// has room for. After some halvings, or if halving changes nothing, only the message and what was done about it are left, cut,
/// with the fewest tools.
///
/// `None` if nothing would be shorter than it was. So this ends, and no prompt is sent twice. Pure.
pub(crate) fn shrink(
    state: &State,
    turn: &Turn,
    preamble_within: impl Fn(u32) -> Arc<Preamble>,
    length: Length,
) -> Option<ContextLimit> {
    let config = &state.configuration.settings;
    let shareable = Shareable::of(state, turn);
    let reply = length.reply.map(|reply| reply.div_ceil(2));
    let room = |preamble: &Preamble, tokens: u32| {
        Room::of(state, preamble).up_to(tokens, reply.unwrap_or(u32::MAX))
    };
    let fewest = preamble_within(0);
    let least = Current::within(state, turn, &fewest, room(&fewest, 0)).tokens;
    let window = config.limits.max_context_tokens();
    let halved = match length.reply {
        // The reply is longer, so it is probably the reply that does not fit.
        Some(reply) if reply > length.prompt => window,
        _ => (length.prompt / 2).max(least),
    };
    let halved = (turn.narrowings < HALVINGS).then_some(halved);
    let mut limits = halved.into_iter().chain([least]);
    let tokens = limits.find(|tokens| {
        let preamble = preamble_within(*tokens);
        let room = room(&preamble, *tokens);
        let prompt = choose(state, &shareable, turn, &preamble, room, 0).tokens;
        let reply = reply_tokens(config, room, prompt);
        prompt <= length.prompt && Length { prompt, reply }.whole() < length.whole()
    })?;
    Some(ContextLimit {
        tokens,
        reply,
        window,
    })
}
