//! A message that ends without an answer.

use dormouse_contracts::Seq;
use serde::{Deserialize, Serialize};

use super::{Call, StopReason};

/// Why a message gets no answer of the model's, or not all of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum UnansweredCause {
    /// The provider refused every prompt with it.
    Refused,
    /// It led to so many errors in a row, which were its own: others were answered meanwhile, or did not come into it.
    Failures(u32),
    /// The model's server gave no reply to it for so many seconds, and nothing else was asked meanwhile.
    NoReply(u32),
    /// It took so many ticks without coming to an end.
    EndlessTurn(u32),
    /// The model used up its steps without giving an answer. Words before a look-up do not count as an answer.
    NoMoreSteps,
    /// The model filled its context window without giving an answer.
    NoMoreRoom,
    /// No tool speaks the way the assistant was spoken to.
    NoSpeech,
    /// The world took only the beginning of the answer, and the model did not say the rest otherwise.
    BrokenOff,
}

impl UnansweredCause {
    /// Why the tick ends.
    pub(crate) fn stop_reason(self) -> StopReason {
        match self {
            Self::Refused | Self::Failures(_) | Self::NoReply(_) | Self::EndlessTurn(_) => {
                StopReason::GivenUp
            }
            Self::NoMoreSteps => StopReason::MaxIterations,
            Self::NoMoreRoom => StopReason::CriticalTokens,
            Self::NoSpeech | Self::BrokenOff => StopReason::Noop,
        }
    }

    /// Whether it was an error that the message ends so. A server that gives no replies never stops the assistant.
    pub(crate) fn is_error(self) -> bool {
        self.stop_reason() == StopReason::GivenUp && !matches!(self, Self::NoReply(_))
    }
}

/// A message ends without an answer. What is said to its sender instead, if anything, is done before the turn closes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Unanswered {
    /// The place in the log of the message.
    pub trigger: Seq,
    /// The name of its sender.
    pub from: String,
    /// Why.
    pub cause: UnansweredCause,
    /// What says so to the sender; empty where nothing is said.
    pub calls: Vec<Call>,
    /// How many tokens that takes.
    pub tokens: u32,
}
