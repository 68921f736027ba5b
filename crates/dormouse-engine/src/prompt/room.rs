//! How the context window is divided.

use super::Preamble;
use crate::state::State;

/// Tokens kept free for the reply if the operator set no limit.
const REPLY: u32 = 1_000;
/// Earlier turns and overheard lines fill a prompt up to this share of the context window, in percent. One percent more, and the
/// loop of a turn ends.
const FILLED_UP_TO: u32 = 79;
/// The share that counts, in percent, when it is decided whether the model should finish its turn. A long history alone
/// is not a reason to finish.
const FILLED_FOR_ADVICE: u32 = 60;
/// The share of one message, in percent, of what instructions and reply leave free.
const MESSAGE: u32 = 25;
/// The share of the memory's answer, in percent, of what the current turn leaves free.
const REMEMBERED: u32 = 50;
/// The share of the goals, in percent, of what the current turn leaves free.
const GOALS: u32 = 12;
/// The share of what the assistant keeps for itself, in percent, of what the current turn leaves free.
const OWN: u32 = 12;
/// The share of overheard lines, in percent, of what the current turn leaves free.
const OVERHEARD: u32 = 10;
/// The share of summaries of earlier turns, in percent, of what is left for earlier turns.
const SUMMARIES: u32 = 25;
/// A message is always left this many tokens (but never more than without the limit), even if a prompt was too long for
/// the model.
const MESSAGE_LEFT: u32 = 256;
/// A learnt window counts as full at this share of it, in percent.
const LEARNT_FULL: u32 = 80;
/// The share of one overheard line, in percent, of the room for all of them.
const OVERHEARD_LINE: u32 = 25;

/// The context window of a prompt, divided among instructions (preamble), reply, messages and the rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    window: u32,
    preamble: u32,
    /// Tokens that stay free for the reply.
    reply: u32,
    /// The most tokens of a prompt, if a limit was learnt.
    longest: u32,
    /// The most tokens of a reply, if a limit was learnt.
    longest_reply: u32,
    /// Up to which share of the window, in percent, the parts before the current turn fill it.
    filled_up_to: u32,
}

impl Room {
    pub(super) fn of(state: &State, preamble: &Preamble) -> Self {
        let config = &state.configuration.settings;
        let window = config.limits.max_context_tokens();
        let left = window.saturating_sub(preamble.tokens);
        // At most half of what the instructions leave: a long reply must not push out the message that it answers.
        let reply = config.max_tokens.unwrap_or(REPLY).min(left / 2);
        let context_limit = state.context_limit(window);
        let reply_asked = context_limit.and_then(|context_limit| context_limit.reply);
        Self {
            window,
            preamble: preamble.tokens,
            reply,
            longest: context_limit.map_or(u32::MAX, |context_limit| context_limit.tokens),
            longest_reply: reply_asked.unwrap_or(u32::MAX),
            filled_up_to: FILLED_UP_TO,
        }
    }

    /// The window by which it is decided whether the model should finish its turn.
    pub(super) fn for_advice(self) -> Self {
        Self {
            filled_up_to: FILLED_FOR_ADVICE,
            ..self
        }
    }

    /// The same window with these limits on the length of prompts and replies.
    pub(super) fn up_to(self, prompt: u32, reply: u32) -> Self {
        Self {
            longest: self.longest.min(prompt),
            longest_reply: self.longest_reply.min(reply),
            ..self
        }
    }

    /// The most tokens of a prompt, if a limit was learnt.
    pub(super) fn longest(self) -> u32 {
        self.longest
    }

    /// The size of the window against which prompts are measured, in tokens.
    pub(super) fn window(self) -> u32 {
        // A prompt at the learnt limit counts as full: it takes `CRITICAL_PERCENT` of this window, at which the loop ends.
        let learnt = u64::from(self.longest) * 100 / u64::from(LEARNT_FULL);
        self.window.min(u32::try_from(learnt).unwrap_or(u32::MAX))
    }

    /// The most tokens one message takes.
    pub(super) fn message(self) -> u32 {
        // A learnt limit can leave little more than the instructions. Even then some words of the message are shown, so
        // that the model knows what to answer, but never more than without the limit.
        let within = share(self.whole().saturating_sub(self.preamble), MESSAGE);
        within.max(self.least_message())
    }

    /// The tokens that a message is always left.
    pub(super) fn least_message(self) -> u32 {
        let usual = self.window.saturating_sub(self.reply);
        let usual = share(usual.saturating_sub(self.preamble), MESSAGE);
        usual.min(MESSAGE_LEFT)
    }

    /// The most tokens of a prompt.
    pub(super) fn whole(self) -> u32 {
        self.window.saturating_sub(self.reply).min(self.longest)
    }

    /// The room for everything before the current turn, if the current turn and the preamble take `taken` tokens.
    pub(super) fn before_the_turn(self, taken: u32) -> u32 {
        // A share of the configured window, not of the learnt one: the learnt limit is the second bound.
        share(self.window, self.filled_up_to)
            .min(self.whole())
            .saturating_sub(taken)
    }

    /// The longest reply that can be requested after a prompt of `tokens` tokens.
    pub(super) fn reply_behind(self, tokens: u32) -> u32 {
        // Servers reject a request for zero tokens.
        let left = self.window.saturating_sub(tokens);
        left.min(self.longest_reply).max(1)
    }
}

/// The most tokens that the memory's answer takes of what is `left`.
pub(super) fn remembered(left: u32) -> u32 {
    share(left, REMEMBERED)
}

/// The most tokens that the goals take of what is `left`.
pub(super) fn goals(left: u32) -> u32 {
    share(left, GOALS)
}

/// The most tokens that what the assistant keeps for itself takes of what is `left`.
pub(super) fn own(left: u32) -> u32 {
    share(left, OWN)
}

/// The most tokens that summaries of earlier turns take of what is `left`.
pub(super) fn summaries(left: u32) -> u32 {
    share(left, SUMMARIES)
}

/// The most tokens that all overheard lines take of what is `left`, and the most of one line.
pub(super) fn overheard(left: u32) -> (u32, u32) {
    let all = share(left, OVERHEARD);
    (all, share(all, OVERHEARD_LINE))
}

fn share(tokens: u32, percent: u32) -> u32 {
    u32::try_from(u64::from(tokens) * u64::from(percent) / 100).unwrap_or(u32::MAX)
}
