//! Comparing what an index holds with what it should hold.

use std::collections::BTreeMap;

use dormouse_contracts::{CollectionName, IdError, VectorError};
use dormouse_resilience::deadline;
use serde::Serialize;

use super::expected::expected_points;
use crate::{
    memory::{Memory, MemoryError, blocking},
    record::Collection,
    spaces::{self, SpaceState},
    vectors::CALL_LIMIT,
};

/// What an index of vectors holds of a memory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexReport {
    /// Which index, by its [identity](dormouse_contracts::VectorIndex::identity).
    pub index: String,
    /// The collections that are there, or should be.
    pub collections: Vec<IndexedCollection>,
    /// Changes that are not yet in the vectors, or not yet in the index.
    pub waiting: u64,
}

/// One collection of an index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct IndexedCollection {
    /// Its name; an index may put a prefix before it.
    pub name: CollectionName,
    /// The embedding space.
    pub space: u32,
    /// The collection of the records in it.
    pub collection: Collection,
    /// How many points it should have once no change waits.
    pub expected: u64,
    /// How many it has; `None` if the index has no such collection.
    pub found: Option<u64>,
}

/// Why an index could not be checked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckIndexError {
    /// The index failed or refused the request; the source says why.
    #[error("the vector index cannot be checked")]
    Index(#[from] VectorError),
    /// The index did not answer within 30 seconds.
    #[error("{0} did not answer within 30 seconds")]
    TimedOut(String),
    /// The name of a collection does not fit.
    #[error("the name of a collection does not fit")]
    Name(#[from] IdError),
    /// The memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Memory {
    /// Asks the vector index how many points it holds; `None` without an encoder. Changes nothing. The index is asked even
    /// while its circuit is open.
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
        for ((space, collection), expected) in self.all_expected_points().await? {
            let name = self.inner.collection_name(collection, space)?;
            let asked = deadline(CALL_LIMIT, vectors.index.port.count(&name)).await;
            let found = asked.map_err(|_too_late| CheckIndexError::TimedOut(index.clone()))??;
            if expected > 0 || found.is_some() {
                collections.push(IndexedCollection {
                    name,
                    space,
                    collection,
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

    /// How many points each collection of each space should have. A retired space is in no index.
    async fn all_expected_points(&self) -> Result<BTreeMap<(u32, Collection), u64>, MemoryError> {
        let inner = self.inner.clone();
        blocking(move || {
            Ok(inner.store.read(|reading| {
                let mut expected = BTreeMap::new();
                for space in spaces::all(reading)? {
                    let counts = expected_points(reading, space.number)?;
                    let is_indexed = space.state != SpaceState::Retired;
                    expected.extend(counts.into_iter().map(|(collection, count)| {
                        (
                            (space.number, collection),
                            if is_indexed { count } else { 0 },
                        )
                    }));
                }
                Ok(expected)
            })?)
        })
        .await
    }
}
