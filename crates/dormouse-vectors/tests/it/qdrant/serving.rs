//! A server without faults.

use std::num::NonZeroUsize;

use dormouse_contracts::{CollectionName, PointFilter, VectorErrorKind, VectorIndex};
use dormouse_qdrant_double::{AfterRestart, QdrantDouble, QdrantFault};
use dormouse_testing::conformance::{self, Exactness};
use dormouse_vectors::{ApiKey, CollectionPrefix, Qdrant};
use futures_util::future;

use super::{IMPATIENT, PATIENT, config, connect};
use crate::{kind, memories, points};

#[tokio::test]
async fn the_index_on_a_server_keeps_every_promise() {
    let mut server = QdrantDouble::start().unwrap();
    let index = connect(&server, PATIENT);
    conformance::vector_index(&index, Exactness::Exact).await;
    server.restart(AfterRestart::Kept).unwrap();
    conformance::vector_index_reopened(&connect(&server, PATIENT)).await;
}

#[tokio::test]
async fn points_go_out_in_bounded_requests() {
    let server = QdrantDouble::start().unwrap();
    let index = connect(&server, PATIENT);
    index.prepare(&memories(), 2).await.unwrap();
    index.upsert(&memories(), &points(0..600)).await.unwrap();
    assert_eq!(server.upserts(), [256, 256, 88]);
}

#[tokio::test]
async fn no_more_requests_are_under_way_than_configured() {
    let server = QdrantDouble::start().unwrap();
    let mut config = config(&server, IMPATIENT);
    config.requests_at_once = NonZeroUsize::new(3).unwrap();
    let index = Qdrant::connect(config).unwrap();
    server.fail(QdrantFault::Hang);
    let name = memories();
    let counts = future::join_all((0..20).map(|_| index.count(&name))).await;
    for count in counts {
        assert_eq!(kind(count), Some(VectorErrorKind::Unavailable));
    }
    assert!((1..=3).contains(&server.most_calls_at_once()));
}

#[tokio::test]
async fn owners_with_different_prefixes_share_a_server() {
    let server = QdrantDouble::start().unwrap();
    let [one, other] = ["a", "a.b"].map(|prefix| {
        let mut config = config(&server, PATIENT);
        config.prefix = CollectionPrefix::try_new(prefix).unwrap();
        Qdrant::connect(config).unwrap()
    });
    assert_ne!(one.identity(), other.identity());
    for (index, name) in [(&one, "b.c"), (&other, "c")] {
        let name = CollectionName::try_new(name).unwrap();
        index.prepare(&name, 2).await.unwrap();
        index.upsert(&name, &points([1])).await.unwrap();
    }
    let name = CollectionName::try_new("b.c").unwrap();
    one.discard(&name).await.unwrap();
    let name = CollectionName::try_new("c").unwrap();
    assert_eq!(other.count(&name).await.unwrap(), Some(1));
}

#[tokio::test]
async fn filtered_fields_are_indexed() {
    let server = QdrantDouble::start().unwrap();
    connect(&server, PATIENT)
        .prepare(&memories(), 2)
        .await
        .unwrap();
    let indexed = server.indexed_fields("test~memories");
    assert_eq!(indexed, ["assistant", "at", "trust"]);
}

#[tokio::test]
async fn a_key_is_sent_and_a_missing_or_wrong_one_is_reported_without_printing_it() {
    let server = QdrantDouble::start_with_key("s3cr3t").unwrap();
    for (key, expected) in [
        (Some("s3cr3t"), None),
        (Some("gu355ed"), Some(VectorErrorKind::Unauthorised)),
        (None, Some(VectorErrorKind::Unauthorised)),
    ] {
        let mut config = config(&server, PATIENT);
        config.api_key = key.map(|key| ApiKey::try_new(key).unwrap());
        let index = Qdrant::connect(config).unwrap();
        let prepared = index.prepare(&memories(), 2).await;
        let text = format!("{index:?} {prepared:?} {}", index.identity());
        assert!(
            !text.contains("s3cr3t") && !text.contains("gu355ed"),
            "{text}"
        );
        assert_eq!(kind(prepared), expected);
    }
}

#[test]
fn without_a_runtime_a_request_is_refused() {
    let server = QdrantDouble::start().unwrap();
    let index = connect(&server, PATIENT);
    let name = memories();
    let count = index.count(&name);
    let refused = futures_util::FutureExt::now_or_never(count).unwrap();
    assert_eq!(kind(refused), Some(VectorErrorKind::Refused));
}

#[tokio::test]
async fn concurrent_preparations_all_succeed() {
    let server = QdrantDouble::start().unwrap();
    let (one, other) = (connect(&server, PATIENT), connect(&server, PATIENT));
    let name = memories();
    let prepared = future::join(one.prepare(&name, 2), other.prepare(&name, 2)).await;
    assert!(matches!(prepared, (Ok(()), Ok(()))), "{prepared:?}");
    let filter = PointFilter::default();
    let found = one.search(&name, &[1.0, 0.0], &filter, 5).await.unwrap();
    assert!(found.is_empty());
}
