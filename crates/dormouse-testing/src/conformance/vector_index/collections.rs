//! Collections are created and removed one by one, and only on request.

use dormouse_contracts::{PointFilter, VectorErrorKind, VectorIndex};

use super::subject::{TestedCollection, point};

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
    let collection = TestedCollection::new(index, "prepared", 2).await;
    assert_eq!(
        collection.count().await,
        Some(0),
        "a new collection is empty"
    );
    collection.add(&[point(1, &[1.0, 0.0])]).await;
    collection.prepare(2).await;
    assert_eq!(
        collection.count().await,
        Some(1),
        "preparing again wipes nothing"
    );
    collection.discard().await;
}

pub(super) async fn another_length_is_refused_and_wipes_nothing(index: &dyn VectorIndex) {
    let collection = TestedCollection::new(index, "length", 3).await;
    collection.add(&[point(1, &[1.0, 0.0, 0.0])]).await;
    for actual in [2, 4, 384] {
        let refused = VectorErrorKind::Dimension {
            expected: 3,
            actual,
        };
        assert_eq!(
            collection.try_prepare(actual).await,
            Err(refused),
            "preparing a collection of length 3 again with length {actual}"
        );
    }
    let everything = PointFilter::default();
    let hits = collection.ids(&[1.0, 0.0, 0.0], &everything, 10).await;
    assert_eq!(hits, [1], "a refused preparation wipes nothing");
    collection.discard().await;
}

pub(super) async fn without_a_collection_nothing_is_done(index: &dyn VectorIndex) {
    let collection = TestedCollection::of(index, "missing");
    collection.discard().await;
    collection.discard().await;
    let missing = VectorErrorKind::Missing;
    let points = [point(1, &[1.0, 0.0])];
    assert_eq!(collection.count().await, None, "there is nothing to count");
    assert_eq!(collection.try_add(&points).await, Err(missing), "adding");
    assert_eq!(
        collection.try_add(&[]).await,
        Err(missing),
        "adding nothing"
    );
    for limit in [0, 1] {
        let found = collection.try_search(&[1.0, 0.0], limit).await;
        assert_eq!(found, Err(missing), "searching for {limit}");
    }
    for ids in [&[1][..], &[]] {
        let removed = index.remove(&collection.name, ids).await;
        let refused = removed.err().map(|error| error.kind());
        assert_eq!(refused, Some(missing), "removing {ids:?}");
    }
    assert_eq!(
        collection.count().await,
        None,
        "none of these calls creates the collection"
    );
}

pub(super) async fn discarded_collections_are_gone(index: &dyn VectorIndex) {
    let collection = TestedCollection::new(index, "discarded", 2).await;
    collection
        .add(&[point(1, &[1.0, 0.0]), point(2, &[0.0, 1.0])])
        .await;
    collection.discard().await;
    assert_eq!(
        collection.count().await,
        None,
        "a discarded collection is gone"
    );
    let found = collection.try_search(&[1.0, 0.0], 1).await;
    assert_eq!(
        found,
        Err(VectorErrorKind::Missing),
        "the points of a discarded collection are gone"
    );

    collection.prepare(3).await;
    assert_eq!(
        collection.count().await,
        Some(0),
        "a new one of this name is empty"
    );
    collection.add(&[point(1, &[1.0, 0.0, 0.0])]).await;
    assert_eq!(
        collection.count().await,
        Some(1),
        "a new one may have another length"
    );
    collection.discard().await;
}

pub(super) async fn collections_are_apart(index: &dyn VectorIndex) {
    let one = TestedCollection::new(index, "apart", 2).await;
    let other = TestedCollection::new(index, "apart-", 3).await;
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
