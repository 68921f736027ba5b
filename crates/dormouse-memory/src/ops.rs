//! The changes of records, each decided within one transaction and written down with its reason.

mod revert;

use dormouse_contracts::Timestamp;

use crate::{
    change::{Change, ChangeSeq, StoredChange},
    note::{Note, NoteError},
    record::{Link, LinkKind, Record, RecordId, Standing},
    store::{Abort, Fault, Writing},
};
pub(crate) use revert::revert;

/// Why a change was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// What was given to remember does not fit.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// There is no such record.
    #[error("there is no record {0}")]
    Unknown(RecordId),
    /// The record is not recalled any more, so that nothing new can become of it.
    #[error("{record} is {standing}; restore it first")]
    NotInUse {
        /// The record.
        record: RecordId,
        /// How it stands, in a word.
        standing: &'static str,
    },
    /// A record cannot be linked to, folded into or superseded by itself.
    #[error("{0} cannot be changed into, or linked with, itself")]
    Itself(RecordId),
    /// It cannot have ceased before it began.
    #[error("{record} is so since {from}: it cannot have ceased at {until}, which is earlier")]
    Ended {
        /// The record.
        record: RecordId,
        /// Since when it is so.
        from: Timestamp,
        /// The end that was asked for.
        until: Timestamp,
    },
    /// A weight outside `0.0..=1.0`.
    #[error("{0} is no weight of a link: it must be between 0 and 1")]
    Weight(f32),
    /// There is no such change.
    #[error("there is no change {0}")]
    UnknownChange(ChangeSeq),
    /// The change has been taken back already.
    #[error("change {seq} was taken back by change {by}")]
    AlreadyReverted {
        /// The change.
        seq: ChangeSeq,
        /// The one that took it back.
        by: ChangeSeq,
    },
    /// Something else has happened to what it changed. Take that back first.
    #[error(
        "{record} has changed since change {seq}: take back what came after it first (`why {record}` lists it)"
    )]
    ChangedSince {
        /// The change.
        seq: ChangeSeq,
        /// The record that is no longer as the change left it.
        record: RecordId,
    },
    /// Erasing is for good, also for a note that was ignored because the erased record said it.
    #[error("the text of change {0} was erased for good: it cannot be taken back")]
    Erased(ChangeSeq),
    /// The change has an opposite of its own.
    #[error("change {0} is not taken back but undone: unmerge, restore, or change it once more")]
    NotRevertible(ChangeSeq),
    /// What is known of people and things refuses the change.
    #[error(transparent)]
    Entity(#[from] dormouse_entities::EntityChangeError),
}

/// What a transaction did: the changes it wrote, and the records as they are after it.
#[derive(Debug, Default)]
pub(crate) struct Done {
    pub(crate) changes: Vec<StoredChange>,
    pub(crate) records: Vec<Record>,
}

impl Done {
    pub(crate) fn of(change: StoredChange, records: Vec<Record>) -> Self {
        Self {
            changes: vec![change],
            records,
        }
    }

    pub(crate) fn extend(&mut self, other: Self) {
        self.changes.extend(other.changes);
        self.records.extend(other.records);
    }
}

/// A transaction's step: a fault of the file, or a refusal.
pub(crate) type Step<T> = Result<T, Abort<ChangeError>>;

/// How a record came into the store, or why it need not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Added {
    /// It is new.
    New(RecordId),
    /// A record of the same origin was there; nothing was changed.
    AlreadyThere(RecordId),
}

impl Added {
    /// The record, new or not.
    #[must_use]
    pub fn id(self) -> RecordId {
        match self {
            Self::New(id) | Self::AlreadyThere(id) => id,
        }
    }
}

/// Adds a note. It is never believed more than the records it is made of.
pub(crate) fn add(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    note: Note,
) -> Step<(Added, Done)> {
    note.check().map_err(refuse)?;
    if let Some(origin) = &note.lineage.origin
        && let Some(there) = writing.by_origin(origin)?
    {
        return Ok((Added::AlreadyThere(there), Done::default()));
    }
    let mut record = believed(writing, record_of(note, now))?;
    record.id = writing.next_record()?;
    if let Some(origin) = &record.lineage.origin {
        writing.set_origin(origin, record.id)?;
    }
    writing.put(&record)?;
    let change = Change::Added { record: record.id };
    let change = writing.append(now, reason, change, &[record.id])?;
    Ok((Added::New(record.id), Done::of(change, vec![record])))
}

/// The record with no more trust than what it is made of, if its times fit too.
fn believed(writing: &Writing<'_>, mut record: Record) -> Step<Record> {
    let from = record.valid_from;
    if let Some(until) = record.valid_until.filter(|until| *until < from) {
        // A note that does not say when it was said is checked here only.
        return Err(refuse(NoteError::Ended { from, until }));
    }
    for source in &record.lineage.derived_from {
        let source = get(writing, *source)?;
        record.trust = record.trust.lowest(source.trust);
    }
    Ok(record)
}

/// The record a note becomes, before it has a number.
pub(crate) fn record_of(note: Note, now: Timestamp) -> Record {
    let at = note.at.unwrap_or(now);
    Record {
        id: RecordId(0),
        text: note.text,
        kind: note.kind,
        shelf: note.shelf,
        at,
        recorded_at: now,
        speaker: note.speaker,
        thread: note.thread,
        trust: note.trust,
        tags: note.tags,
        lineage: note.lineage,
        valid_from: note.valid_from.unwrap_or(at),
        valid_until: note.valid_until,
        standing: Standing::Live,
        links: Vec::new(),
    }
}

/// Writes down that a note was not kept, so that the decision can be looked at and taken back.
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
    let note = Box::new(believed(writing, record_of(note, now))?);
    let change = Change::Ignored { note, like };
    let touched: Vec<_> = like.into_iter().collect();
    let change = writing.append(now, reason, change, &touched)?;
    Ok(Done::of(change, Vec::new()))
}

/// Ends the validity of a record; `by` took its place, if anything did. Nothing is overwritten.
pub(crate) fn supersede(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    old: RecordId,
    by: Option<RecordId>,
    until: Timestamp,
) -> Step<Done> {
    let mut record = in_use(writing, old)?;
    // What has ceased already does not become so again.
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
        stood: record.standing,
    };
    record.valid_until = Some(until);
    record.standing = Standing::Superseded { by };
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
    let mut stood = Vec::new();
    let mut changed = Vec::new();
    for id in records {
        if *id == into {
            return Err(refuse(ChangeError::Itself(into)));
        }
        let mut record = in_use(writing, *id)?;
        stood.push((*id, record.standing));
        record.standing = Standing::Folded { into };
        writing.put(&record)?;
        changed.push(record);
    }
    let mut touched = records.to_vec();
    touched.push(into);
    let change = Change::Folded {
        records: stood,
        into,
    };
    let change = writing.append(now, reason, change, &touched)?;
    Ok(Done::of(change, changed))
}

/// Takes a record out; [`revert`] puts it back.
pub(crate) fn withdraw(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    id: RecordId,
) -> Step<Done> {
    let mut record = in_use(writing, id)?;
    let change = Change::Withdrawn {
        record: id,
        stood: record.standing,
    };
    record.standing = Standing::Withdrawn;
    writing.put(&record)?;
    let change = writing.append(now, reason, change, &[id])?;
    Ok(Done::of(change, vec![record]))
}

/// Removes a record's text for good. Its number, its place and that it was erased stay.
pub(crate) fn erase(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    id: RecordId,
) -> Step<Done> {
    let mut record = get(writing, id)?;
    blank(&mut record);
    record.standing = Standing::Withdrawn;
    writing.put(&record)?;
    for stored in writing.history(id)? {
        // What was not kept since this record says it, and what was not kept at first and became this record.
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
    record.speaker = None;
    record.tags.clear();
}

/// Gives records another origin, because what they were made of is not to be found there any more.
pub(crate) fn detach(
    writing: &mut Writing<'_>,
    now: Timestamp,
    reason: &str,
    records: Vec<RecordId>,
) -> Step<Done> {
    let mut changed = Vec::new();
    for id in &records {
        let mut record = get(writing, *id)?;
        if let Some(origin) = record.lineage.origin.take() {
            writing.remove_origin(&origin)?;
            // The record's number keeps it apart from records that lose the same origin another time.
            let former = format!("{id}/{origin}");
            writing.set_origin(&former, *id)?;
            record.lineage.origin = Some(former);
        }
        writing.put(&record)?;
        changed.push(record);
    }
    let touched = records.clone();
    let change = writing.append(now, reason, Change::Detached { records }, &touched)?;
    Ok(Done::of(change, changed))
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
        writing.put(&record)?;
        changed.push(record);
    }
    let change = writing.append(now, reason, Change::Linked { a, b, kind, weight }, &[a, b])?;
    Ok(Done::of(change, changed))
}

fn get(writing: &Writing<'_>, id: RecordId) -> Step<Record> {
    writing
        .record(id)?
        .ok_or_else(|| refuse(ChangeError::Unknown(id)))
}

fn in_use(writing: &Writing<'_>, id: RecordId) -> Step<Record> {
    let record = get(writing, id)?;
    let standing = match record.standing {
        Standing::Live | Standing::Superseded { .. } => return Ok(record),
        Standing::Folded { .. } => "part of another",
        Standing::Withdrawn => "withdrawn",
    };
    Err(refuse(ChangeError::NotInUse {
        record: id,
        standing,
    }))
}

pub(crate) fn refuse(error: impl Into<ChangeError>) -> Abort<ChangeError> {
    Abort::Refused(error.into())
}

/// A row that another row refers to, and that must therefore be there.
fn there<T>(found: Option<T>) -> Result<T, Fault> {
    found.ok_or(Fault::Refers("a change names a record that is not there"))
}
