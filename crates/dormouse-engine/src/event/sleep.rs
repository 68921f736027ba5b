//! The assistant falls asleep, works in its sleep, and wakes.

use std::fmt;

use dormouse_contracts::{Author, CallId, ModelErrorKind, Origin, Seq, Timestamp};
use serde::{Deserialize, Serialize};

use super::{GoalNote, is_zero};
use crate::sleeping::SleepStep;

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// The assistant falls asleep. Until it wakes it has no turns.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FellAsleep {
    /// The number of the night, counted from 1. It stays the same if the night continues after a message interrupted
    /// it.
    pub night: u64,
    /// Who decided it: the assistant by a call, an operator, or its schedule, which is [`Author::Sleep`] with the night.
    pub author: Author,
    /// When it wakes, if nothing wakes it earlier.
    pub until: Timestamp,
    /// Why, if that was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<GoalNote>,
}

/// One piece of work of a night is done, or failed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct NightStepped {
    /// Which night it is.
    pub night: u64,
    /// What was worked on.
    pub step: SleepStep,
    /// Its result.
    pub outcome: StepOutcome,
    /// The last processed record, if records are processed in order.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub through: Option<Origin>,
}

/// The result of a piece of work in a night.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepOutcome {
    /// There is more of it to do.
    GoesOn,
    /// It is done.
    Done,
    /// It failed. It is tried again later, and skipped for this night after three failures.
    Failed(StepFailure),
    /// The budget of the night allows no more of it.
    OverBudget,
    /// Its changes were taken back, because afterwards the memory answered fewer probe questions than before.
    TakenBack(ProbeResult),
}

/// Why a piece of work failed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum StepFailure {
    /// The model failed.
    Model(ModelErrorKind),
    /// The memory or the log failed.
    Storage,
    /// A turn is open, and its prompts must not change.
    Busy,
    /// It has a defect and panicked.
    Panicked,
}

impl StepFailure {
    /// Whether the work may have been interrupted at any point.
    pub(crate) fn breaks_off(&self) -> bool {
        matches!(self, Self::Storage | Self::Panicked)
    }
}

impl fmt::Display for StepFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(kind) => write!(f, "the model failed: {kind}"),
            Self::Storage => f.write_str("the memory or the log failed"),
            Self::Busy => f.write_str("a message is being answered"),
            Self::Panicked => f.write_str("it has a defect and panicked"),
        }
    }
}

/// The memory was asked questions about its own records, before a piece of work or after it. If the piece was
/// interrupted in between, it continues, and is compared with the answers from before it began.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NightProbed {
    /// Which night it is.
    pub night: u64,
    /// What is worked on.
    pub step: SleepStep,
    /// What was answered.
    pub stage: ProbeStage,
}

/// When questions were asked, and what was answered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum ProbeStage {
    /// Before the piece.
    Before(Vec<ProbeAnswer>),
    /// After it. If too few are answered now, its changes are taken back.
    After {
        /// For each question, whether it was answered again.
        answered: Vec<bool>,
        /// The result of the piece, if it is not taken back.
        outcome: StepOutcome,
        /// The last processed record, if records are processed in order.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        through: Option<Origin>,
    },
}

/// A question about a record, and whether the memory answered it. The question can be rebuilt from the record, so no
/// words are stored here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeAnswer {
    /// The record.
    pub evidence: Origin,
    /// Which of its terms is left out, counted from 0.
    pub left_out: u32,
    /// Whether it was answered.
    pub answered: bool,
}

/// For how many questions about its own records the memory found the evidence, within 512 tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProbeResult {
    /// How many questions there were.
    pub asked: u32,
    /// For how many it found all evidence before.
    pub before: u32,
    /// For how many it did afterwards.
    pub after: u32,
    /// How many changes could not be taken back, because later changes depend on them.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub kept: u32,
}

/// The assistant wakes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WokeUp {
    /// Which night is over, or interrupted.
    pub night: u64,
    /// Why.
    pub cause: WakeCause,
    /// What the assistant says about it, if it woke by its own decision.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<GoalNote>,
}

impl WakeCause {
    /// Who decided it, if anybody did.
    pub(crate) fn author(&self) -> Option<Author> {
        match self {
            Self::Operator(who) => Some(Author::Operator(who.clone())),
            Self::Tool(call) => Some(Author::Tool(call.clone())),
            Self::Time | Self::Message(_) | Self::AllDone => None,
        }
    }
}

/// Why an assistant wakes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum WakeCause {
    /// Its time has come.
    Time,
    /// The message of this event calls for an answer.
    Message(Seq),
    /// Somebody woke it: this is who.
    Operator(String),
    /// It woke by itself, by this call.
    Tool(CallId),
    /// All work of the night is done, and it was to sleep until then.
    AllDone,
}
