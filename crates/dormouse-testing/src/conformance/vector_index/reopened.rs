//! Confirmed changes survive a restart.

use dormouse_contracts::{PointFilter, Retention, VectorErrorKind, VectorIndex};

use super::subject::{TestedCollection, assistant, labelled, vector};

const KEPT: &str = "kept";
const DIMENSIONS: usize = 6;

/// The number of the point that gets another vector later.
const MOVED: u64 = 8;

pub(super) async fn write(index: &dyn VectorIndex) {
    let collection = TestedCollection::new(index, KEPT, DIMENSIONS).await;
    let points: Vec<_> = (0..100)
        .map(|id| {
            let whose = if id < 60 { "alice" } else { "bob" };
            labelled(id, &vector(id, DIMENSIONS), whose, 0.75, 1_000 + id as i64)
        })
        .collect();
    collection.add(&points).await;
    let odd: Vec<u64> = (0..100).filter(|id| id % 2 == 1).collect();
    collection.remove(&odd).await;
    let moved = labelled(MOVED, &vector(777, DIMENSIONS), "bob", 0.75, 1_000);
    collection.add(&[moved]).await;
}

pub(super) fn is_durable(index: &dyn VectorIndex) {
    assert_eq!(
        index.retention(),
        Retention::Durable,
        "only a durable index can be reopened"
    );
}

pub(super) async fn check(index: &dyn VectorIndex) {
    let collection = TestedCollection::of(index, KEPT);
    assert_eq!(
        collection.count().await,
        Some(50),
        "removed points stay removed"
    );
    let moved = collection
        .ids(&vector(777, DIMENSIONS), &PointFilter::default(), 1)
        .await;
    assert_eq!(moved, [MOVED], "a replaced point stays replaced");
    let own = PointFilter {
        assistant: Some(assistant("alice")),
        ..PointFilter::default()
    };
    let expected: Vec<u64> = (0..60).filter(|id| id % 2 == 0 && *id != MOVED).collect();
    let found = collection.admitted(&vector(3, DIMENSIONS), &own).await;
    assert_eq!(
        found, expected,
        "the points keep the fields that filters use"
    );
    assert_eq!(
        collection.try_prepare(DIMENSIONS + 1).await,
        Err(VectorErrorKind::Dimension {
            expected: DIMENSIONS,
            actual: DIMENSIONS + 1
        }),
        "the collection keeps the length of its vectors"
    );
}

/// Checks that a reopened collection takes new points and can be discarded.
pub(super) async fn go_on(index: &dyn VectorIndex) {
    let collection = TestedCollection::of(index, KEPT);
    collection.prepare(DIMENSIONS).await;
    collection
        .add(&[labelled(1, &vector(1, DIMENSIONS), "bob", 0.75, 1_000)])
        .await;
    assert_eq!(collection.count().await, Some(51), "points can be added");
    collection.discard().await;
    assert_eq!(
        collection.count().await,
        None,
        "a reopened collection can be discarded"
    );
}
