//! Applying what a model made of records: one change of the log, with everything that follows from it.

use dormouse_contracts::{Audience, Seq, Timestamp};

use super::{
    Added, add, ignore, link,
    step::{ChangeError, Done, Step, refuse},
    supersede,
};
use crate::{
    change::ExtractedFact,
    record::{LinkKind, RecordId},
    store::{Abort, Writing, tables},
    write::Decision,
};

/// The weight of a link to a record that a fact contradicts but may not replace. It is the same as in an extraction
/// plan.
const CONTRADICTS: f32 = 0.7;

/// Adds the facts, each as a part of the event, in order and from 1, and marks the records as read.
///
/// A fact is left out if one of its sources is no longer in use: nothing is made from a record that was withdrawn or
/// erased meanwhile.
pub(crate) fn extracted(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    event: Seq,
    facts: Vec<ExtractedFact>,
    records: &[RecordId],
) -> Step<(Vec<Added>, Done)> {
    // All checks come first: a log goes on after a change that is refused.
    for record in records {
        if writing.state(&tables::extracted(*record))? > 0 {
            return Err(refuse(ChangeError::AlreadyRead(*record)));
        }
    }
    for fact in &facts {
        fact.note.check().map_err(refuse)?;
    }
    let parts = u32::try_from(facts.len()).map_err(|_too_many| refuse(ChangeError::Parts))?;
    let whole = RecordId::event(event);
    whole
        .part(parts)
        .ok_or_else(|| refuse(ChangeError::Parts))?;
    let mut done = Done::default();
    let mut added = Vec::new();
    // The model that made the facts was shown all of these records, whichever it names as sources.
    let shown = party_to_all(writing, records)?;
    for (mut fact, part) in facts.into_iter().zip(1_u32..) {
        let id = whole.part(part).ok_or_else(|| refuse(ChangeError::Parts))?;
        fact.note = fact.note.known_to(shown.clone());
        if all_in_use(writing, &fact.note.provenance.derived_from)? {
            let reason = match fact.reason.is_empty() {
                true => reason.to_owned(),
                false => fact.reason.clone(),
            };
            added.extend(write_one(writing, now, &reason, id, fact, &mut done)?);
        }
    }
    for record in records {
        // The number of an event is never 0.
        writing.set_state(&tables::extracted(*record), event.0)?;
    }
    Ok((added, done))
}

/// Who perceived all of these records.
fn party_to_all(writing: &Writing<'_>, records: &[RecordId]) -> Step<Audience> {
    let mut known_to = match records {
        [] => Audience::nobody(),
        _ => Audience::Public,
    };
    for record in records {
        let found = writing.record(*record)?;
        let audience = found.map_or(Audience::nobody(), |found| found.known_to());
        known_to = known_to.intersection(&audience);
    }
    Ok(known_to)
}

fn all_in_use(writing: &Writing<'_>, records: &[RecordId]) -> Step<bool> {
    for record in records {
        let found = writing.record(*record)?;
        if !found.is_some_and(|found| found.is_in_use()) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn write_one(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    id: RecordId,
    fact: ExtractedFact,
    done: &mut Done,
) -> Step<Option<Added>> {
    let ExtractedFact { note, decision, .. } = fact;
    if let Decision::Ignore { like } = decision {
        let like = match like {
            Some(like) => writing.record(like)?.map(|found| found.id),
            None => None,
        };
        done.extend(unless_refused(ignore(writing, now, reason, note, like))?.unwrap_or_default());
        return Ok(None);
    }
    let since = note.valid_from.or(note.at).unwrap_or(now);
    let Some((added, more)) = unless_refused(add(writing, now, reason, Some(id), note))? else {
        return Ok(None);
    };
    done.extend(more);
    let Added::New(id) = added else {
        return Ok(Some(added));
    };
    let step = match decision {
        // The plan follows this rule, too. It is checked again here, because the record may have changed since the plan
        // was made.
        Decision::Supersede { old } if !may_supersede(writing, id, old)? => {
            let kind = LinkKind::Contradicts;
            link(writing, now, reason, (id, old), kind, CONTRADICTS)
        }
        Decision::Supersede { old } => {
            // The old record may begin later than the fact; its validity cannot end before it begins.
            let until = writing
                .record(old)?
                .map_or(since, |old| since.max(old.valid_from));
            supersede(writing, now, reason, old, Some(id), until)
        }
        Decision::Link { to, kind, weight } => link(writing, now, reason, (id, to), kind, weight),
        Decision::Add | Decision::Ignore { .. } => Ok(Done::default()),
    };
    // The other record may have been folded or withdrawn since the decision; then the fact is only added.
    done.extend(unless_refused(step)?.unwrap_or_default());
    Ok(Some(added))
}

/// Whether the record of a fact may replace another one.
fn may_supersede(writing: &Writing<'_>, fact: RecordId, old: RecordId) -> Step<bool> {
    let (Some(fact), Some(old)) = (writing.record(fact)?, writing.record(old)?) else {
        return Ok(false);
    };
    Ok(old.may_be_superseded(fact.trust, &fact.known_to(), fact.at))
}

/// `None` if the step was refused. Each step makes all its checks before it writes.
fn unless_refused<T>(step: Step<T>) -> Step<Option<T>> {
    match step {
        Ok(value) => Ok(Some(value)),
        Err(Abort::Refused(_)) => Ok(None),
        Err(abort @ Abort::Fault(_)) => Err(abort),
    }
}
