//! The changes of records. Each is decided within one transaction and stored with its reason.

mod decided;
mod extracted;
mod people;
mod revert;
mod step;

use dormouse_contracts::{Attribution, Audience, FORGOTTEN, Seq, Timestamp};

use crate::{
    change::Change,
    note::{Note, NoteError},
    record::{Link, LinkKind, Record, RecordId, RecordStatus},
    store::{Fault, Writing},
    transfer::source_key::own_record,
};
pub(crate) use decided::decided;
pub(crate) use people::{change_entity, opposite};
pub(crate) use revert::revert;
pub use step::{ChangeError, ChangeRef};
pub(crate) use step::{Done, Step, refuse};

/// The result of adding a note.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// A new record.
    New(RecordId),
    /// A record of the same source exists; nothing was changed.
    AlreadyThere(RecordId),
}

impl Added {
    /// The record, new or existing.
    #[must_use]
    pub fn id(self) -> RecordId {
        match self {
            Self::New(id) | Self::AlreadyThere(id) => id,
        }
    }
}

/// Adds a note under this id, or under the next one that is free. Its trust is at most that of the records it is made
/// from.
pub(crate) fn add(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    id: Option<RecordId>,
    note: Note,
) -> Step<(Added, Done)> {
    note.check().map_err(refuse)?;
    if let Some(there) = known(writing, id, &note)? {
        return Ok((Added::AlreadyThere(there), Done::default()));
    }
    let record = believed(writing, record_of(note, now))?;
    put_new(writing, now, reason, id, record)
}

/// Adds a note that follows from an event of the log. Its sources need not be records, and its trust and its audience are those
/// of the event.
pub(crate) fn note(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    id: RecordId,
    note: Note,
) -> Step<(Added, Done)> {
    note.check().map_err(refuse)?;
    if let Some(there) = known(writing, Some(id), &note)? {
        return Ok((Added::AlreadyThere(there), Done::default()));
    }
    put_new(writing, now, reason, Some(id), record_of(note, now))
}

fn put_new(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    id: Option<RecordId>,
    mut record: Record,
) -> Step<(Added, Done)> {
    record.id = match id {
        Some(id) => id,
        None => writing.next_record()?,
    };
    if record.text == FORGOTTEN {
        // The record stays, because others name it as their source, and its audience bounds theirs.
        blank(&mut record);
        record.status = RecordStatus::Withdrawn;
    }
    if let Some(key) = &record.provenance.source_key {
        writing.set_source(key, record.id)?;
    }
    writing.put(&record)?;
    let change = Change::Added { record: record.id };
    let change = writing.append(now, reason, change, &[record.id])?;
    Ok((Added::New(record.id), Done::of(change, vec![record])))
}

/// The existing record that was made from the same source.
fn known(writing: &Writing<'_>, id: Option<RecordId>, note: &Note) -> Step<Option<RecordId>> {
    if let Some(id) = id
        && writing.record(id)?.is_some()
    {
        return Ok(Some(id));
    }
    let Some(key) = &note.provenance.source_key else {
        return Ok(None);
    };
    if let Some(there) = writing.by_source(key)? {
        return Ok(Some(there));
    }
    let Some(own) = own_record(writing.assistant(), key) else {
        return Ok(None);
    };
    // The text is compared because the file may come from a former log of the same assistant. An erased record has no
    // text, and must not come back.
    let own = writing.record(own)?;
    let own = own.filter(|own| own.text == note.text || own.text.is_empty());
    Ok(own.map(|own| own.id))
}

/// The record with at most the trust and the audience of its sources, if its times fit.
fn believed(writing: &Writing<'_>, mut record: Record) -> Step<Record> {
    let from = record.valid_from;
    if let Some(until) = record.valid_until.filter(|until| *until < from) {
        // `Note::check` cannot see this for a note without a time of its own: it begins now.
        return Err(refuse(NoteError::Ended { from, until }));
    }
    for source in &record.provenance.derived_from {
        let source = get(writing, *source)?;
        record.trust = record.trust.lowest(source.trust);
        let known_to = source.known_to();
        record.audience = Some(match record.audience {
            Some(audience) => audience.intersection(&known_to),
            None => known_to,
        });
    }
    Ok(record)
}

/// The record a note becomes, before it has an id.
pub(crate) fn record_of(note: Note, now: Timestamp) -> Record {
    let at = note.at.unwrap_or(now);
    Record {
        id: RecordId::event(Seq(0)),
        text: note.text,
        kind: note.kind,
        collection: note.collection,
        at,
        recorded_at: now,
        speaker: note.speaker,
        thread: note.thread,
        heard_as: note.heard_as,
        place: note.place,
        trust: note.trust,
        audience: note.audience,
        tags: note.tags,
        provenance: note.provenance,
        valid_from: note.valid_from.unwrap_or(at),
        valid_until: note.valid_until,
        status: RecordStatus::Live,
        links: Vec::new(),
    }
}

/// Records that a note was not kept, so that the decision can be inspected and taken back.
pub(crate) fn ignore(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    note: Note,
    like: Option<RecordId>,
) -> Step<Done> {
    note.check().map_err(refuse)?;
    if let Some(like) = like {
        get(writing, like)?;
    }
    let mut note = Box::new(believed(writing, record_of(note, now))?);
    if note.text == FORGOTTEN {
        blank(&mut note);
    }
    let change = Change::Ignored { note, like };
    let touched: Vec<_> = like.into_iter().collect();
    let change = writing.append(now, reason, change, &touched)?;
    Ok(Done::of(change, Vec::new()))
}

/// Ends the validity of a record that `by` replaces, if anything does. Nothing is overwritten.
pub(crate) fn supersede(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    old: RecordId,
    by: Option<RecordId>,
    until: Timestamp,
) -> Step<Done> {
    let mut record = in_use(writing, old)?;
    // A record that ended earlier must not become valid for longer because it is superseded later.
    let until = record.valid_until.map_or(until, |had| had.min(until));
    let mut touched = vec![old];
    if let Some(by) = by {
        if by == old {
            return Err(refuse(ChangeError::Itself(old)));
        }
        in_use(writing, by)?;
        touched.push(by);
    }
    if until < record.valid_from {
        return Err(refuse(ChangeError::Ended {
            record: old,
            from: record.valid_from,
            until,
        }));
    }
    let change = Change::Superseded {
        record: old,
        by,
        until,
        had_until: record.valid_until,
        status_before: record.status,
    };
    record.valid_until = Some(until);
    record.status = RecordStatus::Superseded { by };
    writing.put(&record)?;
    let change = writing.append(now, reason, change, &touched)?;
    Ok(Done::of(change, vec![record]))
}

/// Makes records part of one that says the same.
pub(crate) fn fold(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    records: &[RecordId],
    into: RecordId,
) -> Step<Done> {
    in_use(writing, into)?;
    let mut folded = Vec::new();
    let mut changed = Vec::new();
    for id in records {
        if *id == into {
            return Err(refuse(ChangeError::Itself(into)));
        }
        let mut record = in_use(writing, *id)?;
        folded.push((*id, record.status));
        record.status = RecordStatus::Folded { into };
        changed.push(record);
    }
    // Written only after all checks: a log goes on after a change that is refused, so nothing of it may stay.
    put_all(writing, &changed)?;
    let mut touched = records.to_vec();
    touched.push(into);
    let change = Change::Folded {
        records: folded,
        into,
    };
    let change = writing.append(now, reason, change, &touched)?;
    Ok(Done::of(change, changed))
}

/// Takes a record out of recall; [`revert`] puts it back.
pub(crate) fn withdraw(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    id: RecordId,
) -> Step<Done> {
    let mut record = in_use(writing, id)?;
    let change = Change::Withdrawn {
        record: id,
        status_before: record.status,
    };
    record.status = RecordStatus::Withdrawn;
    writing.put(&record)?;
    let change = writing.append(now, reason, change, &[id])?;
    Ok(Done::of(change, vec![record]))
}

/// Makes a record known to everyone; [`revert`] takes that back.
pub(crate) fn publish(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    id: RecordId,
) -> Step<Done> {
    let mut record = in_use(writing, id)?;
    let change = Change::Published {
        record: id,
        had: record.audience.replace(Audience::Public),
    };
    writing.put(&record)?;
    let change = writing.append(now, reason, change, &[id])?;
    Ok(Done::of(change, vec![record]))
}

/// Removes a record's text for good. Its id, its thread and the fact that it was erased stay.
pub(crate) fn erase(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    id: RecordId,
) -> Step<Done> {
    let mut record = get(writing, id)?;
    blank(&mut record);
    record.status = RecordStatus::Withdrawn;
    writing.put(&record)?;
    for stored in writing.history(id)? {
        // Ignored notes have the text, too: notes that were ignored because this record says the same, and the note
        // that became this record when the decision to ignore it was taken back.
        let said_it = match stored.change {
            Change::Reverted { undone, .. } => writing.change(undone)?,
            _ => Some(stored),
        };
        if let Some(mut stored) = said_it
            && let Change::Ignored { note, .. } = &mut stored.change
        {
            blank(note);
            writing.put_change(&stored)?;
        }
    }
    writing.remove_vectors(id)?;
    let change = writing.append(now, reason, Change::Erased { record: id }, &[id])?;
    Ok(Done::of(change, vec![record]))
}

fn blank(record: &mut Record) {
    record.text = String::new();
    record.speaker = Attribution::Unknown;
    record.place = None;
    record.tags.clear();
}

/// Links two records, both ways. A link of the same kind between them is replaced.
pub(crate) fn link(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    (a, b): (RecordId, RecordId),
    kind: LinkKind,
    weight: f32,
) -> Step<Done> {
    if a == b {
        return Err(refuse(ChangeError::Itself(a)));
    }
    if !(0.0..=1.0).contains(&weight) {
        return Err(refuse(ChangeError::Weight(weight)));
    }
    let mut changed = Vec::new();
    for (from, to) in [(a, b), (b, a)] {
        let mut record = in_use(writing, from)?;
        record
            .links
            .retain(|link| link.to != to || link.kind != kind);
        record.links.push(Link { to, kind, weight });
        changed.push(record);
    }
    put_all(writing, &changed)?;
    let change = writing.append(now, reason, Change::Linked { a, b, kind, weight }, &[a, b])?;
    Ok(Done::of(change, changed))
}

fn put_all(writing: &mut Writing<'_>, records: &[Record]) -> Result<(), Fault> {
    records.iter().try_for_each(|record| writing.put(record))
}

fn get(writing: &Writing<'_>, id: RecordId) -> Step<Record> {
    writing
        .record(id)?
        .ok_or_else(|| refuse(ChangeError::Unknown(id)))
}

fn in_use(writing: &Writing<'_>, id: RecordId) -> Step<Record> {
    let record = get(writing, id)?;
    let status = match record.status {
        RecordStatus::Live | RecordStatus::Superseded { .. } => return Ok(record),
        RecordStatus::Folded { .. } => "part of another",
        RecordStatus::Withdrawn => "withdrawn",
    };
    Err(refuse(ChangeError::NotInUse { record: id, status }))
}
