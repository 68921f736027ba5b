//! The messages that something was made from, so that they can be forgotten as well.

use std::collections::{BTreeSet, VecDeque};

use dormouse_contracts::{AssistantId, Origin, ReadEvents};
use dormouse_memory::{MemoryChange, Note};

use super::collect::rests_on;
use crate::{
    event::{Event, MemoryChanged},
    replay::{self, ReplayError},
};

/// How many events are read at most.
const MOST_READ: usize = 256;

/// The messages from which something was made, directly or through notes and facts, in the order of the log. Forgotten
/// ones are left out. At most 256 events are read, the nearest first.
///
/// # Errors
///
/// [`ReplayError`] if an event cannot be read.
pub async fn messages_behind<L: ReadEvents + ?Sized>(
    log: &L,
    key: &AssistantId,
    record: Origin,
) -> Result<Vec<Origin>, ReplayError> {
    let mut messages = BTreeSet::new();
    let mut seen = BTreeSet::from([record]);
    let mut waiting = VecDeque::from([record]);
    while let Some(next) = waiting.pop_front() {
        let sources = match replay::event(log, key, next.seq()).await? {
            Some(Event::Perceived(perceived)) => {
                if next != record && !perceived.perception.words.is_forgotten() {
                    messages.insert(Origin::event(next.seq()));
                }
                continue;
            }
            Some(Event::Remembered(remembered)) => remembered.rests_on().into(),
            Some(Event::EntityChanged(changed)) => rests_on(&changed.change).into(),
            Some(Event::MemoryChanged(changed)) => sources_of(&changed, next),
            Some(Event::JournalChanged(changed)) => {
                let sources = changed.entries().map(|entry| &entry.provenance.sources);
                sources.flat_map(|all| all.as_slice().to_vec()).collect()
            }
            Some(event) => {
                let noted = event.noted().into_iter().flat_map(|(_, notes)| notes);
                noted
                    .flat_map(|note| note.sources.as_slice().to_vec())
                    .collect()
            }
            None => Vec::new(),
        };
        for source in sources {
            if seen.len() < MOST_READ && seen.insert(source) {
                waiting.push_back(source);
            }
        }
    }
    Ok(messages.into_iter().collect())
}

/// The sources of one part of a change, or of the whole change.
fn sources_of(changed: &MemoryChanged, of: Origin) -> Vec<Origin> {
    let notes: Vec<&Note> = match &changed.change {
        MemoryChange::Added { notes } => notes.iter().collect(),
        MemoryChange::Extracted { facts, .. } => facts.iter().map(|fact| &fact.note).collect(),
        _ => Vec::new(),
    };
    let of_part = |number: u32| of.part_number() == 0 || of.part_number() == number;
    let parts = (1..).zip(notes).filter(|(number, _)| of_part(*number));
    parts
        .flat_map(|(_, note)| note.sources().to_vec())
        .collect()
}
