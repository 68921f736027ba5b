//! The changes of a journal.

use dormouse_contracts::{Audience, Origin, Trust};
use serde::{Deserialize, Serialize};

use crate::{
    entry::{EntryId, JournalEntry},
    importance::EntryScore,
};

/// A change. Every change of a [`Journal`](crate::Journal) is one of these. A log contains them, and applying them again gives
/// the same state.
///
/// Its JSON is an object whose field `change` names the kind. The names are stable, because logs contain them; new fields
/// have a default.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "snake_case")]
#[non_exhaustive]
pub enum JournalChange {
    /// Writes an entry. Refused unless its number is above all numbers that were ever used.
    Added {
        /// The entry.
        entry: Box<JournalEntry>,
        /// The points that the formula gave it, even if its importance comes from somewhere else.
        points: i8,
    },
    /// Links an entry to an earlier one that says nearly the same, which counts the repetition.
    Linked {
        /// The later entry.
        entry: EntryId,
        /// The earlier one.
        to: EntryId,
    },
    /// Takes a link back. An entry without a link stays as it is.
    Unlinked {
        /// The later entry.
        entry: EntryId,
    },
    /// Replaces the importance that the formula gave by that of a model. Entries that left the journal are skipped, and
    /// so are those with a score that a person or a model gave.
    Rescored {
        /// The scores.
        scores: Vec<EntryScore>,
        /// The entries of which the reply had no usable score.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        unreadable: Vec<EntryId>,
    },
    /// Marks entries that are in long-term memory now. Entries that left the journal are skipped.
    Consolidated {
        /// The entries.
        entries: Vec<EntryId>,
    },
    /// Removes that mark, because the change that used the entries was taken back. Entries that left the journal are
    /// skipped.
    Unconsolidated {
        /// The entries.
        entries: Vec<EntryId>,
    },
    /// Takes entries out of the journal. Entries that left the journal are skipped.
    Pruned {
        /// The entries.
        entries: Vec<EntryId>,
        /// Why.
        reason: PruneReason,
    },
    /// Puts an entry back. Refused if it is there, or if no entry ever had its number.
    Restored {
        /// The entry as it was when it left the journal.
        entry: Box<JournalEntry>,
    },
    /// Begins a reflection on these entries. Refused while one is under way.
    ReflectionBegun {
        /// The entries, oldest first.
        entries: Vec<EntryId>,
        /// The last entry that the reflection takes into account. Later ones count for the next one.
        through: EntryId,
        /// Who perceived all of them. Absent in older logs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        known_to: Option<Audience>,
        /// Earlier entries that are left for another reflection, because they have a different audience.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left: Vec<EntryId>,
    },
    /// The first step of a reflection is done.
    QuestionsRaised {
        /// The questions.
        questions: Vec<String>,
        /// How far each question is believed: as far as the entries that supply its words. Absent in older logs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        trust: Vec<Trust>,
    },
    /// The second step of a reflection is done.
    EvidenceFound {
        /// For each question, the evidence that helps to answer it.
        evidence: Vec<Vec<Origin>>,
    },
    /// A step of the reflection failed; it may be tried again.
    ReflectionFailed,
    /// Gives up the reflection under way. Its entries count for the next one.
    ReflectionGivenUp,
    /// The last step of a reflection is done: writes its insights, and counts importance from 0 again.
    Reflected {
        /// The insights; may be empty.
        insights: Vec<JournalEntry>,
    },
}

/// Why entries leave a journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PruneReason {
    /// There were more than the limit, and these were the oldest.
    Overflow,
    /// They are old and unimportant.
    Faded,
}

/// Why a change was refused. The journal is unchanged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum JournalChangeError {
    /// The number of a new entry was used before.
    #[error("entry {id} cannot be added: numbers up to {last} were used before")]
    NumberUsed {
        /// The number.
        id: EntryId,
        /// The highest number so far.
        last: EntryId,
    },
    /// The journal has no such entry.
    #[error("the journal has no entry {id}; it may have been pruned")]
    Unknown {
        /// The number.
        id: EntryId,
    },
    /// An entry is to be linked with itself.
    #[error("entry {id} cannot be linked with itself")]
    LinkToItself {
        /// The number.
        id: EntryId,
    },
    /// The entry to restore is in the journal.
    #[error("entry {id} is in the journal already")]
    AlreadyThere {
        /// The number.
        id: EntryId,
    },
    /// No entry ever had the number.
    #[error("no entry of this journal ever had the number {id}; the last one was {last}")]
    NeverWritten {
        /// The number.
        id: EntryId,
        /// The highest number so far.
        last: EntryId,
    },
    /// A reflection is under way already.
    #[error("a reflection is under way; complete it or give it up first")]
    ReflectionUnderWay,
    /// No reflection is under way, or it is at another step.
    #[error("no reflection waits for this step")]
    NoSuchStep,
}

/// The effect of a change, for projections of the journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct JournalDelta {
    /// The entries that are new in the journal.
    pub added: Vec<EntryId>,
    /// The entries that left the journal, as they were.
    pub removed: Vec<JournalEntry>,
    /// The entries whose importance changed, with their former importance.
    pub rescored: Vec<EntryScore>,
}
