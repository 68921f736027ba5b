//! What the handles of one memory share: committing a change and taking it in, in one order.

use std::sync::{MutexGuard, PoisonError, atomic::Ordering};

use dormouse_contracts::Timestamp;
use dormouse_entities::Entities;

use super::{Inner, MemoryError, opening::copy_path};
use crate::{
    change::{Change, ChangeSeq},
    ops::{ChangeError, Done, Step},
    people, projection,
    store::{Abort, StoreError, Writing},
};

/// From how many changes on the copy of the projection is saved by itself.
const UNSAVED: u64 = 1_000;

impl Inner {
    /// Commits a change and takes it into the projection.
    pub(crate) fn change<T>(
        &self,
        work: impl FnOnce(&mut Writing<'_>, Timestamp) -> Step<(T, Done)>,
    ) -> Result<T, MemoryError> {
        let _order = self.ordered();
        let now = self.clock.now();
        let (value, done) = self.store.write(|writing| work(writing, now))?;
        self.take(&done);
        Ok(value)
    }

    /// Lets one change after the other through.
    pub(crate) fn ordered(&self) -> MutexGuard<'_, ()> {
        self.order.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes what was committed into the projection. Only whoever holds the order may.
    pub(crate) fn take(&self, done: &Done) {
        let mut projection = self
            .projection
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        for record in &done.records {
            projection.take(record);
        }
        if let Some(last) = done.changes.last() {
            projection.through = last.seq;
        }
    }

    pub(super) fn change_entity(
        &self,
        change: dormouse_entities::Change,
        reason: &str,
    ) -> Result<ChangeSeq, MemoryError> {
        let _order = self.ordered();
        let now = self.clock.now();
        let mut entities = self
            .entities
            .write()
            .unwrap_or_else(PoisonError::into_inner);
        let touched = entities.apply(&change, now).map_err(ChangeError::from)?;
        let rows = people::rows(&entities, &touched);
        let written = self.store.write(|writing| {
            for (key, row) in &rows? {
                writing.put_entity(key, row.as_deref())?;
            }
            let stored = Change::Entity {
                change: Box::new(change),
            };
            let stored = writing.append(now, reason, stored, &[])?;
            Ok::<_, Abort<ChangeError>>(stored.seq)
        });
        match written {
            Ok(seq) => {
                drop(entities);
                self.through(seq);
                Ok(seq)
            }
            Err(error) => {
                self.reload(&mut entities)?;
                Err(error.into())
            }
        }
    }

    /// After a failure: what is on disk is what is known.
    pub(crate) fn reload(&self, entities: &mut Entities) -> Result<(), StoreError> {
        let rows = self.store.read(|reading| reading.entities())?;
        if let Ok(known) = people::load(rows) {
            *entities = known;
        }
        Ok(())
    }

    fn through(&self, seq: ChangeSeq) {
        self.projection
            .write()
            .unwrap_or_else(PoisonError::into_inner)
            .through = seq;
    }

    /// The numbers of all embedding spaces.
    pub(super) fn space_numbers(&self) -> Result<Vec<u32>, StoreError> {
        let spaces = self
            .store
            .read(|reading| reading.spaces::<serde_json::Value>())?;
        Ok(spaces.into_iter().map(|(number, _)| number).collect())
    }

    pub(super) fn checkpoint(&self) -> Result<(), StoreError> {
        let Some(path) = self.store.path().map(copy_path) else {
            return Ok(());
        };
        let projection = self
            .projection
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        projection::save(&path, &self.file_id, &projection)
            .map_err(|error| StoreError::disk(&path, error))?;
        self.saved.store(projection.through, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Inner {
    /// Saves the copy of the search index if reading what is newer than it would be noticed at the next start.
    fn drop(&mut self) {
        let unsaved = self.saved.load(Ordering::Relaxed);
        let through = self
            .projection
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .through;
        if through.saturating_sub(unsaved) >= UNSAVED
            && let Err(error) = self.checkpoint()
        {
            tracing::warn!(%error, "the copy of the search index could not be saved");
        }
    }
}
