//! Applying a change that somebody decided on.

use dormouse_contracts::{Seq, Timestamp};

use super::{
    Added, add, erase, fold, link, revert,
    step::{ChangeError, Done, Step, refuse},
    supersede, withdraw,
};
use crate::{
    change::{Change, MemoryChange},
    note::Note,
    record::{RecordId, RecordStatus},
    store::Writing,
};

/// Makes the change of this event. The notes that it adds, or finds known, come with the result.
pub(crate) fn decided(
    writing: &mut Writing<'_>,
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
        MemoryChange::Erased { record } => erase(writing, now, reason, record),
        MemoryChange::Linked { a, b, kind, weight } => {
            link(writing, now, reason, (a, b), kind, weight)
        }
        MemoryChange::Undone { event } => undo(writing, now, reason, event),
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

/// Takes back everything that an event did to records.
fn undo(writing: &mut Writing<'_>, now: Timestamp, reason: &str, event: Seq) -> Step<Done> {
    let changes = writing.of_event(event)?;
    let mut made: Vec<_> = changes
        .into_iter()
        .filter(|stored| !matches!(stored.change, Change::Entity { .. }))
        .collect();
    if made.is_empty() {
        return Err(refuse(ChangeError::NothingToUndo(event)));
    }
    if made.len() > 1 {
        // All or nothing, so the notes of an import are checked before the first of them is withdrawn.
        for stored in &made {
            check_as_added(writing, stored.seq, &stored.change)?;
        }
    }
    let mut done = Done::default();
    while let Some(stored) = made.pop() {
        done.extend(revert(writing, now, reason, stored.seq)?);
    }
    Ok(done)
}

fn check_as_added(writing: &Writing<'_>, seq: u64, change: &Change) -> Step<()> {
    if let Some(by) = writing.reverted_by(seq)? {
        return Err(refuse(ChangeError::AlreadyReverted { seq, by }));
    }
    let Change::Added { record } = change else {
        return Err(refuse(ChangeError::NotRevertible(seq)));
    };
    let found = writing.record(*record)?;
    let is_as_added =
        found.is_some_and(|found| found.status == RecordStatus::Live && !found.text.is_empty());
    if is_as_added {
        return Ok(());
    }
    let record = *record;
    Err(refuse(ChangeError::ChangedSince { seq, record }))
}
