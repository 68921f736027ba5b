//! Committing changes, and applying them to the projection and the entities in the same order.

use std::sync::{MutexGuard, PoisonError, atomic::Ordering};

use dormouse_contracts::Timestamp;
use dormouse_entities::Entities;

use super::{Draft, Inner, MemoryError};
use crate::{
    change::{Change, ChangeSeq, MemoryChange},
    index_copy::{self, IndexCopy},
    ops::{self, Added, ChangeError, Done, Step},
    people,
    record::RecordId,
    store::{Fault, OnDisk, StoreError, WriteError, Writing, tables::LOG_THROUGH},
};

/// After how many changes the copy of the projection is saved when the memory is dropped.
pub(crate) const UNSAVED: ChangeSeq = 1_000;
/// How many changes are applied at a time.
const PAGE: usize = 128;

impl Inner {
    /// Refuses a change that is not an event of the log that the memory follows.
    fn check_follows_no_log(&self) -> Result<(), ChangeError> {
        match self.store.follows_log() {
            true => Err(ChangeError::FollowsLog),
            false => Ok(()),
        }
    }

    /// Commits a change of records that comes from no log, and applies it.
    pub(crate) fn change<T>(
        &self,
        work: impl FnOnce(&mut Writing<'_>, Timestamp) -> Step<(T, Done)>,
    ) -> Result<T, MemoryError> {
        self.check_follows_no_log()?;
        let mut draft = self.ordered()?;
        let now = self.clock.now();
        let written = self.store.write(|writing| work(writing, now));
        draft.is_uncertain = matches!(written, Err(WriteError::Store(_)));
        let (value, done) = written?;
        self.apply(&done);
        Ok(value)
    }

    /// Commits a change of records or entities and applies it.
    pub(crate) fn change_all<T>(
        &self,
        on_disk: OnDisk,
        work: impl FnOnce(&mut Writing<'_>, &mut Entities, Timestamp) -> Step<(T, Done)>,
    ) -> Result<T, MemoryError> {
        let mut draft = self.ordered()?;
        let now = self.clock.now();
        // Set first, so that the draft is also discarded after a panic in `work`.
        draft.is_uncertain = true;
        let written = self
            .store
            .write_on(on_disk, |writing| work(writing, &mut draft.entities, now));
        let (value, done) = written?;
        draft.is_uncertain = false;
        self.apply(&done);
        Ok(value)
    }

    /// Takes the lock under which changes happen one after the other. After a failure, applies what is on disk first.
    fn ordered(&self) -> Result<MutexGuard<'_, Draft>, StoreError> {
        self.store.check_writable()?;
        let mut draft = self.order.lock().unwrap_or_else(PoisonError::into_inner);
        let closed = self.store.closed();
        if draft.is_uncertain || draft.closed != closed {
            self.set_back()?;
            self.catch_up()?;
            let entities = self.entities.read().unwrap_or_else(PoisonError::into_inner);
            *draft = Draft::of(&entities, closed);
        }
        Ok(draft)
    }

    /// Forgets changes that were only in memory, if a failure has lost them. They are taken in again.
    fn set_back(&self) -> Result<(), StoreError> {
        let (newest, log_through, rows) = self.store.read(|reading| {
            let log_through = reading.state(LOG_THROUGH)?;
            Ok((reading.last_change()?, log_through, reading.entities()?))
        })?;
        self.log_taken_in.store(log_through, Ordering::Relaxed);
        self.log_on_disk.store(log_through, Ordering::Relaxed);
        if newest >= self.projection.through() {
            return Ok(());
        }
        let known = people::load(rows).map_err(|error| self.store.unusable(error))?;
        *self
            .entities
            .write()
            .unwrap_or_else(PoisonError::into_inner) = known;
        self.projection.set_back(newest);
        Ok(())
    }

    /// Applies changes that are on disk although writing them reported a failure.
    fn catch_up(&self) -> Result<(), StoreError> {
        loop {
            let through = self.projection.through();
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
            self.apply(&done);
        }
    }

    /// Applies committed changes. The caller holds `order`.
    fn apply(&self, done: &Done) {
        self.apply_to_projection(done);
        for stored in &done.changes {
            if let Change::Entity { change } = &stored.change {
                let entities = self.entities.write();
                let mut entities = entities.unwrap_or_else(PoisonError::into_inner);
                // The draft accepted the same change in the same state, so this is a defect.
                if let Err(error) = entities.apply(change, stored.at) {
                    tracing::error!(%error, seq = stored.seq, "the entities refuse a change that is on disk");
                }
            }
        }
    }

    pub(super) fn change_entity(
        &self,
        change: dormouse_entities::EntityChange,
        reason: &str,
    ) -> Result<ChangeSeq, MemoryError> {
        self.check_follows_no_log()?;
        self.change_all(OnDisk::Now, |writing, entities, now| {
            let done = ops::change_entity(writing, entities, now, reason, Box::new(change))?;
            Ok((done.changes.last().map_or(0, |change| change.seq), done))
        })
    }

    pub(super) fn make(
        &self,
        change: MemoryChange,
        reason: &str,
    ) -> Result<Vec<Added>, MemoryError> {
        self.check_follows_no_log()?;
        self.change_all(OnDisk::Now, |writing, entities, now| {
            let event = writing.next_record()?.seq();
            ops::decided(writing, entities, now, reason, event, change)
        })
    }

    /// Erases a record from the file and from the copy of the projection, which contains its words.
    pub(super) fn erase(&self, id: RecordId, reason: &str) -> Result<ChangeSeq, MemoryError> {
        self.store.check_writable()?;
        // Reading is fastest from the copy, which is removed below.
        self.read_projection()?;
        let _saving = self.saving.lock().unwrap_or_else(PoisonError::into_inner);
        let had_copy = self.copy.as_ref().is_some_and(IndexCopy::exists);
        let seq = self.change(|writing, now| {
            let done = ops::erase(writing, now, reason, id)?;
            // The old copy is removed within the transaction: after a kill there must be no copy with the words in it. A
            // missing copy is made again.
            self.remove_copy()?;
            Ok((done.changes.last().map_or(0, |change| change.seq), done))
        })?;
        if had_copy && let Err(error) = self.save_copy() {
            tracing::warn!(%error, "the copy of the search index could not be saved");
        }
        Ok(seq)
    }

    /// Removes the copy of the projection. The caller holds `saving`.
    pub(crate) fn remove_copy(&self) -> Result<(), Fault> {
        if let Some(copy) = &self.copy {
            self.saved.store(0, Ordering::Relaxed);
            copy.remove()?;
        }
        Ok(())
    }

    pub(super) fn checkpoint(&self) -> Result<(), StoreError> {
        self.store.check_writable()?;
        let _saving = self.saving.lock().unwrap_or_else(PoisonError::into_inner);
        self.save_copy()
    }

    /// Writes the copy. The caller holds `saving`.
    fn save_copy(&self) -> Result<(), StoreError> {
        let Some(copy) = &self.copy else {
            return Ok(());
        };
        // A copy must not have changes that the file may lose.
        self.store.persist()?;
        // The disk may be slow, so the projection is encoded under its lock but written without it.
        let (bytes, through) = {
            let projection = self.projection()?;
            let through = projection.through;
            let changed_at = self.store.read(|reading| reading.changed_at(through))?;
            let changed_at = changed_at.unwrap_or(Timestamp::EPOCH);
            let bytes = index_copy::encode(&self.file_id, changed_at, &projection);
            (bytes, through)
        };
        let saved = copy.save(&bytes);
        saved.map_err(|error| StoreError::disk(copy.path(), error))?;
        self.saved.store(through, Ordering::Relaxed);
        Ok(())
    }
}

impl Drop for Inner {
    /// Saves the copy of the search index if reading the newer changes would slow down the next start.
    fn drop(&mut self) {
        if self.store.view().is_some() {
            return;
        }
        if self.is_worth_saving()
            && let Err(error) = self.checkpoint()
        {
            tracing::warn!(%error, "the copy of the search index could not be saved");
        }
        if !self.is_left_behind.load(Ordering::Relaxed)
            && let Err(error) = self.store.persist_when_closed()
        {
            tracing::warn!(%error, "the memory's file could not be written; the next start takes in the rest of the log");
        }
    }
}

#[cfg(test)]
mod tests {
    use dormouse_contracts::{AssistantId, Seq};

    use super::*;
    use crate::{Intake, IntakeStep, LogPosition, Memory, Note, Taken};

    #[tokio::test]
    async fn a_write_that_reported_a_failure_but_was_committed_is_applied_before_the_next() {
        let id = AssistantId::try_new("dormouse").unwrap();
        let memory = Memory::builder(id, || Timestamp::EPOCH)
            .ephemeral()
            .unwrap();
        let inner = &memory.inner;
        let lost = inner.store.write(|writing| {
            ops::add(
                writing,
                Timestamp::EPOCH,
                "heard",
                None,
                Note::new("peppermint"),
            )
        });
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

    #[tokio::test]
    async fn what_a_failure_loses_from_memory_is_taken_in_again_and_known_once() {
        let folder = tempfile::tempdir().unwrap();
        let id = AssistantId::try_new("dormouse").unwrap();
        let path = folder.path().join("m.redb");
        let open = || {
            let memory = Memory::builder(id.clone(), || Timestamp::EPOCH);
            memory.behind(64).open(&path)
        };
        // A new file is written at once.
        open().await.unwrap().close().await;
        let memory = open().await.unwrap();
        let of_event = |seq: u64, step| Intake {
            event: Seq(seq),
            at: Timestamp::EPOCH,
            author: None,
            reason: "heard".to_owned(),
            step,
        };
        let met = dormouse_entities::EntityChange::Created {
            entity: "alice".parse().unwrap(),
            entity_type: dormouse_entities::EntityType::Player,
            name: dormouse_entities::Name::try_new("Alice").unwrap(),
        };
        let part = |words: &str| {
            let note = IntakeStep::Note(RecordId::event(Seq(1)), Box::new(Note::new(words)));
            vec![
                of_event(1, note),
                of_event(1, IntakeStep::Entity(Box::new(met.clone()))),
            ]
        };
        let through = LogPosition { seq: 1, hash: 1 };
        memory
            .take_log(0, through, part("peppermint"))
            .await
            .unwrap();
        memory.recall("peppermint").await.unwrap();
        let lost = memory.inner.store.fail();
        assert_eq!(memory.log_position().await.unwrap().seq, 0, "{lost:?}");
        let taken = memory
            .take_log(0, through, part("peppermint"))
            .await
            .unwrap();
        assert_eq!(
            taken,
            Taken::Through {
                through,
                refused: 0
            }
        );
        assert_eq!(memory.entities().profiles().count(), 1);
        assert_eq!(memory.recall("peppermint").await.unwrap().items.len(), 1);
    }
}
