//! Stores how far an index is filled: in the memory's file for a durable index, in this process for a volatile one.

use std::collections::BTreeSet;

use crate::{
    memory::{Inner, Memory, MemoryError, blocking},
    record::Collection,
    spaces,
    store::{Fault, Reading},
    vectors::IndexCheckpoint,
};

impl Inner {
    /// How far the index is filled from a space.
    pub(super) fn index_checkpoint(
        &self,
        reading: &Reading,
        space: u32,
    ) -> Result<IndexCheckpoint, Fault> {
        let Some(vectors) = &self.vectors else {
            return Ok(IndexCheckpoint::default());
        };
        if vectors.index.is_volatile() {
            return Ok(vectors.knowledge.volatile_checkpoint(space));
        }
        let index = vectors.index.port.identity();
        let mut checkpoint = IndexCheckpoint {
            through: reading.state(&spaces::indexed_through(space, &index))?,
            made: BTreeSet::new(),
        };
        for collection in Collection::ALL {
            if reading.state(&spaces::made(space, collection, &index))? > 0 {
                checkpoint.made.insert(collection);
            }
        }
        Ok(checkpoint)
    }
}

impl Memory {
    /// How far the index is filled from a space.
    pub(super) async fn index_checkpoint(
        &self,
        space: u32,
    ) -> Result<IndexCheckpoint, MemoryError> {
        let inner = self.inner.clone();
        let read = move || {
            Ok(inner
                .store
                .read(|reading| inner.index_checkpoint(reading, space))?)
        };
        blocking(read).await
    }

    /// Saves how far the index is filled from a space.
    pub(super) async fn save_index_checkpoint(
        &self,
        space: u32,
        checkpoint: &IndexCheckpoint,
    ) -> Result<(), MemoryError> {
        let Some(vectors) = &self.inner.vectors else {
            return Ok(());
        };
        let checkpoint = checkpoint.clone();
        if vectors.index.is_volatile() {
            vectors.knowledge.set_volatile_checkpoint(space, checkpoint);
            return Ok(());
        }
        let index = vectors.index.port.identity();
        self.keep(move |writing, _| {
            for collection in checkpoint.made {
                writing.set_state(&spaces::made(space, collection, &index), 1)?;
            }
            writing.set_state(&spaces::indexed_through(space, &index), checkpoint.through)
        })
        .await
    }

    /// Counts a space as not indexed.
    pub(super) async fn clear_index_checkpoint(&self, space: u32) -> Result<(), MemoryError> {
        let Some(vectors) = &self.inner.vectors else {
            return Ok(());
        };
        vectors.knowledge.forget(space);
        if vectors.index.is_volatile() {
            return Ok(());
        }
        let index = vectors.index.port.identity();
        self.keep(move |writing, _| {
            for collection in Collection::ALL {
                writing.remove_state(&spaces::made(space, collection, &index))?;
            }
            writing.remove_state(&spaces::indexed_through(space, &index))
        })
        .await
    }
}
