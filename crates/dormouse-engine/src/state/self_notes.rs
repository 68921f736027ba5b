//! The notes that the assistant keeps for itself.

use dormouse_contracts::{Author, FORGOTTEN, Seq, Timestamp};
use serde::{Deserialize, Serialize};

use crate::event::{Event, GoalNote, SelfNoteId, SelfNoteKind};

/// The notes that the assistant keeps for itself: its session memory, and guidelines.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SelfNotes {
    last_id: SelfNoteId,
    /// By number.
    all: Vec<SelfNote>,
    /// Notes that were dropped since the last reply: the prompt of that reply showed them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    dropped: Vec<GoalNote>,
}

/// A note that the assistant keeps for itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SelfNote {
    /// Its number.
    pub id: SelfNoteId,
    /// The event that noted it.
    pub seq: Seq,
    /// When that event was written.
    pub at: Timestamp,
    /// The kind of note.
    pub kind: SelfNoteKind,
    /// The words.
    pub note: GoalNote,
    /// Who noted it.
    pub author: Author,
}

impl SelfNotes {
    pub(super) fn apply(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        match event {
            Event::SelfNoted(noted) => {
                self.last_id = self.last_id.max(noted.id);
                if noted.note.text != FORGOTTEN {
                    self.all.push(SelfNote {
                        id: noted.id,
                        seq,
                        at,
                        kind: noted.kind,
                        note: noted.note.clone(),
                        author: noted.author.clone(),
                    });
                }
            }
            Event::SelfNoteDropped(dropped) => {
                let place = self.all.iter().position(|it| it.id == dropped.id);
                let gone = place.map(|place| self.all.remove(place));
                self.dropped.extend(gone.map(|gone| gone.note));
            }
            Event::Replied(_) => self.dropped.clear(),
            _ => {}
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.last_id == SelfNoteId(0)
    }

    /// The number that the next note gets.
    pub(crate) fn next_id(&self) -> SelfNoteId {
        SelfNoteId(self.last_id.0.saturating_add(1))
    }

    /// The note with this number.
    #[must_use]
    pub fn get(&self, id: SelfNoteId) -> Option<&SelfNote> {
        self.all.iter().find(|it| it.id == id)
    }

    /// All notes, by number.
    pub fn iter(&self) -> impl Iterator<Item = &SelfNote> {
        self.all.iter()
    }

    /// Notes that the prompt of the last reply showed and that were dropped since.
    pub(crate) fn dropped(&self) -> &[GoalNote] {
        &self.dropped
    }
}
