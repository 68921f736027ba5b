//! Taking a change back.

use dormouse_contracts::Timestamp;

use super::{ChangeError, Done, Step, refuse, there};
use crate::{
    change::{Change, ChangeSeq},
    record::{Link, Record, RecordId, Standing},
    store::Writing,
};

/// Undoes change `seq`, if what it changed is still as it left it.
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
            vec![restand(
                writing,
                seq,
                record,
                Standing::Live,
                Standing::Withdrawn,
            )?]
        }
        Change::Withdrawn { record, stood } => {
            vec![restand(writing, seq, record, Standing::Withdrawn, stood)?]
        }
        Change::Folded { records, into } => {
            let mut changed = Vec::new();
            for (record, stood) in records {
                let folded = Standing::Folded { into };
                changed.push(restand(writing, seq, record, folded, stood)?);
            }
            changed
        }
        Change::Superseded {
            record,
            by,
            until,
            had_until,
            stood,
        } => {
            let superseded = Standing::Superseded { by };
            let mut back = as_left(writing, seq, record, superseded)?;
            if back.valid_until != Some(until) {
                return Err(refuse(ChangeError::ChangedSince { seq, record }));
            }
            back.valid_until = had_until;
            back.standing = stood;
            writing.put(&back)?;
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
                writing.put(&record)?;
                changed.push(record);
            }
            changed
        }
        Change::Ignored { note, .. } => {
            let mut record = *note;
            if record.text.is_empty() {
                return Err(refuse(ChangeError::Erased(seq)));
            }
            if let Some(origin) = &record.lineage.origin
                && let Some(there) = writing.by_origin(origin)?
            {
                // It has been added after all.
                return Err(refuse(ChangeError::ChangedSince { seq, record: there }));
            }
            record.id = writing.next_record()?;
            record.recorded_at = now;
            if let Some(origin) = &record.lineage.origin {
                writing.set_origin(origin, record.id)?;
            }
            writing.put(&record)?;
            vec![record]
        }
        Change::Erased { .. } => return Err(refuse(ChangeError::Erased(seq))),
        // What undoes these is the opposite change, which the one who asks must name.
        Change::Entity { .. } | Change::Reverted { .. } | Change::Detached { .. } => {
            return Err(refuse(ChangeError::NotRevertible(seq)));
        }
    };
    let touched: Vec<_> = changed.iter().map(|record| record.id).collect();
    let change = Change::Reverted {
        undone: seq,
        records: touched.clone(),
    };
    let change = writing.append(now, reason, change, &touched)?;
    writing.set_reverted(seq, change.seq)?;
    Ok(Done::of(change, changed))
}

/// The record, if it stands as the change left it.
fn as_left(writing: &Writing<'_>, seq: ChangeSeq, id: RecordId, left: Standing) -> Step<Record> {
    let record = there(writing.record(id)?)?;
    if record.standing != left || record.text.is_empty() {
        return Err(refuse(ChangeError::ChangedSince { seq, record: id }));
    }
    Ok(record)
}

fn restand(
    writing: &mut Writing<'_>,
    seq: ChangeSeq,
    id: RecordId,
    from: Standing,
    to: Standing,
) -> Step<Record> {
    let mut record = as_left(writing, seq, id, from)?;
    record.standing = to;
    writing.put(&record)?;
    Ok(record)
}
