//! How far an index has been fed, and whether it still holds what it was given.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use tokio::time::Instant;

use super::forgets;
use crate::{
    change::ChangeSeq,
    memory::{Inner, Memory, MemoryError, blocking},
    record::Shelf,
    spaces,
    store::{Fault, Reading},
};

/// For how long an index that held everything is taken to hold it, unless something tells otherwise.
const TRUSTED_FOR: Duration = Duration::from_secs(600);

/// How far an index has been fed from a space.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Fed {
    /// The last change that is in it.
    pub(super) through: ChangeSeq,
    /// The shelves it has a collection for. No other is searched, and a collection of these that is gone was lost.
    pub(super) made: BTreeSet<Shelf>,
}

/// What is known of the index without asking it, by space.
#[derive(Debug, Default)]
pub(super) struct Knowledge(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    /// How far an index that forgets everything at its end has been fed.
    volatile: BTreeMap<u32, Fed>,
    checks: BTreeMap<u32, Check>,
}

/// What the last look at the points of a space showed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Check {
    /// They were all there.
    Complete(Instant),
    /// Some are gone.
    Lost,
}

impl Knowledge {
    fn lock(&self) -> MutexGuard<'_, Known> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The last look, unless it was too long ago.
    pub(super) fn check(&self, space: u32) -> Option<Check> {
        let check = self.lock().checks.get(&space).copied();
        check.filter(|check| match check {
            Check::Complete(at) => at.elapsed() < TRUSTED_FOR,
            Check::Lost => true,
        })
    }

    pub(super) fn set_check(&self, space: u32, check: Check) {
        self.lock().checks.insert(space, check);
    }

    /// After a failure a server may come back with other points: they are counted again.
    pub(super) fn doubt(&self) {
        let is_lost = |_: &u32, check: &mut Check| *check == Check::Lost;
        self.lock().checks.retain(is_lost);
    }

    fn forget(&self, space: u32) {
        let mut known = self.lock();
        known.volatile.remove(&space);
        known.checks.remove(&space);
    }
}

impl Inner {
    /// How far the index has been fed from a space.
    pub(super) fn fed(&self, reading: &Reading, space: u32) -> Result<Fed, Fault> {
        let Some(vectors) = &self.vectors else {
            return Ok(Fed::default());
        };
        let index = vectors.index.port.as_ref();
        if forgets(index) {
            let known = vectors.knowledge.lock();
            return Ok(known.volatile.get(&space).cloned().unwrap_or_default());
        }
        let index = index.identity();
        let mut fed = Fed {
            through: reading.state(&spaces::fed_through(space, &index))?,
            made: BTreeSet::new(),
        };
        for shelf in Shelf::ALL {
            if reading.state(&spaces::made(space, shelf, &index))? > 0 {
                fed.made.insert(shelf);
            }
        }
        Ok(fed)
    }
}

impl Memory {
    /// How far the index has been fed from a space.
    pub(super) async fn fed(&self, space: u32) -> Result<Fed, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || Ok(inner.store.read(|reading| inner.fed(reading, space))?)).await
    }

    /// Keeps how far the index has been fed from a space.
    pub(super) async fn keep_fed(&self, space: u32, fed: &Fed) -> Result<(), MemoryError> {
        let Some(vectors) = &self.inner.vectors else {
            return Ok(());
        };
        let index = vectors.index.port.as_ref();
        if forgets(index) {
            let mut known = vectors.knowledge.lock();
            known.volatile.insert(space, fed.clone());
            return Ok(());
        }
        let (index, fed) = (index.identity(), fed.clone());
        self.keep(move |writing, _| {
            for shelf in fed.made {
                writing.set_state(&spaces::made(space, shelf, &index), 1)?;
            }
            writing.set_state(&spaces::fed_through(space, &index), fed.through)
        })
        .await
    }

    /// Counts a space as not fed.
    pub(super) async fn forget_fed(&self, space: u32) -> Result<(), MemoryError> {
        let Some(vectors) = &self.inner.vectors else {
            return Ok(());
        };
        vectors.knowledge.forget(space);
        let index = vectors.index.port.as_ref();
        if forgets(index) {
            return Ok(());
        }
        let index = index.identity();
        self.keep(move |writing, _| {
            for shelf in Shelf::ALL {
                writing.remove_state(&spaces::made(space, shelf, &index))?;
            }
            writing.remove_state(&spaces::fed_through(space, &index))
        })
        .await
    }
}
