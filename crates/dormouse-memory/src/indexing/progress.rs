//! What indexing did, and what can stop it.

use dormouse_contracts::IdError;

use crate::{fallback::Fallback, memory::MemoryError, store::StoreError, vectors::IndexRefusal};

/// What one round of background indexing did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IndexProgress {
    /// Records that got their vectors.
    pub embedded: u64,
    /// Points that were added to the index or removed from it.
    pub indexed: u64,
    /// Changes that are not yet in the vectors, or not yet in the index.
    pub waiting: u64,
    /// Why it stopped early, unless it reached the limit of its caller. The next call continues from there.
    pub interrupted_by: Option<Fallback>,
}

/// Why vectors could not be brought up to date or searched.
#[derive(Debug)]
pub(crate) enum IndexingError {
    Memory(MemoryError),
    Fallback(Fallback),
    /// The index no longer has what it was sent.
    Lost,
}

impl IndexingError {
    /// Why similarity is not available, unless the memory itself failed.
    pub(crate) fn fallback(self) -> Result<Fallback, MemoryError> {
        match self {
            Self::Memory(error) => Err(error),
            Self::Fallback(fallback) => Ok(fallback),
            Self::Lost => Ok(Fallback::IndexLost),
        }
    }
}

impl From<MemoryError> for IndexingError {
    fn from(error: MemoryError) -> Self {
        Self::Memory(error)
    }
}

impl From<Fallback> for IndexingError {
    fn from(fallback: Fallback) -> Self {
        Self::Fallback(fallback)
    }
}

impl From<IndexRefusal> for IndexingError {
    fn from(refusal: IndexRefusal) -> Self {
        Self::Fallback(refusal.into())
    }
}

impl From<IdError> for IndexingError {
    fn from(error: IdError) -> Self {
        // The parts of a collection's name are bounded, so that the name always fits.
        tracing::error!(%error, "the name of a collection does not fit");
        Self::Fallback(Fallback::VectorIndex)
    }
}

impl From<StoreError> for IndexingError {
    fn from(error: StoreError) -> Self {
        Self::Memory(error.into())
    }
}
