//! What is remembered, and what is shown of it.

use dormouse_contracts::{Attribution, Audience, Author, Origin, Sources, Trust};
use dormouse_entities::EntityChange;
use dormouse_memory::{MemoryChange, RecordId, RecordKind};
use serde::{Deserialize, Serialize};

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// A line was stored in memory.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Remembered {
    /// The line.
    pub text: String,
    /// Who it came from.
    pub from: Attribution,
    /// How far it is believed: the lowest trust of what it came from.
    pub trust: Trust,
    /// The message, or the remembered line, that it came from.
    pub origin: Origin,
    /// All its sources: messages, remembered lines, acts. Empty in older logs, which have only `origin`.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub sources: Sources,
    /// What kind of record it is; a fact by default.
    #[serde(default = "fact", skip_serializing_if = "is_fact")]
    pub kind: RecordKind,
    /// Whom or what it is about, if given: an entity, if only one has the name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub about: Option<Attribution>,
    /// Who perceived everything that it may have been made from, other than the assistant. Nobody, if that is not known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub audience: Option<Audience>,
}

fn fact() -> RecordKind {
    RecordKind::Fact
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes it so")]
fn is_fact(kind: &RecordKind) -> bool {
    *kind == RecordKind::Fact
}

/// Something about a person or thing was noted on purpose. It was checked against what was known then; the memory
/// applies it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntityChanged {
    /// What.
    pub change: EntityChange,
    /// Who decided on it.
    pub author: Author,
    /// Why, in words; the name of the tool, if the assistant decided on it by a call.
    pub reason: String,
}

impl Remembered {
    /// All its known sources.
    pub(crate) fn rests_on(&self) -> Sources {
        [self.origin]
            .into_iter()
            .chain(self.sources.as_slice().iter().copied())
            .collect()
    }
}

impl EntityChanged {
    /// Whether the assistant itself decided on it, by a call. The assistant's tools can only add to what is known about
    /// somebody.
    pub(crate) fn is_by_call(&self) -> bool {
        matches!(self.author, Author::Tool(_))
    }

    /// Whether it removes knowledge about people.
    pub(crate) fn takes_away(&self) -> bool {
        matches!(
            self.change,
            EntityChange::Deleted { .. } | EntityChange::Purged { .. }
        )
    }
}

impl MemoryChanged {
    /// Whether this hides the words of any record.
    pub(crate) fn takes_something_out(&self) -> bool {
        matches!(
            self.change,
            MemoryChange::Withdrawn { .. }
                | MemoryChange::Erased { .. }
                | MemoryChange::Undone { .. }
        )
    }

    /// Whether this hides the words of this record.
    pub(crate) fn takes_out(&self, record: RecordId) -> bool {
        match &self.change {
            MemoryChange::Withdrawn { record: gone } | MemoryChange::Erased { record: gone } => {
                *gone == record
            }
            // An undo withdraws what the event added.
            MemoryChange::Undone { event } => record.seq() == *event,
            _ => false,
        }
    }

    /// Whether it may remove knowledge about people.
    pub(crate) fn may_take_away(&self) -> bool {
        matches!(self.change, MemoryChange::Undone { .. })
    }
}

/// The memory was changed on purpose, other than by noting a line. The change was checked against the memory before it
/// was written; the memory applies it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MemoryChanged {
    /// What.
    pub change: MemoryChange,
    /// Who decided on it.
    pub author: Author,
    /// Why, in words.
    pub reason: String,
}
