//! Taking in an outside log. What an event means and the new position in the log are written in one commit, so that no
//! event is taken in twice or left out, whenever the process is killed. The position contains the hash of its last
//! event, by which the reader of the log finds out whether the memory follows this log or another one.

use std::sync::{PoisonError, atomic::Ordering};

use dormouse_contracts::{Audience, Author, Seq, Timestamp};
use dormouse_entities as entities;

use crate::{
    change::MemoryChange,
    memory::{Inner, Memory, MemoryError, blocking},
    note::Note,
    ops::{self, Added, ChangeError, Done, Step, refuse},
    record::{RecordId, RecordStatus},
    store::{
        Abort, Cause, Fault, OnDisk, WriteError, Writing,
        tables::{LOG_HASH, LOG_THROUGH},
    },
};

/// One step of what an event of an outside log means for the memory. An event may have several steps.
#[derive(Clone, Debug, PartialEq)]
pub struct Intake {
    /// The event.
    pub event: Seq,
    /// When it was written. All records and changes it leads to get this time, so they are the same each time the log
    /// is taken in.
    pub at: Timestamp,
    /// Who decided on it, if somebody did.
    pub author: Option<Author>,
    /// Why, in words.
    pub reason: String,
    /// What it means.
    pub step: IntakeStep,
}

/// One step of what an event means.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum IntakeStep {
    /// A note to add, and the id of its record. Its trust and audience were decided from its sources when the event was
    /// written.
    Note(RecordId, Box<Note>),
    /// A change of a person or thing.
    Entity(Box<entities::EntityChange>),
    /// A change that somebody decided on.
    Change(Box<MemoryChange>),
}

/// The first 128 bits of the SHA-256 of an event.
pub type EventHash = u128;

/// A position in an outside log: the last event that was taken in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogPosition {
    /// The number of the event; 0 before the first.
    pub seq: u64,
    /// The hash of the event. Two logs differ in this for every event that they do not share.
    pub hash: EventHash,
}

/// The result of taking in a part of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was taken in.
    Through {
        /// The new position; never before the former one.
        through: LogPosition,
        /// How many changes were refused and skipped. They would be refused every time.
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
                let [high, low] = LOG_HASH;
                let seq = reading.state(LOG_THROUGH)?;
                Ok(position(seq, reading.state(high)?, reading.state(low)?))
            })?)
        })
        .await
    }

    /// Takes in the part of an outside log after `after`, through `through`. Secrets in texts are masked.
    ///
    /// What was taken in can be recalled at once. It is on disk after some more events, or when the memory is closed; if the
    /// program is killed before, the position on disk is that of the last event that is on disk, too.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails. Nothing of the part is taken in then.
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

impl Memory {
    /// Whether a change would be accepted as the next event of the log, and which notes it would add or already has.
    /// Changes nothing.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Change`] if it would be refused.
    pub async fn check_change(
        &self,
        event: Seq,
        change: MemoryChange,
    ) -> Result<Vec<Added>, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || inner.check_change(event, change)).await
    }
}

impl Memory {
    /// The change that takes back what an event changed about a person or thing, if it must be a separate event. `None`
    /// if [`MemoryChange::Undone`] is enough. A separate event is needed for what other readers of the log follow, too:
    /// which ids are one person, who is known, and who is trusted.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Change`] if nothing is left of what the event did.
    pub async fn opposite(
        &self,
        event: Seq,
    ) -> Result<Option<entities::EntityChange>, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || inner.try_out(|writing, known| ops::opposite(writing, known, event))).await
    }
}

impl Memory {
    /// Whether everything is already as this change makes it, so that it would have no effect.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn is_made(&self, change: &MemoryChange) -> Result<bool, MemoryError> {
        let of = match change {
            MemoryChange::Superseded { record, .. }
            | MemoryChange::Withdrawn { record }
            | MemoryChange::Published { record }
            | MemoryChange::Erased { record } => *record,
            _ => return Ok(false),
        };
        let Some(record) = self.record(of).await? else {
            return Ok(false);
        };
        Ok(match change {
            MemoryChange::Superseded { by, until, .. } => {
                // An earlier end stays, so a later one changes nothing.
                record.status == RecordStatus::Superseded { by: *by }
                    && record.valid_until.is_some_and(|had| had <= *until)
            }
            MemoryChange::Withdrawn { .. } => record.status == RecordStatus::Withdrawn,
            MemoryChange::Published { .. } => {
                record.is_in_use() && record.audience == Some(Audience::Public)
            }
            MemoryChange::Erased { .. } => {
                record.text.is_empty() && record.status == RecordStatus::Withdrawn
            }
            _ => false,
        })
    }
}

impl Inner {
    fn check_change(&self, event: Seq, change: MemoryChange) -> Result<Vec<Added>, MemoryError> {
        let now = self.clock.now();
        let done = |writing: &mut Writing<'_>, entities: &mut entities::Entities| {
            Ok(ops::decided(writing, entities, now, "", event, change)?.0)
        };
        self.try_out(done)
    }

    /// The result of `work`. The transaction is always aborted, so nothing is changed.
    fn try_out<T>(
        &self,
        work: impl FnOnce(&mut Writing<'_>, &mut entities::Entities) -> Step<T>,
    ) -> Result<T, MemoryError> {
        let known = self.entities.read();
        let mut entities = known.unwrap_or_else(PoisonError::into_inner).clone();
        let mut tried = None;
        let aborted = self.store.write(|writing| {
            tried = Some(work(writing, &mut entities)?);
            Err::<(), _>(refuse(ChangeError::Parts))
        });
        match (tried, aborted) {
            (Some(result), Err(WriteError::Refused(_))) => Ok(result),
            (_, Err(error)) => Err(error.into()),
            (_, Ok(())) => Err(MemoryError::Stopped),
        }
    }

    fn take_log(
        &self,
        after: u64,
        through: LogPosition,
        items: Vec<Intake>,
    ) -> Result<Taken, MemoryError> {
        // Looking for secrets takes a while in long texts, so it happens before the lock of all changes is taken.
        let items: Vec<Intake> = items.into_iter().map(Intake::masked).collect();
        let erases = items.iter().any(Intake::erases);
        if erases {
            // Reading is fastest from the copy, which is removed below.
            self.read_projection()?;
        }
        let saving = || self.saving.lock().unwrap_or_else(PoisonError::into_inner);
        let _saving = erases.then(saving);
        let behind = through
            .seq
            .saturating_sub(self.log_on_disk.load(Ordering::Relaxed));
        // What is erased must be gone from the disk.
        let on_disk = match erases || behind > self.behind {
            true => OnDisk::Now,
            false => OnDisk::Later,
        };
        let taken = self.change_all(on_disk, |writing, entities, _now| {
            let present = taken_through(writing)?;
            if present.seq != after {
                return Ok((Taken::Moved { through: present }, Done::default()));
            }
            let mut done = Done::default();
            let mut refused = 0;
            for item in items {
                match take(writing, entities, item) {
                    Ok(more) => done.extend(more),
                    // It would be refused every time, so it is skipped and does not stop later changes.
                    Err(Abort::Refused(error)) => {
                        tracing::info!(%error, "a change of the log no longer fits");
                        refused += 1;
                    }
                    Err(fault @ Abort::Fault(_)) => return Err(fault),
                }
            }
            // The position never goes back: a change of an entity has no origin and would be applied twice.
            let through = if through.seq < after {
                present
            } else {
                through
            };
            set_position(writing, through)?;
            if erases {
                self.remove_copy()?;
            }
            Ok((Taken::Through { through, refused }, done))
        })?;
        let (Taken::Through { through, .. } | Taken::Moved { through }) = taken;
        self.log_taken_in.store(through.seq, Ordering::Relaxed);
        if on_disk == OnDisk::Now {
            self.log_on_disk.store(through.seq, Ordering::Relaxed);
        }
        Ok(taken)
    }
}

/// Makes one step of an event.
fn take(writing: &mut Writing<'_>, entities: &mut entities::Entities, item: Intake) -> Step<Done> {
    let Intake {
        event,
        at,
        author,
        reason,
        step,
    } = item;
    writing.cause = Cause {
        event: Some(event),
        author,
    };
    match step {
        IntakeStep::Note(id, note) => Ok(ops::note(writing, at, &reason, id, *note)?.1),
        IntakeStep::Change(change) => {
            Ok(ops::decided(writing, entities, at, &reason, event, *change)?.1)
        }
        IntakeStep::Entity(change) => ops::change_entity(writing, entities, at, &reason, change),
    }
}

fn taken_through(writing: &Writing<'_>) -> Result<LogPosition, Fault> {
    let [high, low] = LOG_HASH;
    let seq = writing.state(LOG_THROUGH)?;
    Ok(position(seq, writing.state(high)?, writing.state(low)?))
}

fn position(seq: u64, high: u64, low: u64) -> LogPosition {
    let hash = u128::from(high) << 64 | u128::from(low);
    LogPosition { seq, hash }
}

fn set_position(writing: &mut Writing<'_>, position: LogPosition) -> Result<(), Fault> {
    let [high, low] = LOG_HASH;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the two halves are kept apart"
    )]
    let halves = [(position.hash >> 64) as u64, position.hash as u64];
    writing.set_state(LOG_THROUGH, position.seq)?;
    writing.set_state(high, halves[0])?;
    writing.set_state(low, halves[1])
}

impl Intake {
    /// Whether it erases words. The copy of the search index contains these words.
    fn erases(&self) -> bool {
        matches!(&self.step, IntakeStep::Change(change) if matches!(**change, MemoryChange::Erased { .. }))
    }

    fn masked(mut self) -> Self {
        self.step = match self.step {
            IntakeStep::Note(id, note) => IntakeStep::Note(id, Box::new(note.masked())),
            IntakeStep::Change(change) => IntakeStep::Change(Box::new(change.masked())),
            entity @ IntakeStep::Entity(_) => entity,
        };
        self
    }
}
