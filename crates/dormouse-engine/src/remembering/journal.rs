//! What a change of the journal means for a memory: each entry becomes a record at once, and is no longer recalled
//! after it left the journal.

use dormouse_contracts::Origin;
use dormouse_journal::JournalEntry;
use dormouse_memory::{Collection, Derivation, IntakeStep, MemoryChange, Note, RecordKind};

use super::{
    context::{Read, Trigger},
    mapping::{Mapping, shortened, speaker},
    place,
};
use crate::event::{JournalChanged, records_of};

pub(super) fn changed(
    mapping: &mut Mapping<'_>,
    read: &Read,
    changed: &JournalChanged,
    trigger: Option<&Trigger>,
) {
    let event = (read.stored.seq, read.stored.at);
    for record in &changed.withdrawn {
        let withdrawn = MemoryChange::Withdrawn { record: *record };
        mapping.follows(event, IntakeStep::Change(Box::new(withdrawn)));
    }
    // An entry that a command writes was not heard in any turn.
    let trigger = trigger.filter(|_| changed.is_by_call());
    let records = records_of(Origin::event(event.0), changed.entries().count());
    for (entry, record) in changed.entries().zip(records) {
        let Some(record) = record else { continue };
        let mut note = note(entry);
        if let Some(trigger) = trigger {
            note = note.in_thread(place::heard_in(&trigger.attested));
        }
        mapping.note_as(record, event, note);
    }
}

fn note(entry: &JournalEntry) -> Note {
    let kind = match entry.provenance.depth {
        0 => RecordKind::Event,
        _ => RecordKind::Insight,
    };
    let note = Note::new(&entry.content)
        .in_collection(Collection::Journal)
        .kind(kind)
        .derivation(Derivation::Stored)
        .at(entry.timestamp)
        .from(speaker(entry.source_entity.clone()))
        .trusted(entry.source_trust)
        .known_to(entry.provenance.audience.clone())
        .derived_from(entry.provenance.sources.as_slice().iter().copied());
    let labels = entry.tags.iter().chain(&entry.related_projects);
    let labels = labels.filter_map(|label| shortened(label.as_str()));
    labels.fold(note, Note::tagged)
}
