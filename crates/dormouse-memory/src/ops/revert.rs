//! Taking a change back.

use dormouse_contracts::Timestamp;

use super::{
    put_all,
    step::{ChangeError, Done, Step, refuse, there},
};
use crate::{
    change::{Change, ChangeSeq},
    record::{Link, Record, RecordId, RecordStatus},
    store::Writing,
};

/// Takes change `seq` back, if the records are still as the change left them.
pub(crate) fn revert(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    seq: ChangeSeq,
) -> Step<Done> {
    let stored = writing
        .change(seq)?
        .ok_or_else(|| refuse(ChangeError::UnknownChange(seq)))?;
    if let Some(by) = writing.reverted_by(seq)? {
        return Err(refuse(ChangeError::AlreadyReverted { seq, by }));
    }
    let changed = match stored.change {
        Change::Added { record } => {
            vec![set_status(
                writing,
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
                writing,
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
                changed.push(set_status(writing, seq, record, folded, status_before)?);
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
            let mut back = as_left(writing, seq, record, superseded)?;
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
                let mut record = there(writing.record(from)?)?;
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
            record.id = match writing.cause.event {
                Some(event) => RecordId::event(event),
                None => writing.next_record()?,
            };
            record.recorded_at = now;
            if let Some(key) = &record.provenance.source_key {
                writing.set_source(key, record.id)?;
            }
            vec![record]
        }
        Change::Erased { .. } => return Err(refuse(ChangeError::Erased(seq))),
        // These are undone by an opposite change, which the caller must choose.
        Change::Entity { .. } | Change::Reverted { .. } => {
            return Err(refuse(ChangeError::NotRevertible(seq)));
        }
    };
    // After all checks: a log may go on after a change that is refused.
    put_all(writing, &changed)?;
    let touched: Vec<_> = changed.iter().map(|record| record.id).collect();
    let change = Change::Reverted {
        undone: seq,
        records: touched.clone(),
    };
    let change = writing.append(now, reason, change, &touched)?;
    writing.set_reverted(seq, change.seq)?;
    Ok(Done::of(change, changed))
}

/// The record, if its status is the one that the change gave it.
fn as_left(
    writing: &Writing<'_>,
    seq: ChangeSeq,
    id: RecordId,
    left: RecordStatus,
) -> Step<Record> {
    let record = there(writing.record(id)?)?;
    if record.status != left || record.text.is_empty() {
        return Err(refuse(ChangeError::ChangedSince { seq, record: id }));
    }
    Ok(record)
}

fn set_status(
    writing: &Writing<'_>,
    seq: ChangeSeq,
    id: RecordId,
    from: RecordStatus,
    to: RecordStatus,
) -> Step<Record> {
    let mut record = as_left(writing, seq, id, from)?;
    record.status = to;
    Ok(record)
}
