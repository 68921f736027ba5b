//! Reading what a memory holds.

use std::{
    collections::{BTreeSet, VecDeque},
    sync::PoisonError,
};

use dormouse_entities::Entities;
use serde::Serialize;

use super::{Inner, Memory, MemoryError, blocking};
use crate::{
    change::{Change, ChangeSeq, StoredChange},
    record::{Record, RecordId},
    store::{StoreError, tables::LOG_THROUGH},
};

/// Why a record is as it is: the chain back to its sources, and everything that happened to it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Why {
    /// The record.
    pub record: Record,
    /// Its sources, their sources and so on: nearest first, at most [`Why::DEPTH`] records.
    pub sources: Vec<Record>,
    /// Its changes in order, each with its reason.
    pub changes: Vec<StoredChange>,
}

impl Why {
    /// The highest number of sources.
    pub const DEPTH: usize = 256;

    /// Why the record has no words any more, if it has none.
    #[must_use]
    pub fn lost_words(&self) -> Option<LostWords> {
        if !self.record.text.is_empty() {
            return None;
        }
        let is_erased = |change: &StoredChange| matches!(change.change, Change::Erased { .. });
        Some(match self.changes.iter().any(is_erased) {
            true => LostWords::Erased,
            false => LostWords::Forgotten,
        })
    }
}

/// Why a record has no words any more. Nothing that is undone brings them back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LostWords {
    /// They were removed from the memory.
    Erased,
    /// They were taken out of all files.
    Forgotten,
}

/// The size of a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Stats {
    /// Records that can be recalled.
    pub in_use: u64,
    /// All records, including those that were withdrawn, folded or erased.
    pub records: u64,
    /// All changes that were made.
    pub changes: u64,
    /// Known people and things.
    pub entities: u64,
    /// The size of its file, in bytes; 0 without one.
    pub file_bytes: u64,
    /// The size of the search index in memory, in bytes.
    pub index_bytes: u64,
    /// The last event of the log that was taken in.
    pub log_through: u64,
}

impl Memory {
    /// Whether this is a [view](crate::MemoryBuilder::open_view) of a file that another process had open. There may be newer
    /// records by now.
    #[must_use]
    pub fn is_in_use_elsewhere(&self) -> bool {
        self.inner.store.view() == Some(true)
    }

    /// The record of this number; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn record(&self, id: RecordId) -> Result<Option<Record>, MemoryError> {
        self.read(move |inner| inner.store.read(|reading| reading.record(id)))
            .await
    }

    /// At most `limit` records after `after`, by number and of any status; fewer if they are very long. There are no more
    /// records only if the result is empty.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn records(
        &self,
        after: Option<RecordId>,
        limit: usize,
    ) -> Result<Vec<Record>, MemoryError> {
        self.read(move |inner| inner.store.read(|reading| reading.page(after, limit)))
            .await
    }

    /// At most `limit` changes after the change `after`, in order.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn changes(
        &self,
        after: ChangeSeq,
        limit: usize,
    ) -> Result<Vec<StoredChange>, MemoryError> {
        self.read(move |inner| inner.store.read(|reading| reading.changes(after, limit)))
            .await
    }

    /// Why a record is as it is; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn why(&self, id: RecordId) -> Result<Option<Why>, MemoryError> {
        self.read(move |inner| inner.why(id)).await
    }

    /// The size of the memory.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn stats(&self) -> Result<Stats, MemoryError> {
        self.read(Inner::stats).await
    }

    /// The known people and things, and the open conversations, as they are now.
    #[must_use]
    pub fn entities(&self) -> Entities {
        self.with_entities(Clone::clone)
    }

    /// Reads the known people and things without copying them.
    pub fn with_entities<T>(&self, read: impl FnOnce(&Entities) -> T) -> T {
        read(
            &self
                .inner
                .entities
                .read()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Inner) -> Result<T, StoreError> + Send + 'static,
    ) -> Result<T, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || work(&inner).map_err(MemoryError::from)).await
    }
}

impl Inner {
    fn why(&self, id: RecordId) -> Result<Option<Why>, StoreError> {
        self.store.read(|reading| {
            let Some(record) = reading.record(id)? else {
                return Ok(None);
            };
            let mut sources: Vec<Record> = Vec::new();
            let mut waiting = VecDeque::from(record.provenance.derived_from.clone());
            let mut seen = BTreeSet::new();
            while sources.len() < Why::DEPTH
                && let Some(next) = waiting.pop_front()
            {
                if seen.insert(next)
                    && let Some(source) = reading.record(next)?
                {
                    waiting.extend(&source.provenance.derived_from);
                    sources.push(source);
                }
            }
            Ok(Some(Why {
                record,
                sources,
                changes: reading.history(id)?,
            }))
        })
    }

    fn stats(&self) -> Result<Stats, StoreError> {
        use crate::store::tables::{IN_USE, NEXT_CHANGE, RECORD_COUNT};
        let entities = self
            .entities
            .read()
            .unwrap_or_else(PoisonError::into_inner)
            .profiles()
            .count();
        let index_bytes = self.projection()?.index.memory_bytes();
        let file = self.store.path().map(std::fs::metadata);
        let file_bytes = file.and_then(Result::ok).map_or(0, |found| found.len());
        self.store.read(|reading| {
            Ok(Stats {
                in_use: reading.state(IN_USE)?,
                records: reading.state(RECORD_COUNT)?,
                changes: reading.state(NEXT_CHANGE)?,
                entities: u64::try_from(entities).unwrap_or(u64::MAX),
                file_bytes,
                index_bytes: u64::try_from(index_bytes).unwrap_or(u64::MAX),
                log_through: reading.state(LOG_THROUGH)?,
            })
        })
    }
}
