//! What the handles of one memory share: committing a change and taking it in, in one order.

use std::sync::{MutexGuard, PoisonError, atomic::Ordering};

use dormouse_contracts::Timestamp;
use dormouse_entities::Entities;

use super::{Inner, MemoryError};
use crate::{
    change::{Change, ChangeSeq},
    ops::{self, ChangeError, Done, Step},
    people,
    projection::{self, IndexCopy},
    record::RecordId,
    store::{StoreError, WriteError, Writing},
};

/// From how many changes on the copy of the projection is saved by itself.
const UNSAVED: u64 = 1_000;
/// How many changes are taken in at a time.
const PAGE: usize = 128;

/// What whoever changes the memory holds.
pub(crate) struct Draft {
    /// What is known of people and things, for trying a change before it is on disk. Nobody else sees it.
    pub(crate) entities: Entities,
    /// Whether it may not be what is on disk: a write has failed, and may be there all the same.
    is_uncertain: bool,
}

impl Draft {
    pub(super) fn of(entities: &Entities) -> Self {
        Self {
            entities: entities.clone(),
            is_uncertain: false,
        }
    }
}

impl Inner {
    /// Commits a change of records and takes it into the projection.
    pub(crate) fn change<T>(
        &self,
        work: impl FnOnce(&mut Writing<'_>, Timestamp) -> Step<(T, Done)>,
    ) -> Result<T, MemoryError> {
        let mut draft = self.ordered()?;
        let now = self.clock.now();
        let written = self.store.write(|writing| work(writing, now));
        draft.is_uncertain = matches!(written, Err(WriteError::Store(_)));
        let (value, done) = written?;
        self.take(&done);
        Ok(value)
    }

    /// Commits a change that may be one of people and things too, and takes it in.
    pub(crate) fn change_all<T>(
        &self,
        work: impl FnOnce(&mut Writing<'_>, &mut Entities, Timestamp) -> Step<(T, Done)>,
    ) -> Result<T, MemoryError> {
        let mut draft = self.ordered()?;
        let now = self.clock.now();
        // Whatever happens, a panic too, the draft is made anew unless all went well.
        draft.is_uncertain = true;
        let written = self
            .store
            .write(|writing| work(writing, &mut draft.entities, now));
        let (value, done) = written?;
        draft.is_uncertain = false;
        self.take(&done);
        Ok(value)
    }

    /// Lets one change after the other through. After a failure, what is on disk is taken in first.
    fn ordered(&self) -> Result<MutexGuard<'_, Draft>, StoreError> {
        self.store.check_writable()?;
        let mut draft = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        if draft.is_uncertain {
            self.catch_up()?;
            let entities = self.entities.read().unwrap_or_else(PoisonError::into_inner);
            *draft = Draft::of(&entities);
        }
        Ok(draft)
    }

    /// Takes in what is on disk although writing it seemed to fail.
    fn catch_up(&self) -> Result<(), StoreError> {
        loop {
            let projection = self.projection.read();
            let through = projection.unwrap_or_else(PoisonError::into_inner).through;
            let done = self.store.read(|reading| {
                let changes = reading.changes(through, PAGE)?;
                let ids: Vec<RecordId> = changes
                    .iter()
                    .flat_map(|stored| stored.change.records())
                    .collect();
                let records = reading.records(&ids)?.into_iter().flatten().collect();
                Ok(Done { changes, records })
            })?;
            if done.changes.is_empty() {
                return Ok(());
            }
            self.take(&done);
        }
    }

    /// Takes in what was committed. Only whoever holds the order may.
    fn take(&self, done: &Done) {
        {
            let projection = self.projection.write();
            let mut projection = projection.unwrap_or_else(PoisonError::into_inner);
            for record in &done.records {
                projection.take(record);
            }
            if let Some(last) = done.changes.last() {
                projection.through = last.seq;
            }
        }
        for stored in &done.changes {
            if let Change::Entity { change } = &stored.change {
                let entities = self.entities.write();
                let mut entities = entities.unwrap_or_else(PoisonError::into_inner);
                // The draft has taken the same change in the same state.
                if let Err(error) = entities.apply(change, stored.at) {
                    tracing::error!(%error, seq = stored.seq, "a change that is on disk was refused");
                }
            }
        }
    }

    pub(super) fn change_entity(
        &self,
        change: dormouse_entities::EntityChange,
        reason: &str,
    ) -> Result<ChangeSeq, MemoryError> {
        self.change_all(|writing, entities, now| {
            let touched = entities.apply(&change, now).map_err(ChangeError::from);
            let touched = touched.map_err(ops::refuse)?;
            for (key, row) in people::rows(entities, &touched)? {
                writing.put_entity(&key, row.as_deref())?;
            }
            let change = Box::new(change);
            let stored = writing.append(now, reason, Change::Entity { change }, &[])?;
            let seq = stored.seq;
            Ok((seq, Done::of(stored, Vec::new())))
        })
    }

    /// Erases a record: from the file, and from the copy of the projection, which has its words.
    pub(super) fn erase(&self, id: RecordId, reason: &str) -> Result<ChangeSeq, MemoryError> {
        self.store.check_writable()?;
        let _saving = self.saving.lock().unwrap_or_else(PoisonError::into_inner);
        let had_copy = self.copy.as_ref().is_some_and(IndexCopy::exists);
        let seq = self.change(|writing, now| {
            let done = ops::erase(writing, now, reason, id)?;
            // A copy that is missing is made again; one that is there must not have the words after a kill.
            if let Some(copy) = &self.copy {
                self.saved.store(0, Ordering::Relaxed);
                copy.remove()?;
            }
            Ok((done.changes.last().map_or(0, |change| change.seq), done))
        })?;
        if had_copy && let Err(error) = self.save_copy() {
            tracing::warn!(%error, "the copy of the search index could not be saved");
        }
        Ok(seq)
    }

    pub(super) fn checkpoint(&self) -> Result<(), StoreError> {
        self.store.check_writable()?;
        let _saving = self.saving.lock().unwrap_or_else(PoisonError::into_inner);
        self.save_copy()
    }

    /// Writes the copy. Only whoever holds `saving` may.
    fn save_copy(&self) -> Result<(), StoreError> {
        let Some(copy) = &self.copy else {
            return Ok(());
        };
        // The disk may be slow: nobody waits for it with the projection locked.
        let (bytes, through) = {
            let projection = self.projection.read();
            let projection = projection.unwrap_or_else(PoisonError::into_inner);
            let through = projection.through;
            let changed_at = self.store.read(|reading| reading.changed_at(through))?;
            let changed_at = changed_at.unwrap_or(Timestamp::EPOCH);
            let bytes = projection::encode(&self.file_id, changed_at, &projection);
            (bytes, through)
        };
        let saved = copy.save(&bytes);
        saved.map_err(|error| StoreError::disk(copy.path(), error))?;
        self.saved.store(through, Ordering::Relaxed);
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
            && self.store.view().is_none()
            && let Err(error) = self.checkpoint()
        {
            tracing::warn!(%error, "the copy of the search index could not be saved");
        }
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::AssistantId;

    use super::*;
    use crate::{Memory, Note};

    #[tokio::test]
    async fn a_write_that_seemed_to_fail_and_is_there_is_taken_in_before_the_next() {
        let id = AssistantId::try_new("dormouse").unwrap();
        let memory = Memory::builder(id, || Timestamp::EPOCH)
            .ephemeral()
            .unwrap();
        let inner = &memory.inner;
        let lost = inner
            .store
            .write(|writing| ops::add(writing, Timestamp::EPOCH, "heard", Note::new("peppermint")));
        inner.order.lock().unwrap().is_uncertain = true;
        let created = dormouse_entities::EntityChange::Created {
            entity: "alice".parse().unwrap(),
            entity_type: dormouse_entities::EntityType::Player,
            name: dormouse_entities::Name::try_new("Alice").unwrap(),
        };
        memory.change_entity(created, "met").await.unwrap();
        assert_eq!(memory.entities().profiles().count(), 1);
        let found = memory.recall("peppermint").await.unwrap();
        assert_eq!(found.items.len(), 1, "{lost:?}");
    }
}
