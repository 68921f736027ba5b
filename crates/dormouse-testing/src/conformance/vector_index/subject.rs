//! A collection that the suite uses. Its methods panic if a call fails.

use dormouse_contracts::{
    AssistantId, CollectionName, Hit, Point, PointFilter, PointPayload, Random, Timestamp, Trust,
    VectorErrorKind, VectorIndex,
};

use crate::SeededRandom;

/// How much a score may differ from the exact one.
pub(super) const CLOSE: f32 = 1e-3;

pub(super) struct TestedCollection<'a> {
    pub(super) index: &'a dyn VectorIndex,
    pub(super) name: CollectionName,
}

impl<'a> TestedCollection<'a> {
    /// A handle to the existing collection.
    pub(super) fn of(index: &'a dyn VectorIndex, name: &str) -> Self {
        let name = CollectionName::try_new(format!("conformance-{name}")).unwrap();
        Self { index, name }
    }

    /// Creates the collection, empty. Removes an existing one first.
    pub(super) async fn new(index: &'a dyn VectorIndex, name: &str, dimensions: usize) -> Self {
        let collection = Self::of(index, name);
        collection.discard().await;
        collection.prepare(dimensions).await;
        collection
    }

    pub(super) async fn prepare(&self, dimensions: usize) {
        self.try_prepare(dimensions).await.unwrap();
    }

    pub(super) async fn try_prepare(&self, dimensions: usize) -> Result<(), VectorErrorKind> {
        let prepared = self.index.prepare(&self.name, dimensions).await;
        prepared.map_err(|error| error.kind())
    }

    pub(super) async fn add(&self, points: &[Point]) {
        let name = &self.name;
        let added = self.index.upsert(name, points).await;
        added.unwrap_or_else(|error| panic!("adding to {name}: {error}"));
    }

    pub(super) async fn try_add(&self, points: &[Point]) -> Result<(), VectorErrorKind> {
        let added = self.index.upsert(&self.name, points).await;
        added.map_err(|error| error.kind())
    }

    pub(super) async fn remove(&self, ids: &[u64]) {
        let removed = self.index.remove(&self.name, ids).await;
        removed.unwrap_or_else(|error| panic!("removing from {}: {error}", self.name));
    }

    pub(super) async fn search(
        &self,
        query: &[f32],
        filter: &PointFilter,
        limit: usize,
    ) -> Vec<Hit> {
        let found = self.index.search(&self.name, query, filter, limit).await;
        found.unwrap_or_else(|error| panic!("searching {}: {error}", self.name))
    }

    pub(super) async fn try_search(
        &self,
        query: &[f32],
        limit: usize,
    ) -> Result<Vec<Hit>, VectorErrorKind> {
        let filter = PointFilter::default();
        let found = self.index.search(&self.name, query, &filter, limit).await;
        found.map_err(|error| error.kind())
    }

    /// The numbers of the hits, in order.
    pub(super) async fn ids(&self, query: &[f32], filter: &PointFilter, limit: usize) -> Vec<u64> {
        let hits = self.search(query, filter, limit).await;
        hits.iter().map(|hit| hit.id).collect()
    }

    /// The numbers of all points that match the filter, in ascending order.
    pub(super) async fn admitted(&self, query: &[f32], filter: &PointFilter) -> Vec<u64> {
        let mut ids = self.ids(query, filter, 5_000).await;
        ids.sort_unstable();
        ids
    }

    pub(super) async fn count(&self) -> Option<u64> {
        self.index.count(&self.name).await.unwrap()
    }

    pub(super) async fn discard(&self) {
        self.index.discard(&self.name).await.unwrap();
    }
}

pub(super) fn assistant(name: &str) -> AssistantId {
    AssistantId::try_new(name).unwrap()
}

pub(super) fn trust(score: f32) -> Trust {
    Trust::try_new(score).unwrap()
}

pub(super) fn at(micros: i64) -> Timestamp {
    Timestamp::from_micros(micros)
}

/// A point with a certain number and vector; the rest does not matter.
pub(super) fn point(id: u64, vector: &[f32]) -> Point {
    labelled(id, vector, "alice", 1.0, 1_000_000)
}

pub(super) fn labelled(id: u64, vector: &[f32], whose: &str, score: f32, micros: i64) -> Point {
    Point {
        id,
        vector: vector.to_vec(),
        payload: PointPayload {
            assistant: assistant(whose),
            trust: trust(score),
            at: at(micros),
        },
    }
}

/// A vector that is the same for the same seed, with numbers in `-1.0..1.0`.
pub(super) fn vector(seed: u64, dimensions: usize) -> Vec<f32> {
    let random = SeededRandom::new(seed);
    let number = |_| (random.unit() * 2.0 - 1.0) as f32;
    (0..dimensions).map(number).collect()
}

pub(super) fn cosine(a: &[f32], b: &[f32]) -> f32 {
    let product = |a: &[f32], b: &[f32]| -> f64 {
        let pairs = a.iter().zip(b);
        pairs.map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    (product(a, b) / (product(a, a) * product(b, b)).sqrt()) as f32
}
