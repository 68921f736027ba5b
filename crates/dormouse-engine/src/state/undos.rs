//! Changes of the memory that were taken back.

use std::collections::BTreeMap;

use dormouse_contracts::Seq;
use dormouse_memory::MemoryChange;
use serde::{Deserialize, Serialize};

use crate::event::Event;

/// For each undo, the original change: an undo of an undo refers to the change that the first undo took back. Grows by
/// one entry for each undo, which is a person's command.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Undos(BTreeMap<Seq, Seq>);

impl Undos {
    pub(super) fn apply(&mut self, seq: Seq, event: &Event) {
        if let Some(undone) = undone(event) {
            self.0.insert(seq, self.root(undone));
        }
    }

    /// The change at the beginning of a chain of undos; the event itself if it is not an undo.
    pub(super) fn root(&self, event: Seq) -> Seq {
        self.0.get(&event).copied().unwrap_or(event)
    }

    /// Whether a change is currently taken back. An undo of an undo makes the change again.
    pub(crate) fn is_taken_back(&self, event: Seq) -> bool {
        let undos = self.0.values().filter(|root| **root == event);
        undos.count() % 2 == 1
    }

    /// Whether an event takes back an undo: then it restores what that undo removed, or removes what it restored.
    pub(super) fn takes_back_an_undo(&self, event: &Event) -> bool {
        undone(event).is_some_and(|undone| self.0.contains_key(&undone))
    }
}

/// The event that this one takes back.
pub(super) fn undone(event: &Event) -> Option<Seq> {
    match event {
        Event::MemoryChanged(changed) => match changed.change {
            MemoryChange::Undone { event } => Some(event),
            _ => None,
        },
        _ => None,
    }
}
