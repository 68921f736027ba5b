//! Everything that can happen to a memory. The store is what came of its changes, in their order; each says why, and
//! all but one can be taken back.

use dormouse_contracts::Timestamp;
use dormouse_entities as entities;
use serde::{Deserialize, Serialize};

use crate::record::{LinkKind, Record, RecordId, Standing};

/// The place of a change in the order of all changes, from 1.
pub type ChangeSeq = u64;

/// One change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "what")]
#[non_exhaustive]
pub enum Change {
    /// A record was added.
    Added {
        /// Which.
        record: RecordId,
    },
    /// A note was not kept, because it says nothing new.
    Ignored {
        /// What was not kept, as it would have been added; its number is 0.
        note: Box<Record>,
        /// The record that says it already, if there is one.
        like: Option<RecordId>,
    },
    /// What a record says ceased to be so.
    Superseded {
        /// The record.
        record: RecordId,
        /// The one that took its place, if one did.
        by: Option<RecordId>,
        /// Since when it is no longer so.
        until: Timestamp,
        /// Until when it was so before this change, for taking it back.
        had_until: Option<Timestamp>,
        /// How it stood before this change.
        stood: Standing,
    },
    /// Records that say the same became part of one.
    Folded {
        /// Those that became part, and how each stood before.
        records: Vec<(RecordId, Standing)>,
        /// The one that speaks for them.
        into: RecordId,
    },
    /// A record was taken out.
    Withdrawn {
        /// The record.
        record: RecordId,
        /// How it stood before.
        stood: Standing,
    },
    /// A record's text was removed for good. This cannot be taken back.
    Erased {
        /// The record.
        record: RecordId,
    },
    /// Two records were linked.
    Linked {
        /// The one.
        a: RecordId,
        /// The other.
        b: RecordId,
        /// How they hang together.
        kind: LinkKind,
        /// How strongly, in `0.0..=1.0`.
        weight: f32,
    },
    /// Something about the people and things the assistant knows.
    Entity {
        /// What.
        change: Box<entities::EntityChange>,
    },
    /// The log is another one, or was set back: the events that these records were made of are not in it.
    Detached {
        /// The records.
        records: Vec<RecordId>,
    },
    /// An earlier change was taken back.
    Reverted {
        /// Which.
        undone: ChangeSeq,
        /// The records that are as before by it, or were added by it.
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
            Self::Erased { .. } => "erased",
            Self::Linked { .. } => "linked",
            Self::Entity { .. } => "entity",
            Self::Detached { .. } => "detached",
            Self::Reverted { .. } => "reverted",
        }
    }
}

impl Change {
    /// The records whose state it set.
    pub(crate) fn records(&self) -> Vec<RecordId> {
        match self {
            Self::Added { record }
            | Self::Withdrawn { record, .. }
            | Self::Erased { record }
            | Self::Superseded { record, .. } => vec![*record],
            Self::Folded { records, .. } => records.iter().map(|(record, _)| *record).collect(),
            Self::Linked { a, b, .. } => vec![*a, *b],
            Self::Detached { records } | Self::Reverted { records, .. } => records.clone(),
            Self::Ignored { .. } | Self::Entity { .. } => Vec::new(),
        }
    }
}

/// A change with its place, its time and its reason.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StoredChange {
    /// Its place, from 1.
    pub seq: ChangeSeq,
    /// When it was made.
    pub at: Timestamp,
    /// Why, in words: a rule, a model's own reason, or a person's.
    pub reason: String,
    /// What was changed.
    #[serde(flatten)]
    pub change: Change,
}
