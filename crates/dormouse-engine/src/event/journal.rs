//! What the assistant writes down: its journal changes.

use dormouse_contracts::{Author, Origin, Seq};
use dormouse_journal::{EntryId, JournalChange, JournalEntry};
use serde::{Deserialize, Serialize};

/// The version of these events in the log.
pub(super) const SCHEMA: u16 = 2;

/// The journal changed. All changes of one decision are one event.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalChanged {
    /// How, in order.
    pub changes: Vec<JournalChange>,
    /// Who decided on it.
    pub author: Author,
    /// Why, in words; the name of the tool, if the assistant decided on it by a call.
    pub reason: String,
    /// The records of entries that leave the journal by this event. Recall does not find them any more.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub withdrawn: Vec<Origin>,
}

/// An operator wants the assistant to look back over its journal, in a turn of its own.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReflectionRequested {
    /// Who.
    pub author: Author,
    /// Why, in words.
    pub reason: String,
}

/// A turn in which the assistant looked back over its journal is over.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReflectionRecorded {
    /// The trigger of the turn.
    pub trigger: Seq,
    /// The entries that were written in it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<EntryId>,
}

impl JournalChanged {
    /// The entries that this event adds to the journal, in order.
    pub fn entries(&self) -> impl Iterator<Item = &JournalEntry> {
        self.changes.iter().flat_map(|change| match change {
            JournalChange::Added { entry, .. } | JournalChange::Restored { entry } => {
                std::slice::from_ref(&**entry)
            }
            JournalChange::Reflected { insights } => insights,
            _ => &[],
        })
    }

    /// Whether the assistant itself decided on it, by a call.
    pub(crate) fn is_by_call(&self) -> bool {
        matches!(self.author, Author::Tool(_))
    }
}

/// The record ids of `count` entries of one event: a single entry has the origin of the event, several have its parts,
/// counted from 1.
pub(crate) fn records_of(event: Origin, count: usize) -> impl Iterator<Item = Option<Origin>> {
    let origin = move |part| match count {
        1 => Some(event),
        _ => event.part(part),
    };
    (1..).take(count).map(origin)
}
