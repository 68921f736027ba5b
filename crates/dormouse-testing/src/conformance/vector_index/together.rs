//! Checks that several callers can add, remove and search at the same time.

use std::collections::HashSet;

use dormouse_contracts::{PointFilter, VectorIndex};
use futures_util::future;

use super::subject::{CLOSE, TestedCollection, cosine, point, vector};

const DIMENSIONS: usize = 8;
const WRITERS: u64 = 8;
const POINTS_EACH: u64 = 50;

pub(super) async fn adding_and_searching_go_on_together(index: &dyn VectorIndex) {
    let collection = TestedCollection::new(index, "together", DIMENSIONS).await;
    let writing = future::join_all((0..WRITERS).map(|writer| write(&collection, writer)));
    let reading = future::join_all((0..20).map(|reader| read(&collection, reader)));
    future::join(writing, reading).await;

    assert_eq!(
        collection.count().await,
        Some(WRITERS * POINTS_EACH / 2),
        "nothing is lost"
    );
    let kept = (0..WRITERS * POINTS_EACH).filter(|id| id % 2 == 0);
    let found = collection
        .admitted(&vector(1, DIMENSIONS), &PointFilter::default())
        .await;
    assert_eq!(
        found,
        kept.collect::<Vec<_>>(),
        "the points that were added and not removed are found"
    );
    collection.discard().await;
}

async fn write(collection: &TestedCollection<'_>, writer: u64) {
    let ids: Vec<u64> = (writer * POINTS_EACH..(writer + 1) * POINTS_EACH).collect();
    for ids in ids.chunks(10) {
        let points: Vec<_> = ids
            .iter()
            .map(|id| point(*id, &vector(*id, DIMENSIONS)))
            .collect();
        collection.add(&points).await;
        let odd: Vec<u64> = ids.iter().copied().filter(|id| id % 2 == 1).collect();
        collection.remove(&odd).await;
    }
}

async fn read(collection: &TestedCollection<'_>, reader: u64) {
    let query = vector(500_000 + reader, DIMENSIONS);
    let hits = collection.search(&query, &PointFilter::default(), 20).await;
    let ids: HashSet<u64> = hits.iter().map(|hit| hit.id).collect();
    assert_eq!(ids.len(), hits.len(), "no point is found twice: {hits:?}");
    for hit in hits {
        assert!(
            hit.id < WRITERS * POINTS_EACH,
            "only added points are found: {hit:?}"
        );
        let expected = cosine(&query, &vector(hit.id, DIMENSIONS));
        assert!(
            (hit.score - expected).abs() < CLOSE,
            "{hit:?}, where the cosine is {expected}"
        );
    }
}
