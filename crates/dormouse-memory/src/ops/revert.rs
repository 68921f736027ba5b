//! Taking a change back.

use std::collections::BTreeMap;

use dormouse_contracts::{Audience, Timestamp};

use super::{
    put_all,
    step::{ChangeError, Done, Step, refuse, there},
};
use crate::{
    change::{Change, ChangeSeq},
    record::{Link, Record, RecordId, RecordStatus},
    store::{Fault, Writing},
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
    let writing = look.writing;
    let stored = writing
        .change(seq)?
        .ok_or_else(|| refuse(ChangeError::UnknownChange(seq)))?;
    if let Some(by) = writing.reverted_by(seq)? {
        return Err(refuse(ChangeError::AlreadyReverted { seq, by }));
    }
    Ok(match stored.change {
        Change::Added { record } => {
            vec![set_status(
                look,
                seq,
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
                seq,
                record,
                RecordStatus::Withdrawn,
                status_before,
            )?]
        }
        Change::Folded { records, into } => {
            let mut changed = Vec::new();
            for (record, status_before) in records {
                let folded = RecordStatus::Folded { into };
                changed.push(set_status(look, seq, record, folded, status_before)?);
            }
            changed
        }
        Change::Superseded {
            record,
            by,
            until,
            had_until,
            status_before,
        } => {
            let superseded = RecordStatus::Superseded { by };
            let mut back = as_left(look, seq, record, superseded)?;
            if back.valid_until != Some(until) {
                return Err(refuse(ChangeError::ChangedSince { seq, record }));
            }
            back.valid_until = had_until;
            back.status = status_before;
            vec![back]
        }
        Change::Linked { a, b, kind, weight } => {
            let mut changed = Vec::new();
            for (from, to) in [(a, b), (b, a)] {
                let mut record = there(look.record(from)?)?;
                let left = Link { to, kind, weight };
                if !record.links.contains(&left) {
                    return Err(refuse(ChangeError::ChangedSince { seq, record: from }));
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
                return Err(refuse(ChangeError::Erased(seq)));
            }
            if let Some(key) = &record.provenance.source_key
                && let Some(there) = writing.by_source(key)?
            {
                // The note was added by another way since: one source is one record.
                return Err(refuse(ChangeError::ChangedSince { seq, record: there }));
            }
            record.id = writing.next_record()?;
            record.recorded_at = now;
            vec![record]
        }
        Change::Published { record, had } => {
            let mut back = there(writing.record(record)?)?;
            if back.audience != Some(Audience::Public) || back.text.is_empty() {
                return Err(refuse(ChangeError::ChangedSince { seq, record }));
            }
            back.audience = had;
            vec![back]
        }
        Change::Erased { .. } => return Err(refuse(ChangeError::Erased(seq))),
        // These are undone by an opposite change, which the caller must choose.
        Change::Entity { .. } | Change::Reverted { .. } => {
            return Err(refuse(ChangeError::NotRevertible(seq)));
        }
    })
}

/// The record, if its status is the one that the change gave it.
fn as_left(look: &Look<'_, '_>, seq: ChangeSeq, id: RecordId, left: RecordStatus) -> Step<Record> {
    let record = there(look.record(id)?)?;
    if record.status != left || record.text.is_empty() {
        return Err(refuse(ChangeError::ChangedSince { seq, record: id }));
    }
    Ok(record)
}

fn set_status(
    look: &Look<'_, '_>,
    seq: ChangeSeq,
    id: RecordId,
    from: RecordStatus,
    to: RecordStatus,
) -> Step<Record> {
    let mut record = as_left(look, seq, id, from)?;
    record.status = to;
    Ok(record)
}
