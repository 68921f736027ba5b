//! What an index holds, beside what it should hold.

use std::collections::BTreeMap;

use dormouse_contracts::{CollectionName, IdError, VectorError};
use dormouse_resilience::deadline;
use serde::Serialize;

use super::{CALL_LIMIT, index::count};
use crate::{
    memory::{Memory, MemoryError, blocking},
    record::Shelf,
    spaces::{self, SpaceState},
};

/// What an index of vectors holds of a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexReport {
    /// Which index, by its [identity](dormouse_contracts::VectorIndex::identity).
    pub index: String,
    /// The collections that are there, or should be.
    pub collections: Vec<IndexedCollection>,
    /// Changes that are not in the vectors, or not in the index, yet.
    pub waiting: u64,
}

/// One collection of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexedCollection {
    /// Its name; an index may put a prefix before it.
    pub name: CollectionName,
    /// The embedding space.
    pub space: u32,
    /// What the records in it are for.
    pub shelf: Shelf,
    /// How many points it should have once nothing waits.
    pub expected: u64,
    /// How many it has; `None` if it is not there.
    pub found: Option<u64>,
}

/// Why an index could not be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckIndexError {
    /// The index did not answer, or refused; the source says why.
    #[error("the vector index cannot be asked")]
    Index(#[from] VectorError),
    /// The index did not answer within 30 seconds.
    #[error("{0} did not answer within 30 seconds")]
    TimedOut(String),
    /// The assistant's key makes no name of a collection.
    #[error("the collections cannot be named")]
    Name(#[from] IdError),
    /// The memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Memory {
    /// Asks the index of vectors how much it holds; `None` without an encoder. Changes nothing, and asks even an index
    /// that is left alone because it failed too often.
    ///
    /// # Errors
    ///
    /// [`CheckIndexError`] if the index or the file fails.
    pub async fn check_index(&self) -> Result<Option<IndexReport>, CheckIndexError> {
        let Some(vectors) = &self.inner.vectors else {
            return Ok(None);
        };
        let index = vectors.index.port.identity();
        let mut collections = Vec::new();
        for ((space, shelf), expected) in self.expected_points().await? {
            let name = self.inner.collection(shelf, space)?;
            let asked = deadline(CALL_LIMIT, vectors.index.port.count(&name)).await;
            let found = asked.map_err(|_too_late| CheckIndexError::TimedOut(index.clone()))??;
            if expected > 0 || found.is_some() {
                collections.push(IndexedCollection {
                    name,
                    space,
                    shelf,
                    expected,
                    found,
                });
            }
        }
        Ok(Some(IndexReport {
            index,
            collections,
            waiting: self.waiting().await?,
        }))
    }

    /// How many points each shelf of each space should have. A space that recall does not go by is in no index.
    async fn expected_points(&self) -> Result<BTreeMap<(u32, Shelf), u64>, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || {
            Ok(inner.store.read(|reading| {
                let mut expected = BTreeMap::new();
                for space in spaces::all(reading)? {
                    let counts = count(reading, space.number)?;
                    let is_indexed = space.state != SpaceState::Retired;
                    expected.extend(counts.into_iter().map(|(shelf, count)| {
                        ((space.number, shelf), if is_indexed { count } else { 0 })
                    }));
                }
                Ok(expected)
            })?)
        })
        .await
    }
}
