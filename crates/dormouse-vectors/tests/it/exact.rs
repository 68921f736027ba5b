use std::sync::Arc;

use dormouse_contracts::{PointFilter, VectorIndex};
use dormouse_testing::conformance::{self, Exactness};
use dormouse_vectors::Exact;
use proptest::prelude::*;
use tokio::{runtime, task::JoinSet};

use crate::{memories, points};

#[tokio::test]
async fn the_exact_index_keeps_every_promise() {
    conformance::vector_index(&Exact::new(), Exactness::Exact).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn threads_may_add_search_and_remove_at_once() {
    let index = Arc::new(Exact::new());
    index.prepare(&memories(), 2).await.unwrap();
    let mut threads = JoinSet::new();
    for thread in 0..4_u64 {
        let index = Arc::clone(&index);
        threads.spawn(async move {
            for round in 0..20 {
                let first = (thread * 20 + round) * 100;
                index
                    .upsert(&memories(), &points(first..first + 100))
                    .await
                    .unwrap();
                let filter = PointFilter::default();
                let hits = index
                    .search(&memories(), &[1.0, 9.0], &filter, 50)
                    .await
                    .unwrap();
                assert!(hits.is_sorted_by(|a, b| (b.score, a.id) <= (a.score, b.id)));
                let half: Vec<u64> = (first..first + 50).collect();
                index.remove(&memories(), &half).await.unwrap();
            }
        });
    }
    threads.join_all().await;
    assert_eq!(index.count(&memories()).await.unwrap(), Some(4_000));
}

#[tokio::test]
async fn memory_is_given_back_with_the_points() {
    let index = Exact::new();
    index.prepare(&memories(), 2).await.unwrap();
    index.upsert(&memories(), &points(0..50_000)).await.unwrap();
    let full = index.memory_bytes().unwrap();
    assert!((50_000 * 36..50_000 * 100).contains(&full), "{full} bytes");
    let ids: Vec<u64> = (0..50_000).collect();
    index.remove(&memories(), &ids[10..]).await.unwrap();
    index.discard(&memories()).await.unwrap();
    assert_eq!(index.memory_bytes().unwrap(), 0);
}

/// What is done to an index.
#[derive(Clone, Debug)]
enum Step {
    Add(u64, [f32; 3]),
    Remove(u64),
}

fn step() -> impl Strategy<Value = Step> {
    let number = prop_oneof![-1.0..1.0_f32, Just(1.0_f32)];
    prop_oneof![
        3 => (0..40_u64, [number.clone(), number.clone(), number])
            .prop_map(|(id, vector)| Step::Add(id, vector)),
        1 => (0..40_u64).prop_map(Step::Remove),
    ]
}

fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let product = |a: &[f32], b: &[f32]| -> f64 {
        a.iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum()
    };
    product(a, b) / (product(a, a) * product(b, b)).sqrt()
}

proptest! {
    #[test]
    fn the_nearest_are_always_those_of_a_plain_scan_to_within_the_stated_error(
        steps in prop::collection::vec(step(), 1..80),
        query in [0.1..1.0_f32, -1.0..1.0_f32, -1.0..1.0_f32],
        limit in 0..50_usize,
    ) {
        let runtime = runtime::Builder::new_current_thread().build().unwrap();
        let index = Exact::new();
        let mut kept = std::collections::BTreeMap::new();
        let hits = runtime.block_on(async {
            index.prepare(&memories(), 3).await.unwrap();
            for step in steps {
                match step {
                    Step::Add(id, vector) if vector != [0.0; 3] => {
                        let mut point = points([id]).remove(0);
                        point.vector = vector.to_vec();
                        index.upsert(&memories(), &[point]).await.unwrap();
                        kept.insert(id, vector);
                    }
                    Step::Add(..) => {}
                    Step::Remove(id) => {
                        index.remove(&memories(), &[id]).await.unwrap();
                        kept.remove(&id);
                    }
                }
            }
            index.search(&memories(), &query, &PointFilter::default(), limit).await.unwrap()
        });
        let error = f64::from(Exact::score_error(3));
        let mut scores: Vec<f64> = kept.values().map(|vector| cosine(&query, vector)).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        prop_assert_eq!(hits.len(), limit.min(scores.len()));
        for (hit, best) in hits.iter().zip(&scores) {
            let score = cosine(&query, &kept[&hit.id]);
            prop_assert!((f64::from(hit.score) - score).abs() <= error, "{hit:?} {score}");
            prop_assert!((score - best).abs() <= 2.0 * error, "{hit:?} in the place of {best}");
        }
        prop_assert!(hits.is_sorted_by(|a, b| (b.score, a.id) <= (a.score, b.id)));
    }
}
