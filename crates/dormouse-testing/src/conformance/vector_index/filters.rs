//! Exactly the points that match a filter are returned.

use dormouse_contracts::{Point, PointFilter, VectorIndex};

use super::subject::{TestedCollection, assistant, at, labelled, trust, vector};

const ANYWHERE: [f32; 2] = [1.0, 0.5];

async fn filled<'a>(
    index: &'a dyn VectorIndex,
    name: &str,
    points: &[Point],
) -> TestedCollection<'a> {
    let collection = TestedCollection::new(index, name, 2).await;
    collection.add(points).await;
    collection
}

/// Checks that exactly the points that match a filter are returned.
async fn agree(collection: &TestedCollection<'_>, points: &[Point], filter: &PointFilter) {
    let admitted = points.iter().filter(|point| filter.admits(&point.payload));
    let expected: Vec<u64> = admitted.map(|point| point.id).collect();
    let found = collection.admitted(&ANYWHERE, filter).await;
    assert_eq!(found, expected, "{filter:?}");
}

pub(super) async fn assistants_see_their_own(index: &dyn VectorIndex) {
    let names = ["alice", "alice-2", "Alice", "bob", "alic"];
    let points: Vec<Point> = (0..50)
        .map(|id| labelled(id, &vector(id, 2), names[id as usize % 5], 1.0, 0))
        .collect();
    let collection = filled(index, "assistants", &points).await;
    for name in names {
        let own = PointFilter {
            assistant: Some(assistant(name)),
            ..PointFilter::default()
        };
        agree(&collection, &points, &own).await;
    }
    let nobody = PointFilter {
        assistant: Some(assistant("carol")),
        ..PointFilter::default()
    };
    let found = collection.ids(&ANYWHERE, &nobody, 10).await;
    assert!(found.is_empty(), "carol has nothing here: {found:?}");
    agree(&collection, &points, &PointFilter::default()).await;
    collection.discard().await;
}

pub(super) async fn trust_is_compared_to_the_last_bit(index: &dyn VectorIndex) {
    let scores = [
        0.0,
        0.1,
        0.3,
        0.5_f32.next_down(),
        0.5,
        0.5_f32.next_up(),
        1.0,
    ];
    let points: Vec<Point> = (0..)
        .zip(scores)
        .map(|(id, score)| labelled(id, &vector(id, 2), "alice", score, 0))
        .collect();
    let collection = filled(index, "trust", &points).await;
    for score in scores {
        let least = PointFilter {
            min_trust: Some(trust(score)),
            ..PointFilter::default()
        };
        agree(&collection, &points, &least).await;
    }
    collection.discard().await;
}

pub(super) async fn times_are_from_and_before(index: &dyn VectorIndex) {
    let now = 1_795_219_200_000_000;
    let times = [-5, -1, 0, 1, now - 1, now, now + 1];
    let points: Vec<Point> = (0..)
        .zip(times)
        .map(|(id, micros)| labelled(id, &vector(id, 2), "alice", 1.0, micros))
        .collect();
    let collection = filled(index, "times", &points).await;
    for from in times {
        let since = PointFilter {
            from: Some(at(from)),
            ..PointFilter::default()
        };
        agree(&collection, &points, &since).await;
        let before = PointFilter {
            until: Some(at(from)),
            ..PointFilter::default()
        };
        agree(&collection, &points, &before).await;
        for until in times {
            let between = PointFilter {
                until: Some(at(until)),
                ..since.clone()
            };
            agree(&collection, &points, &between).await;
        }
    }
    collection.discard().await;
}

pub(super) async fn far_times_are_no_limits(index: &dyn VectorIndex) {
    let points: Vec<Point> = (0..)
        .zip([-1_000_000, 0, 1_795_219_200_000_000])
        .map(|(id, micros)| labelled(id, &vector(id, 2), "alice", 1.0, micros))
        .collect();
    let collection = filled(index, "far", &points).await;
    let always = PointFilter {
        from: Some(at(i64::MIN)),
        until: Some(at(i64::MAX)),
        ..PointFilter::default()
    };
    agree(&collection, &points, &always).await;
    let never = PointFilter {
        from: Some(at(i64::MAX)),
        until: Some(at(i64::MIN)),
        ..PointFilter::default()
    };
    agree(&collection, &points, &never).await;
    collection.discard().await;
}

pub(super) async fn all_parts_must_fit(index: &dyn VectorIndex) {
    let points: Vec<Point> = (0..200_u64)
        .map(|id| {
            let whose = if id.is_multiple_of(2) { "alice" } else { "bob" };
            let score = (id % 7) as f32 / 6.0;
            labelled(id, &vector(id, 2), whose, score, (id % 11) as i64)
        })
        .collect();
    let collection = filled(index, "parts", &points).await;
    for (whose, least, from, until) in [
        ("alice", 0.5, 2, 9),
        ("bob", 1.0, 0, 11),
        ("bob", 0.2, 5, 6),
    ] {
        let whole = PointFilter {
            assistant: Some(assistant(whose)),
            min_trust: Some(trust(least)),
            from: Some(at(from)),
            until: Some(at(until)),
        };
        agree(&collection, &points, &whole).await;
    }
    collection.discard().await;
}

pub(super) async fn a_filter_takes_nothing_from_the_rest(index: &dyn VectorIndex) {
    let near: Vec<Point> = (0..500)
        .map(|id| labelled(id, &[1.0, 0.001 * id as f32], "bob", 1.0, 0))
        .collect();
    let far: Vec<Point> = (500..505)
        .map(|id| labelled(id, &[-1.0, 0.1], "alice", 1.0, 0))
        .collect();
    let collection = filled(index, "rest", &[near, far].concat()).await;
    let own = PointFilter {
        assistant: Some(assistant("alice")),
        ..PointFilter::default()
    };
    assert_eq!(
        collection.ids(&[1.0, 0.0], &own, 5).await,
        [500, 501, 502, 503, 504],
        "a point that matches the filter is found behind any number of nearer points that do not"
    );
    collection.discard().await;
}

pub(super) async fn a_replaced_point_is_filtered_by_its_new_payload(index: &dyn VectorIndex) {
    let collection = filled(
        index,
        "payload",
        &[labelled(1, &[1.0, 0.0], "alice", 1.0, 5)],
    )
    .await;
    let replaced = [labelled(1, &[1.0, 0.0], "bob", 0.5, 7)];
    collection.add(&replaced).await;
    for whose in ["alice", "bob"] {
        let own = PointFilter {
            assistant: Some(assistant(whose)),
            ..PointFilter::default()
        };
        agree(&collection, &replaced, &own).await;
    }
    let old = PointFilter {
        until: Some(at(6)),
        ..PointFilter::default()
    };
    agree(&collection, &replaced, &old).await;
    collection.discard().await;
}
