//! The nearest points are found, best first.

use dormouse_contracts::{PointFilter, VectorErrorKind, VectorIndex};

use super::subject::{CLOSE, TestedCollection, cosine, point, vector};

/// How many of the nearest points an index promises to find.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exactness {
    /// All of them.
    Exact,
    /// Nearly all: at least nine of the ten nearest, on average over many queries.
    Approximate,
}

pub(super) async fn hits_are_ordered_by_score_and_then_by_number(index: &dyn VectorIndex) {
    let collection = TestedCollection::new(index, "order", 2).await;
    let same = [0.6, 0.8];
    collection
        .add(&[
            point(9, &same),
            point(4, &[-0.6, -0.8]),
            point(3, &same),
            point(7, &[0.8, 0.6]),
            point(5, &same),
            point(u64::MAX, &same),
        ])
        .await;
    let ids = collection.ids(&same, &PointFilter::default(), 10).await;
    assert_eq!(
        ids,
        [3, 5, 9, u64::MAX, 7, 4],
        "best first, and equal ones by number"
    );
    collection.discard().await;
}

pub(super) async fn scores_are_cosines_for_vectors_of_any_length(index: &dyn VectorIndex) {
    let collection = TestedCollection::new(index, "cosines", 3).await;
    let vectors: [[f32; 3]; 6] = [
        [1.0, 2.0, 3.0],
        [1e30, 2e30, -3e30],
        [1e-30, 0.0, 1e-30],
        [-1.0, -2.0, -3.0],
        [3.0, -3.0, 1.0],
        [f32::MAX, f32::MAX, 1.0],
    ];
    let points: Vec<_> = (0..)
        .zip(&vectors)
        .map(|(id, vector)| point(id, vector))
        .collect();
    collection.add(&points).await;
    for query in [[1.0, 2.0, 3.0], [1e-20, 2e-20, 3e-20], [1e20, 2e20, 3e20]] {
        let hits = collection.search(&query, &PointFilter::default(), 10).await;
        assert_eq!(hits.len(), vectors.len(), "for {query:?}: {hits:?}");
        for hit in hits {
            let expected = cosine(&query, &vectors[hit.id as usize]);
            assert!(
                (hit.score - expected).abs() < CLOSE && hit.score.abs() <= 1.0,
                "{hit:?} for {query:?}, where the cosine is {expected}"
            );
        }
    }
    collection.discard().await;
}

pub(super) async fn limits_are_kept(index: &dyn VectorIndex) {
    let collection = TestedCollection::new(index, "limits", 4).await;
    let points: Vec<_> = (0..40).map(|id| point(id, &vector(id, 4))).collect();
    let everything = PointFilter::default();
    let query = vector(99, 4);
    assert_eq!(
        collection.ids(&query, &everything, 5).await,
        [0_u64; 0],
        "of none"
    );
    collection.add(&points).await;
    for (limit, expected) in [
        (0, 0),
        (1, 1),
        (39, 39),
        (40, 40),
        (41, 40),
        (usize::MAX, 40),
    ] {
        let found = collection.ids(&query, &everything, limit).await;
        assert_eq!(found.len(), expected, "of 40, at most {limit}");
    }
    collection.discard().await;
}

pub(super) async fn queries_that_do_not_fit_are_refused(index: &dyn VectorIndex) {
    let collection = TestedCollection::new(index, "queries", 2).await;
    collection.add(&[point(1, &[1.0, 0.0])]).await;
    for limit in [0, 10] {
        for unfit in [[f32::NAN, 1.0], [1.0, f32::INFINITY], [0.0, 0.0]] {
            let found = collection.try_search(&unfit, limit).await;
            assert_eq!(
                found,
                Err(VectorErrorKind::NotFinite),
                "{unfit:?}, at most {limit}"
            );
        }
        for actual in [0, 1, 3] {
            let found = collection.try_search(&vector(1, actual), limit).await;
            let refused = VectorErrorKind::Dimension {
                expected: 2,
                actual,
            };
            assert_eq!(found, Err(refused), "{actual} numbers, not 2");
        }
    }
    collection.discard().await;
}

pub(super) async fn as_many_of_the_nearest_are_found_as_promised(
    index: &dyn VectorIndex,
    exactness: Exactness,
) {
    const DIMENSIONS: usize = 32;
    const QUERIES: u64 = 50;
    let collection = TestedCollection::new(index, "recall", DIMENSIONS).await;
    let vectors: Vec<_> = (0..2_000).map(|id| vector(id, DIMENSIONS)).collect();
    let points: Vec<_> = (0..)
        .zip(&vectors)
        .map(|(id, vector)| point(id, vector))
        .collect();
    collection.add(&points).await;
    let mut found = 0;
    for seed in 0..QUERIES {
        let query = vector(1_000_000 + seed, DIMENSIONS);
        let mut scores: Vec<f32> = vectors
            .iter()
            .map(|vector| cosine(&query, vector))
            .collect();
        let hits = collection.search(&query, &PointFilter::default(), 10).await;
        assert_eq!(hits.len(), 10, "ten of two thousand");
        for hit in &hits {
            let expected = scores[hit.id as usize];
            assert!(
                (hit.score - expected).abs() < CLOSE,
                "{hit:?}, where the cosine is {expected}"
            );
        }
        scores.sort_by(|a, b| b.total_cmp(a));
        // A point whose score equals the tenth score, except for rounding, counts as found.
        let bar = scores[9] - CLOSE;
        found += hits.iter().filter(|hit| hit.score >= bar).count() as u64;
    }
    let least = match exactness {
        Exactness::Exact => QUERIES * 10,
        Exactness::Approximate => QUERIES * 9,
    };
    assert!(
        found >= least,
        "of {} nearest {found} were found",
        QUERIES * 10
    );
    collection.discard().await;
}
