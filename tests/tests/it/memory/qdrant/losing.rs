//! A server that loses what it was given while the process goes on.

use std::time::Duration;

use dormouse_contracts::VectorIndex;
use dormouse_memory::SearchMode;
use dormouse_qdrant_double::QdrantDouble;
use tokio::time::{advance, pause, resume};

use super::{
    add, collection, encoder, finds_by_vectors, finds_by_words, index, open, points, recall,
};

/// Longer than a full index is taken to be full.
const A_WHILE: Duration = Duration::from_secs(601);

/// A memory of 300 notes on the server, opened by a process that has fed nothing.
async fn opened(folder: &std::path::Path, server: &QdrantDouble) -> dormouse_memory::Memory {
    let encoder = encoder();
    let memory = open(folder, server, &encoder).await;
    add(&memory, 0..300).await;
    memory.index_pending(1_000).await.unwrap();
    drop(memory);
    let memory = open(folder, server, &encoder).await;
    assert!(finds_by_vectors(&recall(&memory).await));
    memory
}

#[tokio::test]
async fn a_wiped_server_is_noticed_by_a_process_that_only_reads() {
    let folder = tempfile::tempdir().unwrap();
    let server = QdrantDouble::start().unwrap();
    let memory = opened(folder.path(), &server).await;
    server.wipe();
    let recalled = recall(&memory).await;
    assert!(finds_by_words(&recalled), "{recalled:?}");
    memory.index_pending(1_000).await.unwrap();
    assert_eq!(points(&server), 300);
    assert!(finds_by_vectors(&recall(&memory).await));
}

#[tokio::test]
async fn a_wiped_server_is_given_every_record_and_not_only_the_next() {
    let folder = tempfile::tempdir().unwrap();
    let server = QdrantDouble::start().unwrap();
    let memory = opened(folder.path(), &server).await;
    server.wipe();
    add(&memory, 300..301).await;
    let progress = memory.index_pending(1_000).await.unwrap();
    assert_eq!(points(&server), 301, "{progress:?}");
    assert!(finds_by_vectors(&recall(&memory).await));
}

#[tokio::test]
async fn lost_points_are_noticed_after_a_while_by_the_process_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let server = QdrantDouble::start().unwrap();
    let memory = opened(folder.path(), &server).await;
    server.lose_points(100);
    pause();
    advance(A_WHILE).await;
    resume();
    add(&memory, 300..301).await;
    memory.index_pending(1_000).await.unwrap();
    assert_eq!(points(&server), 301);
}

#[tokio::test]
async fn a_collection_of_another_dimension_is_recreated_without_advice_to_migrate() {
    let folder = tempfile::tempdir().unwrap();
    let server = QdrantDouble::start().unwrap();
    let memory = opened(folder.path(), &server).await;
    let (name, foreign) = (collection(&server), index(&server));
    foreign.discard(&name).await.unwrap();
    foreign.prepare(&name, 3).await.unwrap();
    let SearchMode::WordsBecause(why) = recall(&memory).await.mode else {
        panic!("nothing can be found by vectors");
    };
    assert!(!why.to_string().contains("encoder"), "{why}");
    add(&memory, 300..301).await;
    for _ in 0..2 {
        memory.index_pending(1_000).await.unwrap();
    }
    assert_eq!(points(&server), 301);
    assert!(finds_by_vectors(&recall(&memory).await));
}

#[tokio::test]
async fn recall_never_queries_a_collection_that_was_never_created() {
    let folder = tempfile::tempdir().unwrap();
    let server = QdrantDouble::start().unwrap();
    let memory = opened(folder.path(), &server).await;
    // Recall itself leaves off counting the points when that takes too long.
    memory.index_pending(1_000).await.unwrap();
    for _ in 0..3 {
        let calls = server.calls();
        assert!(finds_by_vectors(&recall(&memory).await));
        assert_eq!(
            server.calls() - calls,
            1,
            "one search of the one collection"
        );
    }
}
