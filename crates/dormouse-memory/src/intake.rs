//! Taking in an outside log. What an event means and the new position in the log are one commit, so that no event is taken in
//! twice or left out, whenever the process is killed. The position contains the time of its last event, by which the reader
//! of the log finds out whether the memory follows this log or another one.

use dormouse_contracts::Timestamp;
use dormouse_entities as entities;

use crate::{
    change::Change,
    memory::{Inner, Memory, MemoryError, blocking},
    note::Note,
    ops::{self, Done},
    people,
    record::RecordId,
    store::{
        Fault, Writing,
        tables::{LOG_AT, LOG_THROUGH},
    },
};

/// The reason of every change that comes from the log.
const REASON: &str = "taken in from the log";

/// What one event of an outside log means for the memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Intake {
    /// A note to add, and the id of its record.
    Note(RecordId, Box<Note>),
    /// A change of a person or thing, and its time.
    Entity(Box<entities::EntityChange>, Timestamp),
}

/// A position in an outside log: the last event that was taken in, and when it was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPosition {
    /// The number of the event; 0 before the first.
    pub seq: u64,
    /// When the log says that the event was written. Two logs differ in this for every event that they do not share.
    pub at: Timestamp,
}

/// The result of taking in a part of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was taken in.
    Through {
        /// The new position; never before the former one.
        through: LogPosition,
        /// How many changes of entities were refused and skipped. They would be refused every time.
        refused: u64,
    },
    /// The part does not begin where the last one ended, because another caller took in a part meanwhile. Nothing was changed.
    Moved {
        /// The present position.
        through: LogPosition,
    },
}

impl Memory {
    /// How far the outside log was taken in.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn log_position(&self) -> Result<LogPosition, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || {
            Ok(inner.store.read(|reading| {
                let (seq, at) = (reading.state(LOG_THROUGH)?, reading.state(LOG_AT)?);
                Ok(position(seq, at))
            })?)
        })
        .await
    }

    /// Takes in the part of an outside log after `after`, through `through`. Secrets in texts are masked.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Note`](crate::ChangeError::Note) if a note is not valid. Nothing of the part is taken in then.
    pub async fn take_log(
        &self,
        after: u64,
        through: LogPosition,
        items: Vec<Intake>,
    ) -> Result<Taken, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || inner.take_log(after, through, items)).await
    }
}

impl Inner {
    fn take_log(
        &self,
        after: u64,
        through: LogPosition,
        items: Vec<Intake>,
    ) -> Result<Taken, MemoryError> {
        // Looking for secrets takes a while in long texts, so it happens before the lock of all changes is taken.
        let items: Vec<Intake> = items.into_iter().map(Intake::masked).collect();
        self.change_all(|writing, entities, now| {
            let present = position(writing.state(LOG_THROUGH)?, writing.state(LOG_AT)?);
            if present.seq != after {
                return Ok((Taken::Moved { through: present }, Done::default()));
            }
            let mut done = Done::default();
            let mut refused = 0;
            for item in items {
                match item {
                    Intake::Note(id, note) => {
                        done.extend(ops::add(writing, now, REASON, Some(id), *note)?.1);
                    }
                    Intake::Entity(change, at) => {
                        let Ok(touched) = entities.apply(&change, at) else {
                            refused += 1;
                            continue;
                        };
                        for (key, row) in people::rows(entities, &touched)? {
                            writing.put_entity(&key, row.as_deref())?;
                        }
                        let change = Change::Entity { change };
                        done.changes.push(writing.append(at, REASON, change, &[])?);
                    }
                }
            }
            // The position never goes back: a change of an entity has no origin and would be applied twice.
            let through = if through.seq < after {
                present
            } else {
                through
            };
            set_position(writing, through)?;
            Ok((Taken::Through { through, refused }, done))
        })
    }
}

fn position(seq: u64, at: u64) -> LogPosition {
    LogPosition {
        seq,
        at: Timestamp::from_micros(at.cast_signed()),
    }
}

fn set_position(writing: &mut Writing<'_>, position: LogPosition) -> Result<(), Fault> {
    writing.set_state(LOG_THROUGH, position.seq)?;
    writing.set_state(LOG_AT, position.at.as_micros().cast_unsigned())
}

impl Intake {
    fn masked(self) -> Self {
        match self {
            Self::Note(id, note) => Self::Note(id, Box::new(note.masked())),
            Self::Entity(change, at) => Self::Entity(change, at),
        }
    }
}
