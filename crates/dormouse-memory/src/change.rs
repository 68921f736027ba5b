//! Everything that can happen to a memory. The store is the result of its changes in their order. Each change has a
//! reason, and all of them but erasing can be taken back.

use dormouse_contracts::{Audience, Author, Seq, Timestamp};
use dormouse_entities as entities;
use dormouse_redact::{RedactionProfile, mask};
use serde::{Deserialize, Serialize};

use crate::{
    note::Note,
    record::{LinkKind, Record, RecordId, RecordStatus},
    write::Decision,
};

/// The sequence number of a change, from 1.
pub type ChangeSeq = u64;

/// A change that somebody decided on, as data. A log holds these; what they did is a [`Change`].
///
/// Its JSON is an object whose field `change` names the kind.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "change")]
#[non_exhaustive]
pub enum MemoryChange {
    /// Adds these notes. A single note gets the origin of its event; several notes get its parts, from 1. A note with a
    /// known source is not added.
    Added {
        /// The notes.
        notes: Vec<Note>,
    },
    /// A record is no longer true.
    Superseded {
        /// The record.
        record: RecordId,
        /// The record that replaces it, if one does.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        by: Option<RecordId>,
        /// Since when it is no longer true.
        until: Timestamp,
    },
    /// Records that say the same become part of one.
    Folded {
        /// The records that become part of another.
        records: Vec<RecordId>,
        /// The record that represents them.
        into: RecordId,
    },
    /// A record is taken out of recall.
    Withdrawn {
        /// The record.
        record: RecordId,
    },
    /// A record is made public knowledge: it may be shown to anybody.
    Published {
        /// The record.
        record: RecordId,
    },
    /// A record's text is removed for good. This cannot be taken back.
    Erased {
        /// The record.
        record: RecordId,
    },
    /// Two records are linked.
    Linked {
        /// One record.
        a: RecordId,
        /// The other record.
        b: RecordId,
        /// How they are related.
        kind: LinkKind,
        /// How strongly, in `0.0..=1.0`.
        weight: f32,
    },
    /// Facts that a model made of records, each with the decision about it. The records are not read again, even if this
    /// is undone.
    Extracted {
        /// The facts. Each has its own part of the origin of this event, from 1.
        facts: Vec<ExtractedFact>,
        /// The records that were read.
        records: Vec<RecordId>,
        /// What the facts were compared with. Absent in older logs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compared: Option<Comparison>,
    },
    /// What an earlier event did to records is taken back. If that event itself took a change back, the change is made
    /// again.
    Undone {
        /// The event.
        event: Seq,
    },
}

/// A fact that a model made, and what becomes of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ExtractedFact {
    /// The fact, with its sources.
    pub note: Note,
    /// What becomes of it.
    pub decision: Decision,
    /// Why, in words; the reason of the event if it is empty.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

/// What the facts in a reply were compared with before anything was decided about them.
///
/// Which records a memory finds alike depends on its encoder; what is decided follows from these records alone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Comparison {
    /// The last event that the memory had taken in; 0 for a memory that follows no log.
    pub made_from: Seq,
    /// The records that were found for each fact, in the order of the facts, best first. At most eight each.
    pub found: Vec<Vec<RecordId>>,
}

impl MemoryChange {
    /// The change with the secrets in its notes masked, as it is stored.
    #[must_use]
    pub fn masked(self) -> Self {
        match self {
            Self::Added { notes } => Self::Added {
                notes: notes.into_iter().map(Note::masked).collect(),
            },
            Self::Extracted {
                facts,
                records,
                compared,
            } => {
                let masked = |fact: ExtractedFact| ExtractedFact {
                    note: fact.note.masked(),
                    reason: mask(&fact.reason, RedactionProfile::Memory).into_owned(),
                    ..fact
                };
                let facts = facts.into_iter().map(masked).collect();
                Self::Extracted {
                    facts,
                    records,
                    compared,
                }
            }
            other => other,
        }
    }
}

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "what")]
#[non_exhaustive]
pub enum Change {
    /// A record was added.
    Added {
        /// The record.
        record: RecordId,
    },
    /// A note was not kept, because it says nothing new.
    Ignored {
        /// The record that would have been added; its id is 0.
        note: Box<Record>,
        /// The record that already says it, if there is one.
        like: Option<RecordId>,
    },
    /// A record is no longer true.
    Superseded {
        /// The record.
        record: RecordId,
        /// The record that replaced it, if one did.
        by: Option<RecordId>,
        /// Since when it is no longer true.
        until: Timestamp,
        /// The end of its validity before this change, to restore it.
        had_until: Option<Timestamp>,
        /// Its status before this change.
        status_before: RecordStatus,
    },
    /// Records that say the same became part of one.
    Folded {
        /// The records that became part of another, and the status of each before.
        records: Vec<(RecordId, RecordStatus)>,
        /// The record that represents them.
        into: RecordId,
    },
    /// A record was taken out of recall.
    Withdrawn {
        /// The record.
        record: RecordId,
        /// Its status before this change.
        status_before: RecordStatus,
    },
    /// A record was made public knowledge.
    Published {
        /// The record.
        record: RecordId,
        /// Its audience before this change, if one was recorded.
        had: Option<Audience>,
    },
    /// A record's text was removed for good. This cannot be taken back.
    Erased {
        /// The record.
        record: RecordId,
    },
    /// Two records were linked.
    Linked {
        /// One record.
        a: RecordId,
        /// The other record.
        b: RecordId,
        /// How they are related.
        kind: LinkKind,
        /// How strongly, in `0.0..=1.0`.
        weight: f32,
    },
    /// The people and things that the assistant knows have changed.
    Entity {
        /// How.
        change: Box<entities::EntityChange>,
    },
    /// An earlier change was taken back.
    Reverted {
        /// The change that was taken back.
        undone: ChangeSeq,
        /// The records that it restored or added.
        records: Vec<RecordId>,
    },
}

impl Change {
    /// The word for it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Added { .. } => "added",
            Self::Ignored { .. } => "ignored",
            Self::Superseded { .. } => "superseded",
            Self::Folded { .. } => "folded",
            Self::Withdrawn { .. } => "withdrawn",
            Self::Published { .. } => "published",
            Self::Erased { .. } => "erased",
            Self::Linked { .. } => "linked",
            Self::Entity { .. } => "entity",
            Self::Reverted { .. } => "reverted",
        }
    }

    /// The records whose state it set. Indexing reads these again.
    pub(crate) fn records(&self) -> Vec<RecordId> {
        match self {
            Self::Added { record }
            | Self::Withdrawn { record, .. }
            | Self::Published { record, .. }
            | Self::Erased { record }
            | Self::Superseded { record, .. } => vec![*record],
            Self::Folded { records, .. } => records.iter().map(|(record, _)| *record).collect(),
            Self::Linked { a, b, .. } => vec![*a, *b],
            Self::Reverted { records, .. } => records.clone(),
            Self::Ignored { .. } | Self::Entity { .. } => Vec::new(),
        }
    }
}

/// A change with its sequence number, its time and its reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredChange {
    /// Its sequence number, from 1.
    pub seq: ChangeSeq,
    /// When it was made.
    pub at: Timestamp,
    /// The event of the log that it follows from; `None` in a memory that follows no log.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<Seq>,
    /// Who decided on it; `None` if it follows from what the assistant heard or said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub author: Option<Author>,
    /// Why it was made, in words: the name of a rule, or the reason that a model or a person gave.
    pub reason: String,
    /// The change.
    #[serde(flatten)]
    pub change: Change,
}
