//! The port to an index of vectors.
//!
//! An index is derived: whoever keeps the texts and their vectors can feed it again from the start. So an index may
//! forget everything in a crash, but must never answer with what it was not given.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::{AssistantId, BoxError, BoxFuture, CollectionName, Timestamp, Trust};

/// What a point is filtered by.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointPayload {
    /// Whose memory it is.
    pub assistant: AssistantId,
    /// How far it is believed.
    pub trust: Trust,
    /// When it was said or happened.
    pub at: Timestamp,
}

/// A vector with the number its owner knows it by.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The owner's number for it. A point replaces one of the same number.
    pub id: u64,
    /// Its place. Finite, of the collection's length, and not all zero; it need not be of length one.
    pub vector: Vec<f32>,
    /// What it is filtered by.
    pub payload: PointPayload,
}

/// Which points may be answered: those that fit every part that is given. The default lets all through.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PointFilter {
    /// Only those of this assistant.
    pub assistant: Option<AssistantId>,
    /// Only those believed at least as far.
    pub min_trust: Option<Trust>,
    /// Only those at this time or later.
    pub from: Option<Timestamp>,
    /// Only those before this time.
    pub until: Option<Timestamp>,
}

impl PointFilter {
    /// Whether a point with this payload may be answered.
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

/// Whether an index keeps what it was given when its process ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retention {
    /// It is empty after every start.
    Volatile,
    /// What [`VectorIndex::upsert`] and [`VectorIndex::remove`] have answered is there after a restart.
    Durable,
}

/// An index of vectors by cosine similarity. Every call may be repeated: repeating one changes nothing.
pub trait VectorIndex: Send + Sync {
    /// Names the index among others that one owner may feed, the same after every restart: `exact`, or a server's
    /// address and prefix without any secret in it. The owner files under it how far the index has been fed.
    fn identity(&self) -> String;

    /// Whether it keeps what it was given.
    fn retention(&self) -> Retention;

    /// Makes the collection for vectors of `dimensions` numbers if it is not there. Never changes one that is.
    ///
    /// # Errors
    ///
    /// [`VectorErrorKind::Dimension`] if it is there for vectors of another length.
    fn prepare<'a>(
        &'a self,
        collection: &'a CollectionName,
        dimensions: usize,
    ) -> BoxFuture<'a, Result<(), VectorError>>;

    /// Adds points, replacing those of the same numbers; once it answers, they are found. A call may be refused
    /// half done: repeat it whole. Dropping the future may or may not stop it.
    ///
    /// # Errors
    ///
    /// [`VectorErrorKind::Dimension`] or [`VectorErrorKind::NotFinite`] if a vector does not fit: then nothing was
    /// added. [`VectorErrorKind::Missing`] without a collection.
    fn upsert<'a>(
        &'a self,
        collection: &'a CollectionName,
        points: &'a [Point],
    ) -> BoxFuture<'a, Result<(), VectorError>>;

    /// Removes points by number; once it answers, they are not found. Numbers that are not there are no error.
    ///
    /// # Errors
    ///
    /// [`VectorErrorKind::Missing`] without a collection.
    fn remove<'a>(
        &'a self,
        collection: &'a CollectionName,
        ids: &'a [u64],
    ) -> BoxFuture<'a, Result<(), VectorError>>;

    /// The at most `limit` points nearest to `query` that the filter admits: best first, equal scores by number. What
    /// is missing among them may only be missing because the index is approximate, never because of the filter.
    ///
    /// # Errors
    ///
    /// [`VectorErrorKind::Dimension`] or [`VectorErrorKind::NotFinite`] if the query does not fit,
    /// [`VectorErrorKind::Missing`] without a collection.
    fn search<'a>(
        &'a self,
        collection: &'a CollectionName,
        query: &'a [f32],
        filter: &'a PointFilter,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<Hit>, VectorError>>;

    /// How many points the collection has; `None` without a collection.
    ///
    /// # Errors
    ///
    /// [`VectorError`] if the index cannot be asked.
    fn count<'a>(
        &'a self,
        collection: &'a CollectionName,
    ) -> BoxFuture<'a, Result<Option<u64>, VectorError>>;

    /// Removes the collection with all its points. One that is not there is no error.
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
        /// The length that was given.
        actual: usize,
    },
    /// A vector that has no direction: a number in it is not finite, or all are zero.
    #[error("a vector has a number that is not finite, or is all zero")]
    NotFinite,
    /// There is no such collection; [`VectorIndex::prepare`] makes it.
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
    /// The index has lost or damaged its own files. Feed it again from the start.
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
    /// A failure of the index of this [identity](VectorIndex::identity).
    pub fn new(index: impl Into<String>, kind: VectorErrorKind) -> Self {
        Self {
            index: index.into(),
            kind,
            source: None,
        }
    }

    /// The same with its cause.
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

    /// Whether the service, not the request, is what ails.
    #[must_use]
    pub fn is_service_ill(&self) -> bool {
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
