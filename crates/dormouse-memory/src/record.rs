//! One memory: what it says, when, from whom, how far it is believed and what became of it.

use std::{collections::BTreeSet, fmt, str::FromStr};

use dormouse_contracts::{EntityId, Timestamp, Trust};
use dormouse_text::beginning;
use serde::{Deserialize, Serialize};

/// The number of a record. Numbers grow with every record and are never used again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordId(pub u64);

impl fmt::Display for RecordId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "m{}", self.0)
    }
}

/// A text that is no record id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no record id: ids look like m42")]
pub struct RecordIdError(String);

impl FromStr for RecordId {
    type Err = RecordIdError;
    fn from_str(text: &str) -> Result<Self, RecordIdError> {
        let number = text.strip_prefix('m').unwrap_or(text);
        number
            .parse()
            .map(Self)
            .map_err(|_not_a_number| RecordIdError(beginning(text, 40).to_owned()))
    }
}

/// What a record is about.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordKind {
    /// Something that was said or happened, as it was.
    #[default]
    Event,
    /// Something that is so.
    Fact,
    /// What somebody likes or wants.
    Preference,
    /// What somebody asked the assistant to do from now on.
    Instruction,
    /// What the assistant concluded.
    Insight,
}

impl RecordKind {
    /// Every kind, in the order of its declaration.
    pub const ALL: [Self; 5] = [
        Self::Event,
        Self::Fact,
        Self::Preference,
        Self::Instruction,
        Self::Insight,
    ];

    /// The word for it in files and on the command line.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Fact => "fact",
            Self::Preference => "preference",
            Self::Instruction => "instruction",
            Self::Insight => "insight",
        }
    }
}

impl fmt::Display for RecordKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A word that names no kind of record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is no kind of record: event, fact, preference, instruction and insight are")]
pub struct RecordKindError(String);

impl FromStr for RecordKind {
    type Err = RecordKindError;
    fn from_str(text: &str) -> Result<Self, RecordKindError> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == text)
            .ok_or_else(|| RecordKindError(beginning(text, 40).to_owned()))
    }
}

/// Which of the documented collections a record belongs to (seed: RAG).
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Shelf {
    /// Semantic memory: the world and the people in it.
    #[default]
    Memories,
    /// Journal entries.
    Journal,
    /// Facts and patterns of the assistant's own work.
    SessionMemory,
    /// Projects.
    Projects,
}

impl Shelf {
    /// Every shelf.
    pub const ALL: [Self; 4] = [
        Self::Memories,
        Self::Journal,
        Self::SessionMemory,
        Self::Projects,
    ];

    /// The word for it, which is also part of a collection's name.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Memories => "memories",
            Self::Journal => "journal",
            Self::SessionMemory => "session_memory",
            Self::Projects => "projects",
        }
    }
}

/// Who said it or did it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Speaker {
    /// The name people know them by.
    pub name: String,
    /// The id their world knows them by, where one is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub entity: Option<EntityId>,
}

/// How a record came to be.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Derivation {
    /// It was heard or seen, and stored word for word.
    #[default]
    Heard,
    /// The assistant stored it by a tool, in words of its own.
    Stored,
    /// A model extracted it from other records.
    Extracted,
    /// A model made it of journal entries or other records while asleep.
    Consolidated,
    /// It was brought in from a file.
    Imported,
}

/// Where a record comes from: the chain back to the event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lineage {
    /// How it came to be.
    pub derivation: Derivation,
    /// The key of what it was made of outside this store (`log:42` is event 42 of the assistant's log). Adding a
    /// second record with the same origin changes nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub origin: Option<String>,
    /// The records it was made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived_from: Vec<RecordId>,
}

/// How two records hang together.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LinkKind {
    /// They are about the same thing.
    #[default]
    Related,
    /// The one explains or causes the other.
    Explains,
    /// They cannot both be so.
    Contradicts,
}

/// A link from one record to another. Links go both ways: each of the two records has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The other record.
    pub to: RecordId,
    /// How they hang together.
    pub kind: LinkKind,
    /// How strongly, in `0.0..=1.0`.
    pub weight: f32,
}

/// Whether a record is recalled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum Standing {
    /// It is.
    #[default]
    Live,
    /// It is not any more: another record took its place. It is still recalled for times at which it was so.
    Superseded {
        /// The record that took its place, if one did.
        by: Option<RecordId>,
    },
    /// It says what another record says, and is recalled as part of that one.
    Folded {
        /// The record that speaks for it.
        into: RecordId,
    },
    /// It was taken out, and can be put back.
    Withdrawn,
}

/// One memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its number.
    pub id: RecordId,
    /// What it says.
    pub text: String,
    /// What it is about.
    pub kind: RecordKind,
    /// Where it is kept.
    #[serde(default)]
    pub shelf: Shelf,
    /// When it was said or happened.
    pub at: Timestamp,
    /// When it was stored.
    pub recorded_at: Timestamp,
    /// Who said it or did it, where somebody did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<Speaker>,
    /// The conversation it belongs to (a room, a channel, a chat). Records of one conversation are neighbours in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// How far it is believed; never more than anything it was made of.
    pub trust: Trust,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
    /// Where it comes from.
    #[serde(default)]
    pub lineage: Lineage,
    /// Since when it is so.
    pub valid_from: Timestamp,
    /// Until when it was so; `None` while it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// Whether it is recalled.
    #[serde(default)]
    pub standing: Standing,
    /// What it hangs together with.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
}

impl Record {
    /// Whether what it says was so at `at`: from the moment it became so until the moment it ceased, that one excluded.
    #[must_use]
    pub fn was_so_at(&self, at: Timestamp) -> bool {
        self.valid_from <= at && self.valid_until.is_none_or(|until| at < until)
    }

    /// Whether it may be recalled at all: it is neither withdrawn nor folded into another.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        matches!(self.standing, Standing::Live | Standing::Superseded { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_id_reads_as_it_is_written() {
        assert_eq!("m42".parse(), Ok(RecordId(42)));
        assert_eq!("42".parse(), Ok(RecordId(42)));
        assert_eq!(RecordId(42).to_string(), "m42");
        assert_eq!(
            "mouse".parse::<RecordId>().unwrap_err().to_string(),
            "\"mouse\" is no record id: ids look like m42"
        );
    }

    #[test]
    fn every_kind_reads_as_it_is_written() {
        for kind in RecordKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
        assert!("rumour".parse::<RecordKind>().is_err());
    }
}
