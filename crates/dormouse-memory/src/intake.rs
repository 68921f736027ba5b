//! Taking in an outside log: what it says and how far it was read are one commit, so that nothing is taken in twice and
//! nothing is left out, whenever the process is killed.

use dormouse_contracts::Timestamp;
use dormouse_entities as entities;

use crate::{
    change::Change,
    memory::{Inner, Memory, MemoryError, blocking},
    note::Note,
    ops::{self, Done},
    people, secrets,
    store::tables::LOG_THROUGH,
};

/// Why what comes from the log is there.
const REASON: &str = "taken in from the log";

/// What one event of an outside log means for the memory.
#[derive(Clone, Debug, PartialEq)]
pub enum Intake {
    /// Something to remember.
    Note(Box<Note>),
    /// Something about a person or thing, and when it was.
    Entity(Box<entities::Change>, Timestamp),
}

/// What came of taking in a part of a log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Taken {
    /// It was taken in.
    Through {
        /// The checkpoint now; never less than before.
        through: u64,
        /// How many changes of entities were refused, and skipped. They would be refused each time.
        refused: u64,
    },
    /// The part does not begin where the last one ended: somebody else took in another one. Nothing was changed.
    Moved {
        /// The checkpoint.
        through: u64,
    },
}

impl Memory {
    /// How far the outside log has been taken in; 0 if nothing of it was.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn log_through(&self) -> Result<u64, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || Ok(inner.store.read(|reading| reading.state(LOG_THROUGH))?)).await
    }

    /// Takes in the part of an outside log after `after`, through `through`. Secrets in texts are masked.
    ///
    /// # Errors
    ///
    /// [`ChangeError::Note`](crate::ChangeError::Note) if a note does not fit: the log must not hold such.
    pub async fn take_log(
        &self,
        after: u64,
        through: u64,
        items: Vec<Intake>,
    ) -> Result<Taken, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || inner.take_log(after, through, items)).await
    }
}

impl Inner {
    fn take_log(&self, after: u64, through: u64, items: Vec<Intake>) -> Result<Taken, MemoryError> {
        // Looking for secrets takes a while in long texts: nobody else need wait for it.
        let items: Vec<Intake> = items.into_iter().map(Intake::masked).collect();
        self.change_all(|writing, entities, now| {
            let found = writing.state(LOG_THROUGH)?;
            if found != after {
                return Ok((Taken::Moved { through: found }, Done::default()));
            }
            let mut done = Done::default();
            let mut refused = 0;
            for item in items {
                match item {
                    Intake::Note(note) => done.extend(ops::add(writing, now, REASON, *note)?.1),
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
            // Going back would take in twice what has no origin.
            let through = through.max(after);
            writing.set_state(LOG_THROUGH, through)?;
            Ok((Taken::Through { through, refused }, done))
        })
    }
}

impl Intake {
    fn masked(self) -> Self {
        match self {
            Self::Note(note) => Self::Note(Box::new(secrets::masked(*note))),
            Self::Entity(change, at) => Self::Entity(change, at),
        }
    }
}
