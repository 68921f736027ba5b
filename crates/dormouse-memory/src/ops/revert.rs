//! Taking a change back.

use std::collections::BTreeMap;

use dormouse_contracts::{Audience, Timestamp};

use super::{
    put_all,
    step::{ChangeError, ChangeRef, Done, Step, refuse, there},
};
use crate::{
    change::{Change, ChangeSeq, StoredChange},
    record::{Link, Record, RecordId, RecordStatus},
    store::{Abort, Fault, Writing},
};

/// Takes change `seq` back, if the records are still as the change left them.
pub(crate) fn revert(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    seq: ChangeSeq,
) -> Step<Done> {
    revert_all(writing, now, reason, [seq])
}

/// Takes changes back, in this order: all of them, or none.
pub(super) fn revert_all(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    seqs: impl IntoIterator<Item = ChangeSeq>,
) -> Step<Done> {
    // All checks come before the first write: a log goes on after a change that is refused, so nothing of it may stay.
    let mut view = RevertedView {
        writing,
        changed: BTreeMap::new(),
    };
    let mut steps = Vec::new();
    for seq in seqs {
        let changed = restored(&view, now, seq)?;
        for record in &changed {
            view.changed.insert(record.id, record.clone());
        }
        steps.push((seq, changed));
    }
    let mut done = Done::default();
    for (undone, changed) in steps {
        for record in &changed {
            if let Some(key) = &record.provenance.source_key
                && writing.by_source(key)?.is_none()
            {
                writing.set_source(key, record.id)?;
            }
        }
        put_all(writing, &changed)?;
        let records: Vec<_> = changed.iter().map(|record| record.id).collect();
        let change = Change::Reverted {
            undone,
            records: records.clone(),
        };
        let change = writing.append(now, reason, change, &records)?;
        writing.set_reverted(undone, change.seq)?;
        done.extend(Done::of(change, changed));
    }
    Ok(done)
}

/// The records in the file, as they will be once the earlier changes of the same call are taken back.
struct RevertedView<'w, 't> {
    writing: &'w Writing<'t>,
    changed: BTreeMap<RecordId, Record>,
}

impl RevertedView<'_, '_> {
    fn record(&self, id: RecordId) -> Result<Option<Record>, Fault> {
        match self.changed.get(&id) {
            Some(changed) => Ok(Some(changed.clone())),
            None => self.writing.record(id),
        }
    }
}

/// The records that change `seq` touched, as they are without it.
fn restored(view: &RevertedView<'_, '_>, now: Timestamp, seq: ChangeSeq) -> Step<Vec<Record>> {
    let stored = stored(view, seq)?;
    check_in_effect(view.writing, &stored)?;
    opposite(view, now, (&stored).into(), stored.change, Way::Back)
}

/// Refuses a change that was taken back already.
pub(super) fn check_in_effect(writing: &Writing<'_>, change: &StoredChange) -> Step<()> {
    let Some(by) = undone_by(writing, change.seq)? else {
        return Ok(());
    };
    let by = writing.change(by)?;
    let by = by.ok_or_else(|| refuse(ChangeError::UnknownChange(change.seq)))?;
    Err(refuse(ChangeError::AlreadyReverted {
        change: change.into(),
        by: (&by).into(),
    }))
}

fn stored(view: &RevertedView<'_, '_>, seq: ChangeSeq) -> Step<StoredChange> {
    let found = view.writing.change(seq)?;
    found.ok_or_else(|| refuse(ChangeError::UnknownChange(seq)))
}

/// The change that took this one back, unless it was taken back itself: then this one has its effect again.
fn undone_by(writing: &Writing<'_>, seq: ChangeSeq) -> Result<Option<ChangeSeq>, Fault> {
    let first = writing.reverted_by(seq)?;
    let (mut next, mut is_undone) = (first, false);
    // A change is taken back by a later one, so this ends.
    while let Some(by) = next {
        is_undone = !is_undone;
        next = writing.reverted_by(by)?;
    }
    Ok(first.filter(|_| is_undone))
}

/// Whether the effect of a change is taken back, or made again.
#[derive(Clone, Copy)]
enum Way<'r> {
    Back,
    /// With the records that were restored or added when it was taken back.
    Again(&'r [RecordId]),
}

impl Way<'_> {
    /// For a value that a change set from `before` to `after`: the value it must have now, and the value to set.
    fn of<T>(self, before: T, after: T) -> (T, T) {
        match self {
            Self::Back => (after, before),
            Self::Again(_) => (before, after),
        }
    }
}

/// The records of a change, with its effect taken back or made again, if they are still as change `by` left them.
fn opposite(
    view: &RevertedView<'_, '_>,
    now: Timestamp,
    by: ChangeRef,
    change: Change,
    way: Way<'_>,
) -> Step<Vec<Record>> {
    let status = |record, (from, to)| set_status(view, by, record, from, to);
    let (live, withdrawn) = (RecordStatus::Live, RecordStatus::Withdrawn);
    let each = |records: &[RecordId], from_to| -> Step<Vec<Record>> {
        let records = records.iter();
        records.map(|record| status(*record, from_to)).collect()
    };
    match change {
        Change::Added { record } => each(&[record], way.of(withdrawn, live)),
        Change::Withdrawn {
            record,
            status_before,
        } => each(&[record], way.of(status_before, withdrawn)),
        Change::Folded { records, into } => {
            let folded = RecordStatus::Folded { into };
            let records = records.into_iter();
            let each = records.map(|(record, before)| status(record, way.of(before, folded)));
            each.collect()
        }
        Change::Superseded {
            record,
            by: newer,
            until,
            had_until,
            status_before,
        } => {
            let superseded = (RecordStatus::Superseded { by: newer }, Some(until));
            let (from, to) = way.of((status_before, had_until), superseded);
            Ok(vec![set_validity(view, by, record, from, to)?])
        }
        Change::Linked { a, b, kind, weight } => [(a, b), (b, a)]
            .map(|(from, to)| set_link(view, by, from, Link { to, kind, weight }, way))
            .into_iter()
            .collect(),
        Change::Published { record, had } => {
            let (from, to) = way.of(had, Some(Audience::Public));
            Ok(vec![set_audience(view, by, record, from.as_ref(), to)?])
        }
        Change::Ignored { note, .. } => match way {
            Way::Back => Ok(vec![added(view, now, by, *note)?]),
            Way::Again(records) => each(records, (live, withdrawn)),
        },
        Change::Reverted { undone, records } => {
            let undone = stored(view, undone)?;
            match (way, &undone.change) {
                (Way::Back, _) => opposite(view, now, by, undone.change, Way::Again(&records)),
                // The record that was added for the note is there already.
                (Way::Again(records), Change::Ignored { .. }) => each(records, (withdrawn, live)),
                (Way::Again(_), _) => {
                    opposite(view, now, (&undone).into(), undone.change, Way::Back)
                }
            }
        }
        Change::Erased { .. } => Err(refuse(ChangeError::Erased(by))),
        // In a memory without a log, these are undone by an opposite change, which the caller must choose.
        Change::Entity { .. } => Err(refuse(ChangeError::NotRevertible(by))),
    }
}

/// The note that was ignored, as a record.
fn added(view: &RevertedView<'_, '_>, now: Timestamp, by: ChangeRef, note: Record) -> Step<Record> {
    if note.text.is_empty() {
        return Err(refuse(ChangeError::Erased(by)));
    }
    if let Some(key) = &note.provenance.source_key
        && let Some(there) = view.writing.by_source(key)?
    {
        // The note was added in another way since, and each source has only one record.
        return Err(changed_since(by, there));
    }
    Ok(Record {
        id: view.writing.next_record()?,
        recorded_at: now,
        ..note
    })
}

fn changed_since(change: ChangeRef, record: RecordId) -> Abort<ChangeError> {
    refuse(ChangeError::ChangedSince { change, record })
}

/// The record, if its status is the one that the change gave it.
fn as_left(
    view: &RevertedView<'_, '_>,
    change: ChangeRef,
    id: RecordId,
    left: RecordStatus,
) -> Step<Record> {
    let record = there(view.record(id)?)?;
    if record.status != left || record.text.is_empty() {
        return Err(changed_since(change, id));
    }
    Ok(record)
}

fn set_status(
    view: &RevertedView<'_, '_>,
    change: ChangeRef,
    id: RecordId,
    from: RecordStatus,
    to: RecordStatus,
) -> Step<Record> {
    let mut record = as_left(view, change, id, from)?;
    record.status = to;
    Ok(record)
}

fn set_validity(
    view: &RevertedView<'_, '_>,
    change: ChangeRef,
    id: RecordId,
    from: (RecordStatus, Option<Timestamp>),
    to: (RecordStatus, Option<Timestamp>),
) -> Step<Record> {
    let mut record = as_left(view, change, id, from.0)?;
    if record.valid_until != from.1 {
        return Err(changed_since(change, id));
    }
    (record.status, record.valid_until) = to;
    Ok(record)
}

fn set_link(
    view: &RevertedView<'_, '_>,
    change: ChangeRef,
    id: RecordId,
    link: Link,
    way: Way<'_>,
) -> Step<Record> {
    let mut record = there(view.record(id)?)?;
    let is_same = |other: &Link| other.to == link.to && other.kind == link.kind;
    let is_as_left = match way {
        Way::Back => record.links.contains(&link),
        Way::Again(_) => !record.text.is_empty() && !record.links.iter().any(is_same),
    };
    if !is_as_left {
        return Err(changed_since(change, id));
    }
    match way {
        Way::Back => record.links.retain(|other| !is_same(other)),
        Way::Again(_) => record.links.push(link),
    }
    Ok(record)
}

fn set_audience(
    view: &RevertedView<'_, '_>,
    change: ChangeRef,
    id: RecordId,
    from: Option<&Audience>,
    to: Option<Audience>,
) -> Step<Record> {
    let mut record = there(view.record(id)?)?;
    if record.audience.as_ref() != from || record.text.is_empty() {
        return Err(changed_since(change, id));
    }
    record.audience = to;
    Ok(record)
}
