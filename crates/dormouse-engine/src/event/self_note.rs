//! What the assistant keeps for itself: facts, patterns and guidelines are noted and dropped.

use std::fmt;

use dormouse_contracts::Author;
use serde::{Deserialize, Serialize};

use super::GoalNote;

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// The number of a note. The notes of an assistant are counted from 1, and no number is used twice.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct SelfNoteId(pub u32);

impl fmt::Display for SelfNoteId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The kind of a note.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SelfNoteKind {
    /// Session memory: something to know in every turn, such as what a person prefers.
    #[default]
    Fact,
    /// Session memory: something that recurs, such as how people behave.
    Pattern,
    /// How the assistant means to behave.
    Guideline,
}

impl fmt::Display for SelfNoteKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Fact => "fact",
            Self::Pattern => "pattern",
            Self::Guideline => "guideline",
        })
    }
}

/// The assistant keeps a note for itself; prompts show it from now on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfNoted {
    /// Its number.
    pub id: SelfNoteId,
    /// What it is.
    pub kind: SelfNoteKind,
    /// The words.
    pub note: GoalNote,
    /// Who noted it.
    pub author: Author,
}

/// A note is not kept any more.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfNoteDropped {
    /// Its number.
    pub id: SelfNoteId,
    /// Who dropped it.
    pub author: Author,
}
