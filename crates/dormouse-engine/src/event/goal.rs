//! What the assistant means to reach: a goal is set, changed, completed, or a turn for it is over.

use std::fmt;

use dormouse_contracts::{Audience, Author, EntityId, Sources, Timestamp, Trust};
use dormouse_text::one_line;
use serde::{Deserialize, Serialize};

use crate::{recurrence::Recurrence, secrets};

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// The number of a goal. The goals of an assistant are counted from 1, and no number is used twice.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct GoalId(pub u32);

impl fmt::Display for GoalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Words about a goal or a project, or kept for itself, by the same rules as a remembered note.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalNote {
    /// The words.
    pub text: String,
    /// How far they are believed.
    pub trust: Trust,
    /// Who perceived what they were made from, other than the assistant.
    pub audience: Audience,
    /// What they rest on.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub sources: Sources,
}

impl GoalNote {
    /// Words of an operator, without secrets. Everybody may know them.
    #[must_use]
    pub fn by_operator(text: &str) -> Self {
        Self {
            text: one_line(&secrets::prose(text)),
            trust: Trust::FULL,
            audience: Audience::Public,
            sources: Sources::default(),
        }
    }
}

/// When a goal calls for a turn by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalMoment {
    /// Never: it is only shown in prompts.
    #[default]
    Never,
    /// At this moment.
    At(Timestamp),
    /// Again and again.
    Repeating {
        /// The first time.
        first: Timestamp,
        /// When it recurs.
        every: Recurrence,
    },
}

/// The status of a goal.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalStatus {
    /// Something can be done about it.
    #[default]
    Open,
    /// Nothing can be done about it yet.
    Waiting(GoalWait),
    /// Nothing can be done about it until somebody opens it again.
    Blocked(GoalBlock),
    /// It is reached.
    Done,
    /// It is not wanted any more.
    Dropped,
}

/// What a goal waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalWait {
    /// A moment.
    Until(Timestamp),
    /// That this person is heard.
    Heard(EntityId),
}

/// Why a goal is blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum GoalBlock {
    /// Somebody said so; the note says why.
    Reported,
    /// This many turns in a row made no progress.
    NoProgress(u32),
    /// This many turns in a row were given up after errors.
    Failures(u32),
    /// It was not completed after this many turns.
    Endless(u32),
}

impl fmt::Display for GoalBlock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reported => f.write_str("blocked"),
            Self::NoProgress(turns) => {
                write!(f, "blocked: {turns} turns in a row brought it no further")
            }
            Self::Failures(turns) => {
                write!(f, "blocked: {turns} turns in a row ended with errors")
            }
            Self::Endless(turns) => write!(f, "blocked: not completed after {turns} turns"),
        }
    }
}

/// A goal was set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalCreated {
    /// Its number.
    pub id: GoalId,
    /// What is to be reached.
    pub description: GoalNote,
    /// How important it is, 1 to 10.
    pub priority: u8,
    /// The goal that it is a part of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<GoalId>,
    /// When it calls for a turn.
    #[serde(default)]
    pub moment: GoalMoment,
    /// Who set it.
    pub author: Author,
}

/// A goal was changed. What is absent stays as it was.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalUpdated {
    /// Its number.
    pub id: GoalId,
    /// Its new status; never done, because that has an event of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<GoalStatus>,
    /// How important it is, 1 to 10.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub priority: Option<u8>,
    /// The goal that it is a part of from now on; 0 for none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent_id: Option<GoalId>,
    /// When it calls for a turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moment: Option<GoalMoment>,
    /// How it stands, or why it is blocked or dropped.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<GoalNote>,
    /// Who changed it.
    pub author: Author,
}

/// A goal was reached.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct GoalCompleted {
    /// Its number.
    pub id: GoalId,
    /// The result. Absent if it is done because all its parts are done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outcome: Option<GoalNote>,
    /// Who says so.
    pub author: Author,
}

/// What a turn for a goal did for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Pursuit {
    /// The goal or a part of it was changed by a call.
    Progress,
    /// No call recorded any progress.
    Nothing,
    /// It was given up after errors.
    Failed,
}

/// A turn for a goal is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GoalPursued {
    /// Its number.
    pub id: GoalId,
    /// What the turn did for it.
    pub pursuit: Pursuit,
    /// When it calls for the next turn.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next_at: Option<Timestamp>,
    /// Why it calls for no further turn, if it made no progress too often.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<GoalBlock>,
}
