//! The port to an index of vectors.
//!
//! An index is derived: the owner of the texts and their vectors can feed it again from the start. So an index may lose
//! everything in a crash, but must never return a point that it was not given.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{
    future::{BoxError, BoxFuture},
    ids::{AssistantId, CollectionName},
    time::Timestamp,
    trust::Trust,
};

/// The properties of a point that a filter uses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointPayload {
    /// The assistant whose memory it is.
    pub assistant: AssistantId,
    /// Its trust.
    pub trust: Trust,
    /// The time of what it describes.
    pub at: Timestamp,
}

/// A vector with its owner's number.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The owner's number. A point replaces an earlier one with the same number.
    pub id: u64,
    /// The vector: finite, with as many numbers as the collection says, and not all zero. It need not have length one.
    pub vector: Vec<f32>,
    /// The properties that a filter uses.
    pub payload: PointPayload,
}

/// Which points may be returned: those that match every part that is set. The default matches all.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointFilter {
    /// Only points of this assistant.
    pub assistant: Option<AssistantId>,
    /// Only points with at least this trust.
    pub min_trust: Option<Trust>,
    /// Only points at this time or later.
    pub from: Option<Timestamp>,
    /// Only points before this time.
    pub until: Option<Timestamp>,
}

impl PointFilter {
    /// Whether a point with this payload matches.
    #[must_use]
    pub fn admits(&self, payload: &PointPayload) -> bool {
        self.assistant
            .as_ref()
            .is_none_or(|assistant| *assistant == payload.assistant)
            && self.min_trust.is_none_or(|least| payload.trust >= least)
            && self.from.is_none_or(|from| payload.at >= from)
            && self.until.is_none_or(|until| payload.at < until)
    }
}

/// A point that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Hit {
    /// The owner's number.
    pub id: u64,
    /// Cosine similarity to the query, in `-1.0..=1.0`.
    pub score: f32,
}

/// Whether an index keeps its points when its process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// It is empty after every start.
    Volatile,
    /// Every change that [`VectorIndex::upsert`] or [`VectorIndex::remove`] has confirmed survives a restart.
    Durable,
}

/// An index of vectors by cosine similarity. Every call is idempotent.
pub trait VectorIndex: Send + Sync {
    /// The name of the index among others of the same owner, unchanged by restarts: `exact`, or a server's address and
    /// prefix without secrets. Under this name the owner stores how far it has fed the index.
    fn identity(&self) -> String;

    /// Whether it keeps its points when the process ends.
    fn retention(&self) -> Retention;

    /// Creates the collection for vectors of `dimensions` numbers, unless it exists. Never changes an existing one.
    ///
    /// # Errors
    ///
    /// [`VectorErrorKind::Dimension`] if it exists for vectors of another length.
    fn prepare<'a>(
        &'a self,
        collection: &'a CollectionName,
        dimensions: usize,
    ) -> BoxFuture<'a, Result<(), VectorError>>;

    /// Adds points, replacing those with the same numbers; when it returns, they are found. A failed call may have added
    /// some of them: repeat it completely. Dropping the future may or may not stop it.
    ///
    /// # Errors
    ///
    /// [`VectorErrorKind::Dimension`] or [`VectorErrorKind::NotFinite`] if a vector does not fit: then nothing was
    /// added. [`VectorErrorKind::Missing`] if the collection does not exist.
    fn upsert<'a>(
        &'a self,
        collection: &'a CollectionName,
        points: &'a [Point],
    ) -> BoxFuture<'a, Result<(), VectorError>>;

    /// Removes points by number; when it returns, they are not found. Unknown numbers are not an error.
    ///
    /// # Errors
    ///
    /// [`VectorErrorKind::Missing`] if the collection does not exist.
    fn remove<'a>(
        &'a self,
        collection: &'a CollectionName,
        ids: &'a [u64],
    ) -> BoxFuture<'a, Result<(), VectorError>>;

    /// Up to `limit` points that match the filter and are nearest to `query`: best first, equal scores by number. An
    /// approximate index may miss some of the nearest points, but never because of the filter.
    ///
    /// # Errors
    ///
    /// [`VectorErrorKind::Dimension`] or [`VectorErrorKind::NotFinite`] if the query does not fit,
    /// [`VectorErrorKind::Missing`] if the collection does not exist.
    fn search<'a>(
        &'a self,
        collection: &'a CollectionName,
        query: &'a [f32],
        filter: &'a PointFilter,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Hit>, VectorError>>;

    /// How many points the collection has; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// [`VectorError`] if the index cannot be asked.
    fn count<'a>(
        &'a self,
        collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<Option<u64>, VectorError>>;

    /// Removes the collection with all its points. A missing collection is not an error.
    ///
    /// # Errors
    ///
    /// [`VectorError`] if the index cannot be asked.
    fn discard<'a>(
        &'a self,
        collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<(), VectorError>>;
}

/// What went wrong with a vector index, as far as a caller can act on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VectorErrorKind {
    /// Vectors of another length than the collection's.
    #[error("vectors of {actual} numbers in a collection for vectors of {expected}")]
    Dimension {
        /// The collection's length.
        expected: usize,
        /// The length of the given vectors.
        actual: usize,
    },
    /// A vector without a direction: one of its numbers is not finite, or all are zero.
    #[error("a vector has a number that is not finite, or is all zero")]
    NotFinite,
    /// The collection does not exist; [`VectorIndex::prepare`] creates it.
    #[error("no such collection")]
    Missing,
    /// The service could not be reached, was restarting, or did not answer in time.
    #[error("the vector index is unavailable")]
    Unavailable,
    /// The service asked for a pause of at least this long, if it said how long.
    #[error("the vector index asks for a pause")]
    Overloaded(Option<Duration>),
    /// The key is missing or wrong; only another configuration can help.
    #[error("the vector index refuses the key")]
    Unauthorised,
    /// The service refuses this request and would refuse it again.
    #[error("the vector index refuses the request")]
    Refused,
    /// The index has lost or damaged its files. Feed it again from the start.
    #[error("the vector index is damaged")]
    Damaged,
}

/// A failure of a [`VectorIndex`].
#[derive(Debug, thiserror::Error)]
#[error("{index}: {kind}")]
pub struct VectorError {
    index: String,
    kind: VectorErrorKind,
    source: Option<BoxError>,
}

impl VectorError {
    /// A failure of the index with this [identity](VectorIndex::identity).
    pub fn new(index: impl Into<String>, kind: VectorErrorKind) -> Self {
        Self {
            index: index.into(),
            kind,
            source: None,
        }
    }

    /// Adds the cause.
    #[must_use]
    pub fn with_source(mut self, source: impl Into<BoxError>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// What a caller can act on.
    #[must_use]
    pub fn kind(&self) -> VectorErrorKind {
        self.kind
    }

    /// Whether the same request may succeed later.
    #[must_use]
    pub fn may_succeed_later(&self) -> bool {
        match self.kind {
            VectorErrorKind::Unavailable | VectorErrorKind::Overloaded(_) => true,
            VectorErrorKind::Dimension { .. }
            | VectorErrorKind::NotFinite
            | VectorErrorKind::Missing
            | VectorErrorKind::Unauthorised
            | VectorErrorKind::Refused
            | VectorErrorKind::Damaged => false,
        }
    }

    /// Whether the fault lies with the service and not with this request.
    #[must_use]
    pub fn is_service_unhealthy(&self) -> bool {
        match self.kind {
            VectorErrorKind::Unavailable
            | VectorErrorKind::Overloaded(_)
            | VectorErrorKind::Unauthorised
            | VectorErrorKind::Damaged => true,
            VectorErrorKind::Dimension { .. }
            | VectorErrorKind::NotFinite
            | VectorErrorKind::Missing
            | VectorErrorKind::Refused => false,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_filter_admits_what_fits_all_its_parts() {
        let alice = AssistantId::try_new("alice").unwrap();
        let payload = PointPayload {
            assistant: alice.clone(),
            trust: Trust::try_new(0.5).unwrap(),
            at: Timestamp::from_micros(10),
        };
        let whole = PointFilter {
            assistant: Some(alice),
            min_trust: Some(payload.trust),
            from: Some(payload.at),
            until: Some(Timestamp::from_micros(11)),
        };
        assert!(PointFilter::default().admits(&payload));
        assert!(whole.admits(&payload));
        for filter in [
            PointFilter {
                assistant: Some(AssistantId::try_new("bob").unwrap()),
                ..whole.clone()
            },
            PointFilter {
                min_trust: Some(Trust::FULL),
                ..whole.clone()
            },
            PointFilter {
                from: Some(Timestamp::from_micros(11)),
                ..whole.clone()
            },
            PointFilter {
                until: Some(payload.at),
                ..whole
            },
        ] {
            assert!(!filter.admits(&payload), "{filter:?}");
        }
    }

    #[test]
    fn collection_names_fit_every_index() {
        assert!(CollectionName::try_new("memories_minilm-384").is_ok());
        for name in ["", "a/b", "a b", &"x".repeat(129)] {
            assert!(CollectionName::try_new(name).is_err(), "{name}");
        }
    }
}
