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
    record::{Derivation, Record, RecordId, RecordStatus},
    store::{Writing, tables},
};

/// How many facts of one extraction are searched for other facts from an utterance; a model makes fewer than that.
const MOST_FACTS: u32 = 200;

/// Makes the change of this event. The result lists the notes that it adds or already has.
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
            superseded(writing, now, reason, record, by, until)
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

/// Ends the validity of a record. Also ends that of the utterance that it was made from, if no other valid fact was
/// made from that: otherwise recall would return the old words. Only a decision about a record does this; consolidation
/// leaves what was heard as it is.
fn superseded(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    record: RecordId,
    by: Option<RecordId>,
    until: Timestamp,
) -> Step<Done> {
    let mut done = supersede(writing, now, reason, record, by, until)?;
    let quoted = match writing.record(record)? {
        Some(old) if old.provenance.derivation != Derivation::Heard => {
            utterance(writing, &old, by)?
        }
        _ => None,
    };
    if let Some(quoted) = quoted {
        let until = until.max(quoted.valid_from);
        done.extend(supersede(writing, now, reason, quoted.id, by, until)?);
    }
    Ok(done)
}

/// The utterance that a record was made from, if it is the only source and no other live fact was made from it. The
/// record that replaces it is never returned.
fn utterance(writing: &Writing<'_>, of: &Record, by: Option<RecordId>) -> Step<Option<Record>> {
    let [source] = *of.provenance.derived_from.as_slice() else {
        return Ok(None);
    };
    let is_quoted = |it: &Record| {
        let was_heard = it.provenance.derivation == Derivation::Heard;
        was_heard && it.status == RecordStatus::Live && by != Some(it.id)
    };
    let Some(heard) = writing.record(source)?.filter(is_quoted) else {
        return Ok(None);
    };
    let event = writing.state(&tables::extracted(source))?;
    if event == 0 {
        return Ok(Some(heard));
    }
    let whole = RecordId::event(Seq(event));
    for part in 1..=MOST_FACTS {
        let fact = whole.part(part).map(|id| writing.record(id)).transpose()?;
        let fact = fact.flatten().filter(|fact| fact.id != of.id);
        let says_more = |fact: Record| {
            let is_of_it = fact.provenance.derived_from.contains(&source);
            is_of_it && fact.status == RecordStatus::Live
        };
        if fact.is_some_and(says_more) {
            return Ok(None);
        }
    }
    Ok(Some(heard))
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

/// Takes back everything that an event did to records: all of it, or nothing. If it did nothing to records, takes back
/// what it changed about a person or thing.
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

/// Whether the text of a record is gone. Then there is nothing to take back.
fn is_blank(writing: &Writing<'_>, record: RecordId) -> Step<bool> {
    Ok(writing
        .record(record)?
        .is_some_and(|found| found.text.is_empty()))
}
