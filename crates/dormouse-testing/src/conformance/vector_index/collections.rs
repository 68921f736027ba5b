//! Collections are created and removed one by one, and only on request.

use dormouse_contracts::{PointFilter, VectorErrorKind, VectorIndex};

use super::shelf::{Shelf, point};

pub(super) async fn the_index_has_one_identity(index: &dyn VectorIndex) {
    assert!(!index.identity().is_empty(), "an index has an identity");
    let first = (index.identity(), index.retention());
    assert_eq!(
        first,
        (index.identity(), index.retention()),
        "neither changes"
    );
}

pub(super) async fn preparing_again_changes_nothing(index: &dyn VectorIndex) {
    let shelf = Shelf::new(index, "prepared", 2).await;
    assert_eq!(shelf.count().await, Some(0), "a new collection is empty");
    shelf.add(&[point(1, &[1.0, 0.0])]).await;
    shelf.prepare(2).await;
    assert_eq!(
        shelf.count().await,
        Some(1),
        "preparing again wipes nothing"
    );
    shelf.discard().await;
}

pub(super) async fn another_length_is_refused_and_wipes_nothing(index: &dyn VectorIndex) {
    let shelf = Shelf::new(index, "length", 3).await;
    shelf.add(&[point(1, &[1.0, 0.0, 0.0])]).await;
    for actual in [2, 4, 384] {
        let refused = VectorErrorKind::Dimension {
            expected: 3,
            actual,
        };
        assert_eq!(
            shelf.try_prepare(actual).await,
            Err(refused),
            "preparing a collection of length 3 again with length {actual}"
        );
    }
    let everything = PointFilter::default();
    let hits = shelf.ids(&[1.0, 0.0, 0.0], &everything, 10).await;
    assert_eq!(hits, [1], "a refused preparation wipes nothing");
    shelf.discard().await;
}

pub(super) async fn without_a_collection_nothing_is_done(index: &dyn VectorIndex) {
    let shelf = Shelf::of(index, "missing");
    shelf.discard().await;
    shelf.discard().await;
    let missing = VectorErrorKind::Missing;
    let points = [point(1, &[1.0, 0.0])];
    assert_eq!(shelf.count().await, None, "there is nothing to count");
    assert_eq!(shelf.try_add(&points).await, Err(missing), "adding");
    assert_eq!(shelf.try_add(&[]).await, Err(missing), "adding nothing");
    for limit in [0, 1] {
        let found = shelf.try_search(&[1.0, 0.0], limit).await;
        assert_eq!(found, Err(missing), "searching for {limit}");
    }
    for ids in [&[1][..], &[]] {
        let removed = index.remove(&shelf.name, ids).await;
        let refused = removed.err().map(|error| error.kind());
        assert_eq!(refused, Some(missing), "removing {ids:?}");
    }
    assert_eq!(
        shelf.count().await,
        None,
        "none of these calls creates the collection"
    );
}

pub(super) async fn discarded_collections_are_gone(index: &dyn VectorIndex) {
    let shelf = Shelf::new(index, "discarded", 2).await;
    shelf
        .add(&[point(1, &[1.0, 0.0]), point(2, &[0.0, 1.0])])
        .await;
    shelf.discard().await;
    assert_eq!(shelf.count().await, None, "a discarded collection is gone");
    let found = shelf.try_search(&[1.0, 0.0], 1).await;
    assert_eq!(
        found,
        Err(VectorErrorKind::Missing),
        "the points of a discarded collection are gone"
    );

    shelf.prepare(3).await;
    assert_eq!(
        shelf.count().await,
        Some(0),
        "a new one of this name is empty"
    );
    shelf.add(&[point(1, &[1.0, 0.0, 0.0])]).await;
    assert_eq!(
        shelf.count().await,
        Some(1),
        "a new one may have another length"
    );
    shelf.discard().await;
}

pub(super) async fn collections_are_apart(index: &dyn VectorIndex) {
    let one = Shelf::new(index, "apart", 2).await;
    let other = Shelf::new(index, "apart-", 3).await;
    one.add(&[point(1, &[1.0, 0.0]), point(2, &[0.0, 1.0])])
        .await;
    other.add(&[point(1, &[0.0, 0.0, 1.0])]).await;
    one.remove(&[1]).await;
    let everything = PointFilter::default();
    assert_eq!(
        one.admitted(&[1.0, 1.0], &everything).await,
        [2],
        "the first"
    );
    assert_eq!(
        other.admitted(&[0.0, 1.0, 1.0], &everything).await,
        [1],
        "the second"
    );
    one.discard().await;
    assert_eq!(other.count().await, Some(1), "the second one stays");
    other.discard().await;
}
