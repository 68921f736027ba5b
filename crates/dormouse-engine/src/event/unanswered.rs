//! A message that ends without an answer.

use dormouse_contracts::Seq;
use serde::{Deserialize, Serialize};

use super::{
    perception::Refusal,
    turn::{Call, StopReason},
};

/// Why a message gets no answer from the model, or only a part of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnansweredCause {
    /// The provider refused every prompt that contains the message.
    Refused,
    /// The model takes no prompt of this many tokens. No prompt with the message can be shorter.
    WindowTooSmall(u32),
    /// The message caused this many errors in a row. Other messages were answered meanwhile, or were not involved.
    Failures(u32),
    /// For this many seconds the model's server gave no reply to the message, and got no other request.
    NoReply(u32),
    /// It took this many ticks without coming to an end.
    EndlessTurn(u32),
    /// The model used up its steps without giving an answer. Words before a look-up do not count as an answer.
    NoMoreSteps,
    /// The model filled its context window without giving an answer.
    NoMoreRoom,
    /// No tool can answer in the way the assistant was spoken to.
    NoSpeech,
    /// The model chose to say nothing.
    Silence,
    /// The world does not know whether the answer, or the act in its place, happened. It is not repeated.
    Unknown,
    /// The world accepted only the beginning of the answer, and the model did not find other words for the rest.
    BrokenOff,
    /// Something was said, but the sender of the message did not hear it.
    NotHeard,
    /// The model made the same call with the same result again and again.
    RepeatedCall,
    /// It was not admitted, so the model was not asked.
    NotAdmitted(Refusal),
}

impl UnansweredCause {
    /// Why the tick ends.
    pub(crate) fn stop_reason(self) -> StopReason {
        match self {
            Self::Refused
            | Self::WindowTooSmall(_)
            | Self::Failures(_)
            | Self::NoReply(_)
            | Self::EndlessTurn(_) => StopReason::GivenUp,
            Self::NoMoreSteps => StopReason::MaxIterations,
            Self::RepeatedCall => StopReason::RepeatedCall,
            Self::NoMoreRoom => StopReason::CriticalTokens,
            Self::NoSpeech | Self::BrokenOff | Self::Silence | Self::NotAdmitted(_) => {
                StopReason::Noop
            }
            Self::Unknown | Self::NotHeard => StopReason::TerminalTool,
        }
    }

    /// Whether this end counts as an error. `NoReply` does not: a server that gives no replies never stops the
    /// assistant.
    pub(crate) fn is_error(self) -> bool {
        self.stop_reason() == StopReason::GivenUp && !matches!(self, Self::NoReply(_))
    }
}

/// A message ends without an answer. If its sender gets a notice instead, it is sent before the turn closes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unanswered {
    /// The sequence number of the message.
    pub trigger: Seq,
    /// The name of its sender.
    pub from: String,
    /// Why.
    pub cause: UnansweredCause,
    /// The calls that give the sender a notice; empty if there is no notice.
    pub calls: Vec<Call>,
    /// How many tokens that takes.
    pub tokens: u32,
}
