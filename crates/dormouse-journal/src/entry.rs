//! An entry with its documented fields, and the input from which it is made.

mod fields;
mod label;

use std::collections::BTreeSet;

use dormouse_contracts::{Attribution, Audience, Sources, Timestamp, Trust};
use dormouse_text::is_blank;
use serde::{Deserialize, Serialize};

pub use fields::{
    EntryId, Importance, ImportanceError, ImportanceMethod, SourceType, SourceTypeError,
};
pub use label::{EntryLabel, EntryLabelError};

/// The longest content of one entry, in bytes (32 KiB).
pub const CONTENT_LIMIT: usize = 32 * 1024;
/// The most tags of one entry, and the most projects.
pub const LABELS_LIMIT: usize = 32;

/// One entry of a journal, with the documented fields.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Its number. Never used again, even after the entry leaves the journal.
    pub id: EntryId,
    /// When it was written.
    pub timestamp: Timestamp,
    /// What happened, in words.
    pub content: String,
    /// How the assistant came to know it.
    pub source_type: SourceType,
    /// How far it is believed.
    pub source_trust: Trust,
    /// Who provided it.
    pub source_entity: Attribution,
    /// How important it is.
    pub importance: Importance,
    /// Who gave that score.
    pub importance_method: ImportanceMethod,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub tags: BTreeSet<EntryLabel>,
    /// The projects it belongs to.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub related_projects: BTreeSet<EntryLabel>,
    /// What it was made from, and who perceived those things.
    pub provenance: EntryProvenance,
    /// What happened to it in the journal.
    #[serde(default, skip_serializing_if = "EntryUpkeep::is_new")]
    pub upkeep: EntryUpkeep,
}

/// What an entry was made from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntryProvenance {
    /// Who perceived it, other than the assistant. Nobody, if that is not known.
    pub audience: Audience,
    /// What it was made from; empty if that is not known.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub sources: Sources,
    /// How many conclusions lie between it and what happened: 0 for what was experienced, 1 for a conclusion from that, 2
    /// for a conclusion from conclusions. Nothing is concluded from an entry of depth [`EntryProvenance::DEEPEST`].
    #[serde(default, skip_serializing_if = "is_zero")]
    pub depth: u8,
}

impl EntryProvenance {
    /// The greatest depth.
    pub const DEEPEST: u8 = 2;
}

impl Default for EntryProvenance {
    /// No audience, no known sources, depth 0.
    fn default() -> Self {
        Self {
            audience: Audience::nobody(),
            sources: Sources::default(),
            depth: 0,
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_zero(depth: &u8) -> bool {
    *depth == 0
}

/// What happened to an entry since it was written.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct EntryUpkeep {
    /// Whether it is in long-term memory, too.
    pub consolidated: bool,
    /// The earlier entry that says nearly the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub near: Option<EntryId>,
    /// How many later entries say nearly the same.
    pub repeats: u32,
    /// How many replies of a model contained no usable score for it.
    pub unreadable_scores: u8,
    /// When it was restored. After that, neither the limit nor the pruning rule removes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub restored_at: Option<Timestamp>,
}

impl EntryUpkeep {
    fn is_new(&self) -> bool {
        *self == Self::default()
    }
}

impl JournalEntry {
    /// The first of the entries that say nearly the same. It identifies their group.
    #[must_use]
    pub fn group(&self) -> EntryId {
        self.upkeep.near.unwrap_or(self.id)
    }

    /// Whether a reflection may draw conclusions from it.
    #[must_use]
    pub fn may_be_reflected_on(&self) -> bool {
        self.provenance.depth < EntryProvenance::DEEPEST
    }
}

/// Something to write into a journal. Only the content and the source type are required.
///
/// ```
/// use dormouse_journal::{NewEntry, SourceType};
///
/// let new = NewEntry::new("Alice prefers formal address", SourceType::Direct);
/// assert_eq!(new.trust().score(), 0.9);
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct NewEntry {
    /// What happened, in words.
    pub content: String,
    /// How the assistant came to know it; see [`SourceType::of_trigger`].
    pub source_type: SourceType,
    /// How far it is believed, instead of the default of the source type.
    pub source_trust: Option<Trust>,
    /// Who provided it.
    pub source_entity: Attribution,
    /// How important it is, if somebody decided that; otherwise a formula scores it.
    pub importance: Option<Importance>,
    /// Words to find it by.
    pub tags: BTreeSet<EntryLabel>,
    /// The projects it belongs to.
    pub related_projects: BTreeSet<EntryLabel>,
    /// The trust of what it was made from.
    pub believed: Trust,
    /// What it was made from, and who perceived those things.
    pub provenance: EntryProvenance,
}

impl NewEntry {
    /// An entry with this content, without attribution and without audience.
    #[must_use]
    pub fn new(content: impl Into<String>, source_type: SourceType) -> Self {
        Self {
            content: content.into(),
            source_type,
            source_trust: None,
            source_entity: Attribution::Unknown,
            importance: None,
            tags: BTreeSet::new(),
            related_projects: BTreeSet::new(),
            believed: Trust::FULL,
            provenance: EntryProvenance::default(),
        }
    }

    /// How far the entry is believed: the given trust, or else the default of its source type, but at most the trust of
    /// what it was made from.
    #[must_use]
    pub fn trust(&self) -> Trust {
        let of_journal = self.source_trust.unwrap_or(self.source_type.trust());
        of_journal.lowest(self.believed)
    }

    /// Checks everything that can be checked without the journal.
    ///
    /// # Errors
    ///
    /// [`EntryError`] says which part is not allowed, and what would be.
    pub fn check(&self) -> Result<(), EntryError> {
        if is_blank(&self.content) {
            return Err(EntryError::Blank);
        }
        if self.content.len() > CONTENT_LIMIT {
            let length = self.content.len();
            return Err(EntryError::TooLong { length });
        }
        for (what, labels) in [
            ("tags", &self.tags),
            ("related_projects", &self.related_projects),
        ] {
            let count = labels.len();
            if count > LABELS_LIMIT {
                return Err(EntryError::TooMany { what, count });
            }
        }
        Ok(())
    }
}

/// Why an entry is not written. The journal is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum EntryError {
    /// There is no visible character in the content.
    #[error("content is blank; expected at least one word about what happened")]
    Blank,
    /// The content is too long.
    #[error("content has {length} bytes; at most {CONTENT_LIMIT} are kept: write several entries")]
    TooLong {
        /// Its length in bytes.
        length: usize,
    },
    /// There are too many tags or projects.
    #[error("{what} has {count} members; at most {LABELS_LIMIT} are kept")]
    TooMany {
        /// Which list.
        what: &'static str,
        /// How many members it has.
        count: usize,
    },
}

#[cfg(test)]
mod tests;
