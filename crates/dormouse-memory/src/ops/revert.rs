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
    // All checks come first: a log may go on after a change that is refused.
    let mut look = Look {
        writing,
        changed: BTreeMap::new(),
    };
    let mut steps = Vec::new();
    for seq in seqs {
        let changed = restored(&look, now, seq)?;
        for record in &changed {
            look.changed.insert(record.id, record.clone());
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

/// The records as they are in the file, or as changes that are taken back first leave them.
struct Look<'w, 't> {
    writing: &'w Writing<'t>,
    changed: BTreeMap<RecordId, Record>,
}

impl Look<'_, '_> {
    fn record(&self, id: RecordId) -> Result<Option<Record>, Fault> {
        match self.changed.get(&id) {
            Some(changed) => Ok(Some(changed.clone())),
            None => self.writing.record(id),
        }
    }
}

/// The records that change `seq` touched, without it.
fn restored(look: &Look<'_, '_>, now: Timestamp, seq: ChangeSeq) -> Step<Vec<Record>> {
    let stored = stored(look, seq)?;
    if let Some(by) = undone_by(look.writing, seq)? {
        return Err(refuse(ChangeError::AlreadyReverted {
            change: (&stored).into(),
            by: (&self::stored(look, by)?).into(),
        }));
    }
    taken_back(look, now, stored)
}

fn stored(look: &Look<'_, '_>, seq: ChangeSeq) -> Step<StoredChange> {
    let found = look.writing.change(seq)?;
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

/// The records of a change that has its effect, without it.
fn taken_back(look: &Look<'_, '_>, now: Timestamp, stored: StoredChange) -> Step<Vec<Record>> {
    let writing = look.writing;
    let by = ChangeRef::from(&stored);
    Ok(match stored.change {
        Change::Added { record } => {
            vec![set_status(
                look,
                by,
                record,
                RecordStatus::Live,
                RecordStatus::Withdrawn,
            )?]
        }
        Change::Withdrawn {
            record,
            status_before,
        } => {
            vec![set_status(
                look,
                by,
                record,
                RecordStatus::Withdrawn,
                status_before,
            )?]
        }
        Change::Folded { records, into } => {
            let mut changed = Vec::new();
            for (record, status_before) in records {
                let folded = RecordStatus::Folded { into };
                changed.push(set_status(look, by, record, folded, status_before)?);
            }
            changed
        }
        Change::Superseded {
            record,
            by: newer,
            until,
            had_until,
            status_before,
        } => {
            let superseded = (RecordStatus::Superseded { by: newer }, Some(until));
            vec![set_validity(
                look,
                by,
                record,
                superseded,
                (status_before, had_until),
            )?]
        }
        Change::Linked { a, b, kind, weight } => {
            let mut changed = Vec::new();
            for (from, to) in [(a, b), (b, a)] {
                let mut record = there(look.record(from)?)?;
                let left = Link { to, kind, weight };
                if !record.links.contains(&left) {
                    return Err(changed_since(by, from));
                }
                record
                    .links
                    .retain(|link| link.to != to || link.kind != kind);
                changed.push(record);
            }
            changed
        }
        Change::Ignored { note, .. } => {
            let mut record = *note;
            if record.text.is_empty() {
                return Err(refuse(ChangeError::Erased(by)));
            }
            if let Some(key) = &record.provenance.source_key
                && let Some(there) = writing.by_source(key)?
            {
                // The note was added by another way since: one source is one record.
                return Err(changed_since(by, there));
            }
            record.id = writing.next_record()?;
            record.recorded_at = now;
            vec![record]
        }
        Change::Published { record, had } => {
            vec![set_audience(
                look,
                by,
                record,
                Some(&Audience::Public),
                had,
            )?]
        }
        Change::Reverted { undone, records } => made_again(look, now, by, undone, records)?,
        Change::Erased { .. } => return Err(refuse(ChangeError::Erased(by))),
        // These are undone by an opposite change, which the caller must choose.
        Change::Entity { .. } => return Err(refuse(ChangeError::NotRevertible(by))),
    })
}

/// The records that change `by` restored or added when it took change `undone` back, with `undone` again.
fn made_again(
    look: &Look<'_, '_>,
    now: Timestamp,
    by: ChangeRef,
    undone: ChangeSeq,
    records: Vec<RecordId>,
) -> Step<Vec<Record>> {
    let each = |ids: Vec<RecordId>, from: RecordStatus, to: RecordStatus| -> Step<Vec<Record>> {
        let set = ids.into_iter().map(|id| set_status(look, by, id, from, to));
        set.collect()
    };
    let (live, withdrawn) = (RecordStatus::Live, RecordStatus::Withdrawn);
    let undone = stored(look, undone)?;
    match undone.change {
        Change::Added { record } => each(vec![record], withdrawn, live),
        Change::Withdrawn {
            record,
            status_before,
        } => each(vec![record], status_before, withdrawn),
        Change::Folded { records, into } => {
            let mut changed = Vec::new();
            for (record, status_before) in records {
                let folded = RecordStatus::Folded { into };
                changed.push(set_status(look, by, record, status_before, folded)?);
            }
            Ok(changed)
        }
        Change::Superseded {
            record,
            by: newer,
            until,
            had_until,
            status_before,
        } => {
            let superseded = (RecordStatus::Superseded { by: newer }, Some(until));
            let before = (status_before, had_until);
            Ok(vec![set_validity(look, by, record, before, superseded)?])
        }
        Change::Linked { a, b, kind, weight } => {
            let mut changed = Vec::new();
            for (from, to) in [(a, b), (b, a)] {
                let mut record = there(look.record(from)?)?;
                let is_linked = |link: &Link| link.to == to && link.kind == kind;
                if record.text.is_empty() || record.links.iter().any(is_linked) {
                    return Err(changed_since(by, from));
                }
                record.links.push(Link { to, kind, weight });
                changed.push(record);
            }
            Ok(changed)
        }
        Change::Published { record, had } => Ok(vec![set_audience(
            look,
            by,
            record,
            had.as_ref(),
            Some(Audience::Public),
        )?]),
        // Taking the decision back added the note as a record.
        Change::Ignored { .. } => each(records, live, withdrawn),
        Change::Reverted { undone: first, .. } => {
            let first = stored(look, first)?;
            match first.change {
                // The record that was added for the note is there already.
                Change::Ignored { .. } => each(records, withdrawn, live),
                _ => taken_back(look, now, first),
            }
        }
        Change::Erased { .. } => Err(refuse(ChangeError::Erased(by))),
        Change::Entity { .. } => Err(refuse(ChangeError::NotRevertible(by))),
    }
}

fn changed_since(change: ChangeRef, record: RecordId) -> Abort<ChangeError> {
    refuse(ChangeError::ChangedSince { change, record })
}

/// The record, if its status is the one that the change gave it.
fn as_left(
    look: &Look<'_, '_>,
    change: ChangeRef,
    id: RecordId,
    left: RecordStatus,
) -> Step<Record> {
    let record = there(look.record(id)?)?;
    if record.status != left || record.text.is_empty() {
        return Err(changed_since(change, id));
    }
    Ok(record)
}

fn set_status(
    look: &Look<'_, '_>,
    change: ChangeRef,
    id: RecordId,
    from: RecordStatus,
    to: RecordStatus,
) -> Step<Record> {
    let mut record = as_left(look, change, id, from)?;
    record.status = to;
    Ok(record)
}

fn set_validity(
    look: &Look<'_, '_>,
    change: ChangeRef,
    id: RecordId,
    from: (RecordStatus, Option<Timestamp>),
    to: (RecordStatus, Option<Timestamp>),
) -> Step<Record> {
    let mut record = as_left(look, change, id, from.0)?;
    if record.valid_until != from.1 {
        return Err(changed_since(change, id));
    }
    (record.status, record.valid_until) = to;
    Ok(record)
}

fn set_audience(
    look: &Look<'_, '_>,
    change: ChangeRef,
    id: RecordId,
    from: Option<&Audience>,
    to: Option<Audience>,
) -> Step<Record> {
    let mut record = there(look.record(id)?)?;
    if record.audience.as_ref() != from || record.text.is_empty() {
        return Err(changed_since(change, id));
    }
    record.audience = to;
    Ok(record)
}
