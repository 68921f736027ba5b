//! A server that is away, slow, busy, or dies.

use std::time::Duration;

use dormouse_contracts::{PointFilter, VectorErrorKind, VectorIndex};
use dormouse_qdrant_double::{AfterRestart, QdrantDouble, QdrantFault};
use dormouse_vectors::{Qdrant, QdrantConfig, QdrantUrl};

use super::{IMPATIENT, PATIENT, config, connect};
use crate::{kind, memories, points};

const UNAVAILABLE: Option<VectorErrorKind> = Some(VectorErrorKind::Unavailable);

#[tokio::test]
async fn a_missing_server_is_reported_by_the_first_request() {
    let mut server = QdrantDouble::start().unwrap();
    server.stop();
    let index = connect(&server, PATIENT);
    assert_eq!(kind(index.prepare(&memories(), 2).await), UNAVAILABLE);

    server.restart(AfterRestart::Lost).unwrap();
    index.prepare(&memories(), 2).await.unwrap();
}

#[tokio::test]
async fn an_unencrypted_server_is_refused_at_an_encrypted_address() {
    let server = QdrantDouble::start().unwrap();
    let url = server.url().replace("http://", "https://");
    let mut config = QdrantConfig::new(QdrantUrl::try_new(&url).unwrap());
    config.timeout = PATIENT;
    let index = Qdrant::connect(config).unwrap();
    assert_eq!(kind(index.count(&memories()).await), UNAVAILABLE);
}

#[tokio::test]
async fn a_server_that_hangs_is_waited_for_no_longer_than_configured() {
    let server = QdrantDouble::start().unwrap();
    let index = connect(&server, IMPATIENT);
    index.prepare(&memories(), 2).await.unwrap();
    server.fail(QdrantFault::Hang);
    assert_eq!(
        kind(index.upsert(&memories(), &points([1])).await),
        UNAVAILABLE
    );
    let filter = PointFilter::default();
    let found = index.search(&memories(), &[1.0, 0.0], &filter, 1).await;
    assert_eq!(kind(found), UNAVAILABLE);

    server.fail(QdrantFault::None);
    index.upsert(&memories(), &points([1])).await.unwrap();
}

#[tokio::test]
async fn making_a_collection_may_take_longer_than_another_request() {
    let server = QdrantDouble::start().unwrap();
    let index = connect(&server, IMPATIENT);
    let takes = 3 * IMPATIENT;
    server.fail(QdrantFault::SlowCreate { takes });
    index.prepare(&memories(), 2).await.unwrap();
    index.upsert(&memories(), &points([1])).await.unwrap();
}

#[tokio::test]
async fn a_node_that_hangs_is_passed_over_by_the_next_request() {
    let (hanging, well) = (
        QdrantDouble::start().unwrap(),
        QdrantDouble::start().unwrap(),
    );
    hanging.fail(QdrantFault::Hang);
    let mut config = config(&hanging, IMPATIENT);
    config.more_urls = vec![QdrantUrl::try_new(&well.url()).unwrap()];
    let index = Qdrant::connect(config).unwrap();
    assert_eq!(kind(index.count(&memories()).await), UNAVAILABLE);
    index.prepare(&memories(), 2).await.unwrap();
    assert_eq!(index.count(&memories()).await.unwrap(), Some(0));
    assert_eq!(
        hanging.calls(),
        1,
        "it is asked again when the other one fails"
    );
}

#[tokio::test]
async fn the_error_names_the_cause_of_the_missing_answer() {
    let mut server = QdrantDouble::start().unwrap();
    server.stop();
    let index = connect(&server, PATIENT);
    let error = index.count(&memories()).await.unwrap_err();
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert!(cause.contains("refused"), "{cause}");
}

#[tokio::test]
async fn a_busy_server_reports_a_retry_time() {
    let server = QdrantDouble::start().unwrap();
    let index = connect(&server, PATIENT);
    index.prepare(&memories(), 2).await.unwrap();
    let pause = Duration::from_secs(7);
    server.fail(QdrantFault::Overloaded { calls: 1, pause });
    let refused = kind(index.upsert(&memories(), &points([1])).await);
    assert_eq!(refused, Some(VectorErrorKind::Overloaded(Some(pause))));
    index.upsert(&memories(), &points([1])).await.unwrap();
}

#[tokio::test]
async fn a_passing_refusal_is_retried_and_a_lasting_one_is_reported() {
    let server = QdrantDouble::start().unwrap();
    let index = connect(&server, PATIENT);
    index.prepare(&memories(), 2).await.unwrap();
    server.fail(QdrantFault::Unavailable { calls: 1 });
    index.upsert(&memories(), &points([1])).await.unwrap();

    server.fail(QdrantFault::Unavailable { calls: 3 });
    let refused = index.upsert(&memories(), &points([2])).await.unwrap_err();
    assert_eq!(refused.kind(), VectorErrorKind::Unavailable);
    assert!(refused.may_succeed_later() && refused.is_service_unhealthy());
    index.upsert(&memories(), &points([2])).await.unwrap();
    assert_eq!(index.count(&memories()).await.unwrap(), Some(2));
}

#[tokio::test]
async fn a_call_during_which_the_server_died_is_completed_by_repeating_it() {
    let mut server = QdrantDouble::start().unwrap();
    let index = connect(&server, PATIENT);
    index.prepare(&memories(), 2).await.unwrap();
    let all = points(0..600);
    server.fail(QdrantFault::DieAfter { points: 300 });
    assert_eq!(kind(index.upsert(&memories(), &all).await), UNAVAILABLE);
    assert_eq!(kind(index.count(&memories()).await), UNAVAILABLE);

    server.restart(AfterRestart::Kept).unwrap();
    assert_eq!(index.count(&memories()).await.unwrap(), Some(300));
    index.upsert(&memories(), &all).await.unwrap();
    assert_eq!(index.count(&memories()).await.unwrap(), Some(600));
}

#[tokio::test]
async fn a_server_that_lost_its_data_is_distinguished_from_an_unchanged_one() {
    let mut server = QdrantDouble::start().unwrap();
    let index = connect(&server, PATIENT);
    index.prepare(&memories(), 2).await.unwrap();
    index.upsert(&memories(), &points(0..10)).await.unwrap();

    server.restart(AfterRestart::Lost).unwrap();
    let missing = Some(VectorErrorKind::Missing);
    assert_eq!(
        kind(index.upsert(&memories(), &points([11])).await),
        missing
    );
    assert_eq!(index.count(&memories()).await.unwrap(), None);
    index.prepare(&memories(), 3).await.unwrap();
    let dimension = VectorErrorKind::Dimension {
        expected: 3,
        actual: 2,
    };
    assert_eq!(
        kind(index.upsert(&memories(), &points([11])).await),
        Some(dimension)
    );
}

#[tokio::test]
async fn a_collection_recreated_by_another_client_is_noticed() {
    let server = QdrantDouble::start().unwrap();
    let (index, other) = (connect(&server, PATIENT), connect(&server, PATIENT));
    index.prepare(&memories(), 2).await.unwrap();
    other.discard(&memories()).await.unwrap();
    other.prepare(&memories(), 3).await.unwrap();
    let expected = |actual| {
        Some(VectorErrorKind::Dimension {
            expected: 3,
            actual,
        })
    };
    assert_eq!(
        kind(index.upsert(&memories(), &points([1])).await),
        expected(2)
    );
    assert_eq!(
        kind(index.upsert(&memories(), &points([1])).await),
        expected(2)
    );
    assert_eq!(index.count(&memories()).await.unwrap(), Some(0));
}
