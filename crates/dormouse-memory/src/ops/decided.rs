//! Applying a change that somebody decided on.

use dormouse_contracts::{Seq, Timestamp};
use dormouse_entities::Entities;

use super::{
    Added, add, erase,
    extracted::extracted,
    fold, link, people, publish,
    revert::revert_all,
    step::{ChangeError, Done, Step, refuse},
    supersede, withdraw,
};
use crate::{
    change::{Change, MemoryChange},
    note::Note,
    record::RecordId,
    store::Writing,
};

/// Makes the change of this event. The notes that it adds, or finds known, come with the result.
pub(crate) fn decided(
    writing: &mut Writing<'_>,
    entities: &mut Entities,
    now: Timestamp,
    reason: &str,
    event: Seq,
    change: MemoryChange,
) -> Step<(Vec<Added>, Done)> {
    let done = match change {
        MemoryChange::Added { notes } => return add_parts(writing, now, reason, event, notes),
        MemoryChange::Superseded { record, by, until } => {
            supersede(writing, now, reason, record, by, until)
        }
        MemoryChange::Folded { records, into } => fold(writing, now, reason, &records, into),
        MemoryChange::Withdrawn { record } => withdraw(writing, now, reason, record),
        MemoryChange::Published { record } => publish(writing, now, reason, record),
        MemoryChange::Erased { record } => erase(writing, now, reason, record),
        MemoryChange::Linked { a, b, kind, weight } => {
            link(writing, now, reason, (a, b), kind, weight)
        }
        MemoryChange::Extracted { facts, records, .. } => {
            return extracted(writing, now, reason, event, facts, &records);
        }
        MemoryChange::Undone { event } => undo(writing, entities, now, reason, event),
    };
    Ok((Vec::new(), done?))
}

fn add_parts(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    event: Seq,
    notes: Vec<Note>,
) -> Step<(Vec<Added>, Done)> {
    let whole = RecordId::event(event);
    let is_single = notes.len() == 1;
    let mut added = Vec::with_capacity(notes.len());
    let mut done = Done::default();
    for (note, part) in notes.into_iter().zip(1_u32..) {
        let part = if is_single { 0 } else { part };
        let id = whole.part(part).ok_or_else(|| refuse(ChangeError::Parts))?;
        let (one, more) = add(writing, now, reason, Some(id), note)?;
        added.push(one);
        done.extend(more);
    }
    Ok((added, done))
}

/// Takes back everything that an event did to records: all of it, or nothing. An event that did nothing to records may have changed
/// what is known of somebody.
fn undo(
    writing: &mut Writing<'_>,
    entities: &mut Entities,
    now: Timestamp,
    reason: &str,
    event: Seq,
) -> Step<Done> {
    // A fact that was not kept changed no record.
    let mut made = Vec::new();
    for stored in writing.of_event(event)? {
        match stored.change {
            Change::Entity { .. } | Change::Ignored { .. } => {}
            Change::Added { record } if is_blank(writing, record)? => {}
            _ => made.push(stored.seq),
        }
    }
    if made.is_empty() {
        let undone = people::undo(writing, entities, now, reason, event)?;
        return undone.ok_or_else(|| refuse(ChangeError::NothingToUndo(event)));
    }
    revert_all(writing, now, reason, made.into_iter().rev())
}

/// Whether the text of a record is gone. There is nothing to take back of it.
fn is_blank(writing: &Writing<'_>, record: RecordId) -> Step<bool> {
    Ok(writing
        .record(record)?
        .is_some_and(|found| found.text.is_empty()))
}
