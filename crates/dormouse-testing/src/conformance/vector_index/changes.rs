//! Checks that points can be added, replaced and removed.

use dormouse_contracts::{PointFilter, VectorErrorKind, VectorIndex};

use super::subject::{TestedCollection, point, vector};

const DIMENSIONS: usize = 8;

pub(super) async fn added_points_are_found(index: &dyn VectorIndex) {
    let collection = TestedCollection::new(index, "added", DIMENSIONS).await;
    let ids = [0, 1, 2, 1 << 33, u64::MAX - 1, u64::MAX];
    let points = ids.map(|id| point(id, &vector(id, DIMENSIONS)));
    collection.add(&points).await;
    for point in &points {
        let found = collection
            .ids(&point.vector, &PointFilter::default(), 1)
            .await;
        assert_eq!(found, [point.id], "each point is nearest to its own vector");
    }
    assert_eq!(
        collection.count().await,
        Some(ids.len() as u64),
        "each point is counted"
    );

    let many: Vec<_> = (10..1_010)
        .map(|id| point(id, &vector(id, DIMENSIONS)))
        .collect();
    collection.add(&many).await;
    assert_eq!(
        collection.count().await,
        Some(1_006),
        "one call adds a thousand points"
    );
    let found = collection
        .ids(&vector(1_009, DIMENSIONS), &PointFilter::default(), 1)
        .await;
    assert_eq!(found, [1_009], "the last of a thousand points is found");
    collection.add(&[]).await;
    assert_eq!(
        collection.count().await,
        Some(1_006),
        "a call without points adds none"
    );
    collection.discard().await;
}

pub(super) async fn a_point_replaces_one_of_its_number(index: &dyn VectorIndex) {
    let collection = TestedCollection::new(index, "replaced", 2).await;
    collection
        .add(&[point(1, &[1.0, 0.0]), point(2, &[0.0, 1.0])])
        .await;
    collection.add(&[point(1, &[-1.0, 0.0])]).await;
    let hits = collection
        .search(&[-1.0, 0.0], &PointFilter::default(), 5)
        .await;
    assert_eq!(
        hits.len(),
        2,
        "a point replaces the point with the same number: {hits:?}"
    );
    assert!(
        hits[0].id == 1 && hits[0].score > 0.99,
        "a replaced point is found by its new vector: {hits:?}"
    );

    collection
        .add(&[point(3, &[1.0, 0.1]), point(3, &[1.0, 0.1])])
        .await;
    assert_eq!(
        collection.count().await,
        Some(3),
        "a point also replaces another one of the same call"
    );
    collection.discard().await;
}

pub(super) async fn removed_points_are_not_found(index: &dyn VectorIndex) {
    let collection = TestedCollection::new(index, "removed", DIMENSIONS).await;
    let points: Vec<_> = (0..600)
        .map(|id| point(id, &vector(id, DIMENSIONS)))
        .collect();
    collection.add(&points).await;
    let odd: Vec<u64> = (0..600).filter(|id| id % 2 == 1).collect();
    collection.remove(&odd).await;
    assert_eq!(
        collection.count().await,
        Some(300),
        "every second point was removed"
    );
    let left = collection
        .admitted(&vector(7, DIMENSIONS), &PointFilter::default())
        .await;
    let even: Vec<u64> = (0..600).filter(|id| id % 2 == 0).collect();
    assert_eq!(left, even, "the other points are found");
    for id in [0, 2, 300, 598] {
        let found = collection
            .ids(&vector(id, DIMENSIONS), &PointFilter::default(), 1)
            .await;
        assert_eq!(found, [id], "each of the other points keeps its vector");
    }
    collection.remove(&[1, 9_999]).await;
    collection.remove(&[]).await;
    assert_eq!(
        collection.count().await,
        Some(300),
        "removing an absent point is not an error"
    );
    collection.remove(&even).await;
    assert_eq!(
        collection.count().await,
        Some(0),
        "a collection still exists when it is empty"
    );
    collection.add(&points[..1]).await;
    assert_eq!(
        collection.count().await,
        Some(1),
        "an emptied collection takes points again"
    );
    collection.discard().await;
}

pub(super) async fn repeating_a_call_changes_nothing(index: &dyn VectorIndex) {
    let collection = TestedCollection::new(index, "repeated", DIMENSIONS).await;
    let points: Vec<_> = (0..300)
        .map(|id| point(id, &vector(id, DIMENSIONS)))
        .collect();
    let query = vector(1_000, DIMENSIONS);
    let everything = PointFilter::default();
    collection.add(&points).await;
    let first = collection.search(&query, &everything, 20).await;
    collection.add(&points).await;
    assert_eq!(
        collection.count().await,
        Some(300),
        "adding the same points again changes nothing"
    );
    assert_eq!(
        collection.search(&query, &everything, 20).await,
        first,
        "a search finds the same points after they were added again"
    );

    collection.remove(&[first[0].id]).await;
    collection.remove(&[first[0].id, first[0].id]).await;
    assert_eq!(
        collection.count().await,
        Some(299),
        "removing a point again changes nothing"
    );
    assert_eq!(
        collection.search(&query, &everything, 19).await,
        first[1..],
        "the other points are still found"
    );
    collection.discard().await;
}

pub(super) async fn one_that_does_not_fit_keeps_all_out(index: &dyn VectorIndex) {
    let collection = TestedCollection::new(index, "unfit", 2).await;
    // There are more points than an adapter sends in one request, and only the last one is invalid.
    let mut points: Vec<_> = (0..600).map(|id| point(id, &vector(id, 2))).collect();
    for unfit in [
        [f32::NAN, 1.0],
        [1.0, f32::INFINITY],
        [f32::NEG_INFINITY, 1.0],
        [0.0, -0.0],
    ] {
        points.push(point(601, &unfit));
        let refused = collection.try_add(&points).await;
        assert_eq!(
            refused,
            Err(VectorErrorKind::NotFinite),
            "{unfit:?} is refused, because it has no direction"
        );
        points.pop();
    }
    for actual in [0, 1, 3] {
        points.push(point(601, &vector(1, actual)));
        let refused = VectorErrorKind::Dimension {
            expected: 2,
            actual,
        };
        assert_eq!(
            collection.try_add(&points).await,
            Err(refused),
            "{actual} numbers, not 2"
        );
        points.pop();
    }
    assert_eq!(
        collection.count().await,
        Some(0),
        "a refused call adds no points"
    );
    collection.add(&points).await;
    assert_eq!(
        collection.count().await,
        Some(600),
        "the valid points are added"
    );
    collection.discard().await;
}
