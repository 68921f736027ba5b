//! A server that refuses the key, or lets it read only.

use std::{path::Path, sync::Arc};

use dormouse_memory::{Memory, SearchMode};
use dormouse_qdrant_double::QdrantDouble;
use dormouse_vectors::{ApiKey, Qdrant, QdrantConfig, QdrantUrl};
use tempfile::TempDir;

use super::{add, encoder, file_in, finds_by_vectors, points, recall, with};

async fn open_with_key(folder: &Path, server: &QdrantDouble, key: &str) -> Memory {
    let mut config = QdrantConfig::new(QdrantUrl::try_new(&server.url()).unwrap());
    config.api_key = Some(ApiKey::try_new(key).unwrap());
    let index = Arc::new(Qdrant::connect(config).unwrap());
    let memory = with(&encoder()).vectors(index).open(file_in(folder));
    memory.await.unwrap()
}

/// A memory of 20 records whose index is complete, closed again, and its server with the keys "full" and "read".
async fn indexed_with_a_full_key() -> (TempDir, QdrantDouble) {
    let folder = tempfile::tempdir().unwrap();
    let server = QdrantDouble::start_with_keys("full", "read").unwrap();
    let memory = open_with_key(folder.path(), &server, "full").await;
    add(&memory, 0..20).await;
    memory.index_pending(1_000).await.unwrap();
    (folder, server)
}

#[tokio::test]
async fn a_wrong_key_is_reported_as_the_cause_every_time() {
    let (folder, server) = indexed_with_a_full_key().await;
    let memory = open_with_key(folder.path(), &server, "wrong").await;
    for _ in 0..12 {
        let recalled = recall(&memory).await;
        let SearchMode::WordsBecause(why) = recalled.mode else {
            panic!("{recalled:?}");
        };
        assert!(why.to_string().contains("key"), "{why}");
    }
}

#[tokio::test]
async fn a_read_only_key_still_allows_recall_by_vectors() {
    let (folder, server) = indexed_with_a_full_key().await;
    let memory = open_with_key(folder.path(), &server, "read").await;
    add(&memory, 20..23).await;
    for _ in 0..12 {
        let trouble = memory
            .index_pending(1_000)
            .await
            .unwrap()
            .interrupted_by
            .unwrap();
        assert!(trouble.to_string().contains("key"), "{trouble}");
        let recalled = recall(&memory).await;
        assert!(finds_by_vectors(&recalled), "{recalled:?}");
        assert_eq!(recalled.waiting, 3, "what could not be written waits");
    }
    assert_eq!(points(&server), 20);
}

#[tokio::test]
async fn with_a_read_only_key_the_rest_of_a_damaged_index_still_answers() {
    let (folder, server) = indexed_with_a_full_key().await;
    server.lose_points(5);
    let memory = open_with_key(folder.path(), &server, "read").await;
    for _ in 0..3 {
        assert!(finds_by_vectors(&recall(&memory).await));
    }
    assert_eq!(points(&server), 15);
}
