//! A memory whose vectors are on a Qdrant server, and what becomes of it when the server dies, hangs or forgets.

use std::{num::NonZeroUsize, path::Path, sync::Arc, time::Duration};

use dormouse_contracts::{CollectionName, VectorIndex};
use dormouse_memory::{Fallback, Memory, Mode, Note, Recall, Tended};
use dormouse_testing::HashedEmbedder;
use dormouse_vectors::{
    Qdrant, QdrantConfig, QdrantUrl,
    double::{AfterRestart, Fault, QdrantDouble},
};
use tokio::time::{Instant, advance, pause, resume};

use super::{encoder, file_in, with};

/// Longer than a breaker leaves a service alone after it has opened once.
const COOLDOWN: Duration = Duration::from_secs(31);

fn index(server: &QdrantDouble) -> Qdrant {
    let url = QdrantUrl::try_new(&server.url()).unwrap();
    let config = QdrantConfig {
        timeout: Duration::from_millis(250),
        connect_timeout: Duration::from_millis(250),
        requests_at_once: NonZeroUsize::new(2).unwrap(),
        ..QdrantConfig::new(url)
    };
    Qdrant::connect(config).unwrap()
}

async fn open(folder: &Path, server: &QdrantDouble, encoder: &HashedEmbedder) -> Memory {
    let memory = with(encoder).vectors(Arc::new(index(server)));
    memory.open(file_in(folder)).await.unwrap()
}

/// Notes that are told from others by their numbers.
async fn add(memory: &Memory, numbers: std::ops::Range<u64>) {
    let note = |n: u64| Note::new(format!("peppermint note{n}")).said_by("Alice");
    let notes = numbers.map(note).collect();
    memory.add_all(notes, "heard").await.unwrap();
}

/// How many points the server has for the memory.
async fn points(server: &QdrantDouble) -> u64 {
    let collection: CollectionName = "memories_dormouse_s1".parse().unwrap();
    index(server).count(&collection).await.unwrap().unwrap_or(0)
}

fn done(embedded: u64, fed: u64) -> Tended {
    Tended {
        embedded,
        fed,
        ..Tended::default()
    }
}

async fn recall(memory: &Memory) -> Recall {
    memory.recall("peppermint").await.unwrap()
}

fn finds_by_vectors(recall: &Recall) -> bool {
    let mut parts = recall.items.iter().flat_map(|item| &item.parts);
    recall.mode == Mode::WordsAndVectors && parts.any(|(name, _)| *name == "dense")
}

fn finds_by_words(recall: &Recall) -> bool {
    matches!(recall.mode, Mode::WordsBecause(_)) && recall.items.len() == 10
}

/// Lets the time pass in which the server is left alone.
async fn cool_down() {
    pause();
    advance(COOLDOWN).await;
    resume();
}

#[tokio::test]
async fn a_server_that_dies_in_the_middle_of_a_batch_is_fed_the_rest_when_it_is_back() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = QdrantDouble::start().unwrap();
    let encoder = encoder();
    let memory = open(folder.path(), &server, &encoder).await;
    add(&memory, 0..40).await;
    assert_eq!(memory.tend(1_000).await.unwrap(), done(40, 40));
    assert!(finds_by_vectors(&recall(&memory).await));

    server.fail(Fault::DieAfter { points: 7 });
    add(&memory, 40..70).await;
    let tended = memory.tend(1_000).await.unwrap();
    assert_eq!(tended.trouble, Some(Fallback::VectorIndex));
    assert_eq!(tended.embedded, 30);
    // What is written now waits for the server; nobody else does.
    add(&memory, 70..80).await;
    let recall_meanwhile = recall(&memory).await;
    assert!(finds_by_words(&recall_meanwhile), "{recall_meanwhile:?}");
    let newest = memory.recall("note79").await.unwrap();
    assert_eq!(newest.items[0].record.text, "peppermint note79");

    server.restart(AfterRestart::Kept).unwrap();
    assert_eq!(points(&server).await, 47, "half of the batch had arrived");
    cool_down().await;
    let embedded = encoder.texts().len();
    let tended = memory.tend(1_000).await.unwrap();
    assert_eq!((tended.trouble, tended.fed, tended.waiting), (None, 40, 0));
    assert_eq!(points(&server).await, 80);
    assert!(
        encoder.texts().len() <= embedded + 10,
        "nothing is embedded twice"
    );
    assert!(finds_by_vectors(&recall(&memory).await));
}

#[tokio::test]
async fn a_server_that_lost_everything_is_fed_anew_by_the_next_process() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = QdrantDouble::start().unwrap();
    let encoder = encoder();
    let memory = open(folder.path(), &server, &encoder).await;
    add(&memory, 0..300).await;
    memory.tend(1_000).await.unwrap();
    drop(memory);
    server.restart(AfterRestart::Lost).unwrap();
    let memory = open(folder.path(), &server, &encoder).await;
    let calls = encoder.calls();
    let tended = memory.tend(1_000).await.unwrap();
    assert_eq!(tended, done(0, 300));
    assert_eq!(encoder.calls(), calls, "its vectors are kept in the memory");
    assert_eq!(points(&server).await, 300);
    assert!(finds_by_vectors(&recall(&memory).await));
}

#[tokio::test]
async fn a_server_that_lost_everything_is_fed_anew_by_the_process_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = QdrantDouble::start().unwrap();
    let memory = open(folder.path(), &server, &encoder()).await;
    add(&memory, 0..150).await;
    memory.tend(1_000).await.unwrap();
    server.restart(AfterRestart::Lost).unwrap();
    add(&memory, 150..160).await;
    // The loss shows when something is written; then all of it is fed.
    for _ in 0..2 {
        memory.tend(1_000).await.unwrap();
    }
    assert_eq!(points(&server).await, 160);
    assert!(finds_by_vectors(&recall(&memory).await));
}

#[tokio::test]
async fn a_server_with_too_few_points_is_noticed_when_a_memory_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let server = QdrantDouble::start().unwrap();
    let encoder = encoder();
    let memory = open(folder.path(), &server, &encoder).await;
    add(&memory, 0..50).await;
    memory.tend(1_000).await.unwrap();
    drop(memory);
    let collection: CollectionName = "memories_dormouse_s1".parse().unwrap();
    let removed = index(&server).remove(&collection, &[1, 2, 3]).await;
    removed.unwrap();
    let memory = open(folder.path(), &server, &encoder).await;
    assert_eq!(memory.tend(1_000).await.unwrap(), done(0, 50));
    assert_eq!(points(&server).await, 50);
}

#[tokio::test]
async fn a_server_that_hangs_is_left_alone_and_recall_stays_fast_until_it_is_well() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = QdrantDouble::start().unwrap();
    let memory = open(folder.path(), &server, &encoder()).await;
    add(&memory, 0..20).await;
    memory.tend(1_000).await.unwrap();
    server.fail(Fault::Hang);
    let mut asked = 0;
    loop {
        let recall = recall(&memory).await;
        assert!(finds_by_words(&recall), "{recall:?}");
        if recall.mode == Mode::WordsBecause(Fallback::BreakerOpen) {
            break;
        }
        asked += 1;
        assert!(asked <= 5, "it is asked again and again");
    }
    let calls = server.calls();
    let begun = Instant::now();
    for _ in 0..50 {
        add(&memory, 20..21).await;
        assert!(finds_by_words(&recall(&memory).await));
    }
    assert_eq!(server.calls(), calls, "it is left alone");
    assert!(
        begun.elapsed() < Duration::from_secs(5),
        "nobody waits for it"
    );

    server.restart(AfterRestart::Kept).unwrap();
    cool_down().await;
    let tended = memory.tend(1_000).await.unwrap();
    assert_eq!((tended.trouble, tended.waiting), (None, 0));
    assert_eq!(points(&server).await, 70);
    assert!(finds_by_vectors(&recall(&memory).await));
}
