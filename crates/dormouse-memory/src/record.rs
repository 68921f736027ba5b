//! One memory: its text, time, speaker, trust, provenance and status.

use std::{collections::BTreeSet, fmt, str::FromStr};

use dormouse_contracts::{Attribution, Audience, Origin, Place, SourceKind, Timestamp, Trust};
use dormouse_text::beginning;
use serde::{Deserialize, Serialize};

/// The id of a record: where it comes from. A record that was made from a log has the number of its event (`412`), or of
/// the part of one (`412.3`), so it has the same id each time the memory is made again from the log.
pub type RecordId = Origin;

/// What kind of memory a record is.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RecordKind {
    /// Something that was said or that happened, unchanged.
    #[default]
    Event,
    /// Something that is true.
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

/// A word that does not name a kind of record.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "{0:?} is not a kind of record; the kinds are event, fact, preference, instruction and insight"
)]
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

/// The collection that a record belongs to. Each collection has an index of vectors of its own.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Collection {
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

impl Collection {
    /// All collections.
    pub const ALL: [Self; 4] = [
        Self::Memories,
        Self::Journal,
        Self::SessionMemory,
        Self::Projects,
    ];

    /// The word for it in files, and in the name of its vector index.
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

/// How a record was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Derivation {
    /// It was heard or seen, and stored word for word.
    #[default]
    Heard,
    /// The assistant stored it with a tool, in its own words.
    Stored,
    /// A model extracted it from other records.
    Extracted,
    /// A model made it from journal entries or other records while the assistant slept.
    Consolidated,
    /// It was imported from a file.
    Imported,
}

impl Derivation {
    /// Whether a model made the record from other records.
    #[must_use]
    pub const fn is_by_model(self) -> bool {
        matches!(self, Self::Extracted | Self::Consolidated)
    }
}

/// Where a record comes from: one step of the chain back to the event.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// How it was made.
    pub derivation: Derivation,
    /// The key of its source, if it comes from outside the log. A second record with the same key is not added.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source_key: Option<String>,
    /// What it was made from. A note of the assistant may also name events that have no record, such as an act without
    /// words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived_from: Vec<RecordId>,
}

/// How two records are related.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum LinkKind {
    /// They are about the same thing.
    #[default]
    Related,
    /// One explains or causes the other.
    Explains,
    /// They cannot both be true.
    Contradicts,
}

/// A link from one record to another. Links go both ways: each of the two records has one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Link {
    /// The other record.
    pub to: RecordId,
    /// How they are related.
    pub kind: LinkKind,
    /// How strongly, in `0.0..=1.0`.
    pub weight: f32,
}

/// The status of a record in its life cycle. It decides whether the record is recalled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "is")]
pub enum RecordStatus {
    /// It is recalled.
    #[default]
    Live,
    /// It is no longer true: another record may have replaced it. It is recalled for times at which it was true.
    Superseded {
        /// The record that replaced it, if one did.
        by: Option<RecordId>,
    },
    /// It says the same as another record and is recalled as part of that one.
    Folded {
        /// The record that represents it.
        into: RecordId,
    },
    /// It was taken out of recall and can be put back.
    Withdrawn,
}

/// One memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Its id.
    pub id: RecordId,
    /// Its text.
    pub text: String,
    /// What kind of memory it is.
    pub kind: RecordKind,
    /// The collection it belongs to.
    #[serde(default)]
    pub collection: Collection,
    /// When it was said or happened.
    pub at: Timestamp,
    /// When it was stored.
    pub recorded_at: Timestamp,
    /// Who said or did it.
    #[serde(default, skip_serializing_if = "is_unknown")]
    pub speaker: Attribution,
    /// The conversation it belongs to (a room, a channel, a chat). Records of one conversation are neighbours in time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thread: Option<String>,
    /// How it was said, if a world attests that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub heard_as: Option<SourceKind>,
    /// Where it was said, if a world attests that. The name of the place may be a text that anybody wrote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// How far it is believed; never more than any of its sources, unless independent accounts confirm it.
    pub trust: Trust,
    /// Who perceived it, if that was recorded. See [`Record::known_to`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<String>,
    /// Where it comes from.
    #[serde(default)]
    pub provenance: Provenance,
    /// Since when it is true.
    pub valid_from: Timestamp,
    /// Until when it was true; `None` while it still is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<Timestamp>,
    /// Its status in its life cycle.
    #[serde(default)]
    pub status: RecordStatus,
    /// The records that are related to it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub links: Vec<Link>,
}

fn is_unknown(speaker: &Attribution) -> bool {
    *speaker == Attribution::Unknown
}

impl Record {
    /// Who is known to have perceived it, other than the assistant itself. If that was not recorded, it is the speaker
    /// if the record is a quotation, and nobody otherwise.
    #[must_use]
    pub fn known_to(&self) -> Audience {
        if let Some(audience) = &self.audience {
            return audience.clone();
        }
        let is_quotation = self.provenance.derivation == Derivation::Heard;
        let speaker = self.speaker.id().filter(|_| is_quotation);
        speaker.cloned().into_iter().collect()
    }

    /// Whether a fact that a model made may replace it. It does not replace a record of higher trust, one that more people
    /// heard, a later record, or an event, which stays true.
    #[must_use]
    pub(crate) fn may_be_superseded(
        &self,
        trust: Trust,
        audience: &Audience,
        at: Timestamp,
    ) -> bool {
        trust >= self.trust
            && audience.covers(&self.known_to())
            && at >= self.at
            && self.kind != RecordKind::Event
    }

    /// A word for who said it, for people and models to read: a name, or `myself` for the assistant itself.
    #[must_use]
    pub fn speaker_name(&self) -> Option<&str> {
        match &self.speaker {
            Attribution::Myself => Some("myself"),
            from => from.name(),
        }
    }

    /// Whether it may be recalled: it is neither withdrawn nor folded into another record.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        matches!(
            self.status,
            RecordStatus::Live | RecordStatus::Superseded { .. }
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_reads_as_it_is_written() {
        for kind in RecordKind::ALL {
            assert_eq!(kind.as_str().parse(), Ok(kind));
            assert_eq!(serde_json::to_string(&kind).unwrap(), format!("\"{kind}\""));
        }
        assert!("rumour".parse::<RecordKind>().is_err());
    }
}
