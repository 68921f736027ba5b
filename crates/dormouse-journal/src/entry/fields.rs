//! The number, the source and the importance of an entry.

use std::{fmt, str::FromStr};

use dormouse_contracts::{SourceKind, Trust};
use serde::{Deserialize, Serialize};

/// The number of an entry. The entries of a journal are counted from 1, and no number is used twice.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct EntryId(pub u64);

impl fmt::Display for EntryId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// How the assistant came to know something.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
pub enum SourceType {
    /// An entity said it to the assistant.
    Direct,
    /// The assistant witnessed it.
    Observation,
    /// The assistant deduced it.
    #[default]
    Inference,
    /// The assistant overheard it.
    Environmental,
}

/// A text that is not the name of a source type.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "source_type is {0:?}; expected \"direct\", \"observation\", \"inference\" or \"environmental\""
)]
pub struct SourceTypeError(String);

impl SourceType {
    /// All source types, most trusted first.
    pub const ALL: [Self; 4] = [
        Self::Direct,
        Self::Observation,
        Self::Inference,
        Self::Environmental,
    ];

    /// The documented name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Direct => "direct",
            Self::Observation => "observation",
            Self::Inference => "inference",
            Self::Environmental => "environmental",
        }
    }

    /// How far something from such a source is believed by default: direct 0.9, observation 0.8, inference 0.6,
    /// environmental 0.3.
    #[must_use]
    pub fn trust(self) -> Trust {
        let score = match self {
            Self::Direct => 0.9,
            Self::Observation => 0.8,
            Self::Inference => 0.6,
            Self::Environmental => 0.3,
        };
        Trust::try_new(score).unwrap_or(Trust::NONE)
    }

    /// The default for an entry that is written in answer to a message. A message to the assistant is direct, an act or
    /// an output is an observation, and talk that the server directed at nobody is environmental. Without a message it
    /// is an inference.
    #[must_use]
    pub fn of_trigger(heard_as: Option<&SourceKind>) -> Self {
        match heard_as {
            None => Self::Inference,
            Some(SourceKind::Whisper | SourceKind::Page | SourceKind::Addressed) => Self::Direct,
            Some(
                SourceKind::Pose
                | SourceKind::Movement
                | SourceKind::Emit
                | SourceKind::CommandOutput,
            ) => Self::Observation,
            // Kinds that a later version adds get the lowest trust, which is the safe choice.
            Some(_) => Self::Environmental,
        }
    }
}

impl fmt::Display for SourceType {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

impl FromStr for SourceType {
    type Err = SourceTypeError;

    fn from_str(text: &str) -> Result<Self, SourceTypeError> {
        let mut all = Self::ALL.into_iter();
        all.find(|known| known.as_str() == text)
            .ok_or_else(|| SourceTypeError(text.chars().take(40).collect()))
    }
}

/// How important something is: 1 (routine) to 10 (a major revelation).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "u8")]
pub struct Importance(u8);

/// A number that is not a valid importance.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("importance is {0}; expected a whole number from 1 to 10")]
pub struct ImportanceError(f64);

impl Importance {
    /// Routine.
    pub const LEAST: Self = Self(1);
    /// The importance of the conclusions of a reflection.
    pub const OF_SYNTHESIS: Self = Self(8);

    /// Converts a number to an importance.
    ///
    /// # Errors
    ///
    /// [`ImportanceError`] if it is not a whole number from 1 to 10.
    pub fn try_new(number: f64) -> Result<Self, ImportanceError> {
        let mut all = (1..=10).map(Self);
        all.find(|known| f64::from(known.0).total_cmp(&number).is_eq())
            .ok_or(ImportanceError(number))
    }

    /// The importance that is nearest to a number of points.
    #[must_use]
    pub(crate) fn clamped(points: i64) -> Self {
        Self(u8::try_from(points.clamp(1, 10)).unwrap_or(1))
    }

    /// The number, 1 to 10.
    #[must_use]
    pub const fn get(self) -> u8 {
        self.0
    }

    /// The number divided by 10, for use in a score.
    #[must_use]
    pub fn share(self) -> f64 {
        f64::from(self.0) / 10.0
    }
}

impl TryFrom<f64> for Importance {
    type Error = ImportanceError;
    fn try_from(number: f64) -> Result<Self, ImportanceError> {
        Self::try_new(number)
    }
}

impl From<Importance> for u8 {
    fn from(importance: Importance) -> u8 {
        importance.0
    }
}

impl fmt::Display for Importance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Who scored the importance of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportanceMethod {
    /// The formula, at once.
    Heuristic,
    /// A model, later.
    Llm,
    /// A person or a program gave it. A model never overwrites it.
    Manual,
}
