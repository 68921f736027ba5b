//! What the assistant works on: a project is begun, changed, or becomes the active one.

use std::{fmt, str::FromStr};

use dormouse_contracts::Author;
use serde::{Deserialize, Serialize};

use super::GoalNote;

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// The key of a project: `project-3`. The projects of an assistant are counted from 1, and no number is used twice. A key made of
/// words could still name somebody after these words were forgotten.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct ProjectId(pub u32);

impl fmt::Display for ProjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "project-{}", self.0)
    }
}

/// A text is not the key of a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected the key of a project, such as project-3")]
pub struct ProjectKeyError;

impl FromStr for ProjectId {
    type Err = ProjectKeyError;

    /// Reads `project-3`, or its number alone.
    fn from_str(text: &str) -> Result<Self, ProjectKeyError> {
        let number = text.strip_prefix("project-").unwrap_or(text);
        let number = number.parse().map_err(|_not_a_number| ProjectKeyError)?;
        Ok(Self(number))
    }
}

/// The status of a project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProjectStatus {
    /// It is worked on, and prompts show it. There is at most one.
    Active,
    /// Another one is worked on.
    #[default]
    Paused,
    /// It is over.
    Completed,
}

impl fmt::Display for ProjectStatus {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Active => "active",
            Self::Paused => "paused",
            Self::Completed => "completed",
        })
    }
}

/// A project was begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProjectCreated {
    /// Its key.
    pub id: ProjectId,
    /// What it is, in a sentence.
    pub summary: GoalNote,
    /// Its current state, and what one must know to continue it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<GoalNote>,
    /// Active if no other one is.
    pub status: ProjectStatus,
    /// Who began it.
    pub author: Author,
}

/// A project was changed. Absent fields stay as they were.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProjectUpdated {
    /// Its key.
    pub id: ProjectId,
    /// What it is, in a sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<GoalNote>,
    /// Its current state, which replaces the former text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<GoalNote>,
    /// Its new status; never active, because that has an event of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub status: Option<ProjectStatus>,
    /// Who changed it.
    pub author: Author,
}

/// Another project is the active one. The one before it is paused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProjectSwapped {
    /// The one that was active, if there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<ProjectId>,
    /// The one that is active from now on.
    pub to: ProjectId,
    /// The current state of the former one, which replaces the former text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub update: Option<GoalNote>,
    /// Why.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<GoalNote>,
    /// Who decided it.
    pub author: Author,
}
