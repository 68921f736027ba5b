//! What a step of a transaction returns: the changes that it wrote, or why it was refused.

use std::fmt;

use crate::{
    change::{ChangeSeq, StoredChange},
    note::NoteError,
    record::{Record, RecordId},
    store::{Abort, Fault},
};
use dormouse_contracts::{Origin, Seq, Timestamp};

/// A change as errors show it: by its event, which the user finds in the log. In a memory without a log, it is shown by
/// its sequence number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChangeRef {
    /// The change.
    pub seq: ChangeSeq,
    /// The event that it follows from.
    pub event: Option<Seq>,
}

impl From<&StoredChange> for ChangeRef {
    fn from(stored: &StoredChange) -> Self {
        Self {
            seq: stored.seq,
            event: stored.event,
        }
    }
}

impl fmt::Display for ChangeRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.event {
            Some(event) => write!(f, "event {event}"),
            None => write!(f, "change {}", self.seq),
        }
    }
}

/// Why a change was refused. Nothing was changed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ChangeError {
    /// The note is not valid.
    #[error(transparent)]
    Note(#[from] NoteError),
    /// The record does not exist.
    #[error("there is no record {0}")]
    Unknown(RecordId),
    /// The record is no longer in use, so it cannot be changed.
    #[error("record {record} is {status}; undo that first")]
    NotInUse {
        /// The record.
        record: RecordId,
        /// Its status, in a word.
        status: &'static str,
    },
    /// A record cannot be linked to, folded into or superseded by itself.
    #[error("record {0} cannot be changed into, or linked with, itself")]
    Itself(RecordId),
    /// The end is earlier than the beginning.
    #[error("record {record} is valid from {from}: it cannot end at {until}, which is earlier")]
    Ended {
        /// The record.
        record: RecordId,
        /// When it begins.
        from: Timestamp,
        /// The end that was asked for.
        until: Timestamp,
    },
    /// The weight is outside `0.0..=1.0`.
    #[error("the weight of a link is {0}; expected a number between 0 and 1")]
    Weight(f32),
    /// The change does not exist.
    #[error("there is no change {0}")]
    UnknownChange(ChangeSeq),
    /// The change was already taken back.
    #[error("{change} was undone by {by}; undo {by} to make it again")]
    AlreadyReverted {
        /// The change.
        change: ChangeRef,
        /// The one that took it back.
        by: ChangeRef,
    },
    /// A later change affects the same record. Take that one back first.
    #[error("record {record} has changed since {change}; undo what came after it first")]
    ChangedSince {
        /// The change.
        change: ChangeRef,
        /// The record that is no longer as the change left it.
        record: RecordId,
    },
    /// Erasing cannot be taken back. This includes notes that were ignored because the erased record said the same.
    #[error("{0} cannot be undone, because the text was erased for good")]
    Erased(ChangeRef),
    /// The event did nothing that can be taken back.
    #[error("event {0} of the log changed no record, and no profile by anybody's decision")]
    NothingToUndo(Seq),
    /// The memory follows a log, and only its log changes it.
    #[error(
        "the memory follows a log, so a change must be an event of that log: otherwise it would be lost when the memory is \
         made again"
    )]
    FollowsLog,
    /// Facts were made of the record before.
    #[error("facts were made of record {0} already")]
    AlreadyRead(RecordId),
    /// An event has more notes than it can have parts.
    #[error("one event holds at most {} notes", Origin::MAX_PART)]
    Parts,
    /// The change cannot be taken back, or only by an opposite change of its own.
    #[error(
        "{0} cannot be undone: it began or ended a conversation, removed something for good, or is undone by its opposite \
         (merge, unmerge, delete, restore)"
    )]
    NotRevertible(ChangeRef),
    /// The change does not fit the people and things that are known.
    #[error(transparent)]
    Entity(#[from] dormouse_entities::EntityChangeError),
}

/// The result of a transaction: the changes it wrote, and the records as they are after it.
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

/// The result of one step of a transaction: a value, a fault of the file, or a refusal.
pub(crate) type Step<T> = Result<T, Abort<ChangeError>>;

pub(crate) fn refuse(error: impl Into<ChangeError>) -> Abort<ChangeError> {
    Abort::Refused(error.into())
}

/// A row that another row refers to. If it is missing, the file is inconsistent.
pub(super) fn there<T>(found: Option<T>) -> Result<T, Fault> {
    found.ok_or(Fault::Inconsistent(
        "a change names a record that is not there",
    ))
}
