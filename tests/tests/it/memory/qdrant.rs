//! A memory whose vectors are on a Qdrant server, and what happens when the server dies, hangs or loses data.

mod keys;
mod losing;

use std::{num::NonZeroUsize, path::Path, sync::Arc, time::Duration};

use dormouse_contracts::{CollectionName, VectorIndex};
use dormouse_memory::{Fallback, IndexProgress, Memory, Note, Recall, SearchMode};
use dormouse_qdrant_double::{AfterRestart, QdrantDouble, QdrantFault};
use dormouse_testing::HashedEmbedder;
use dormouse_vectors::{Qdrant, QdrantConfig, QdrantUrl};
use tokio::time::{Instant, advance, pause, resume};

use super::{encoder, file_in, with};

/// Longer than a breaker leaves a service alone after it has opened once.
const COOLDOWN: Duration = Duration::from_secs(31);

/// How long the index waits for the server: long enough for an answer on a busy machine.
const PATIENCE: Duration = Duration::from_secs(1);

fn index(server: &QdrantDouble) -> Qdrant {
    let url = QdrantUrl::try_new(&server.url()).unwrap();
    let config = QdrantConfig {
        timeout: PATIENCE,
        connect_timeout: PATIENCE,
        requests_at_once: NonZeroUsize::new(2).unwrap(),
        ..QdrantConfig::new(url)
    };
    Qdrant::connect(config).unwrap()
}

async fn open(folder: &Path, server: &QdrantDouble, encoder: &HashedEmbedder) -> Memory {
    let memory = with(encoder).vectors(Arc::new(index(server)));
    memory.open(file_in(folder)).await.unwrap()
}

/// Notes that differ by their numbers.
async fn add(memory: &Memory, numbers: std::ops::Range<u64>) {
    let note = |n: u64| Note::new(format!("peppermint note{n}")).said_by("Alice");
    let notes = numbers.map(note).collect();
    memory.add_all(notes, "heard").await.unwrap();
}

/// How many points the server has.
fn points(server: &QdrantDouble) -> u64 {
    server.collections().iter().map(|(_, points)| points).sum()
}

/// The only collection of the server.
fn collection(server: &QdrantDouble) -> CollectionName {
    let collections = server.collections();
    let [(name, _)] = &collections[..] else {
        panic!("{collections:?}");
    };
    name.split_once('~').unwrap().1.parse().unwrap()
}

fn done(embedded: u64, indexed: u64) -> IndexProgress {
    IndexProgress {
        embedded,
        indexed,
        ..IndexProgress::default()
    }
}

async fn recall(memory: &Memory) -> Recall {
    memory.recall("peppermint").await.unwrap()
}

fn finds_by_vectors(recall: &Recall) -> bool {
    let mut parts = recall.items.iter().flat_map(|item| &item.parts);
    recall.mode == SearchMode::WordsAndVectors && parts.any(|(name, _)| *name == "dense")
}

fn finds_by_words(recall: &Recall) -> bool {
    matches!(recall.mode, SearchMode::WordsBecause(_)) && recall.items.len() == 10
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
    assert_eq!(memory.index_pending(1_000).await.unwrap(), done(40, 40));
    assert!(finds_by_vectors(&recall(&memory).await));

    server.fail(QdrantFault::DieAfter { points: 7 });
    add(&memory, 40..70).await;
    let progress = memory.index_pending(1_000).await.unwrap();
    assert_eq!(progress.interrupted_by, Some(Fallback::VectorIndex));
    assert_eq!(progress.embedded, 30);
    // What is written now waits for the server; nobody else does.
    add(&memory, 70..80).await;
    let recall_meanwhile = recall(&memory).await;
    assert!(finds_by_words(&recall_meanwhile), "{recall_meanwhile:?}");
    let newest = memory.recall("note79").await.unwrap();
    assert_eq!(newest.items[0].record.text, "peppermint note79");

    server.restart(AfterRestart::Kept).unwrap();
    assert_eq!(points(&server), 47, "half of the batch had arrived");
    cool_down().await;
    let embedded = encoder.texts().len();
    let progress = memory.index_pending(1_000).await.unwrap();
    assert_eq!(
        (progress.interrupted_by, progress.indexed, progress.waiting),
        (None, 40, 0)
    );
    assert_eq!(points(&server), 80);
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
    memory.index_pending(1_000).await.unwrap();
    drop(memory);
    server.restart(AfterRestart::Lost).unwrap();
    let memory = open(folder.path(), &server, &encoder).await;
    let calls = encoder.calls();
    let progress = memory.index_pending(1_000).await.unwrap();
    assert_eq!(progress, done(0, 300));
    assert_eq!(encoder.calls(), calls, "its vectors are kept in the memory");
    assert_eq!(points(&server), 300);
    assert!(finds_by_vectors(&recall(&memory).await));
}

#[tokio::test]
async fn a_server_that_lost_everything_is_fed_anew_by_the_process_that_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = QdrantDouble::start().unwrap();
    let memory = open(folder.path(), &server, &encoder()).await;
    add(&memory, 0..150).await;
    memory.index_pending(1_000).await.unwrap();
    server.restart(AfterRestart::Lost).unwrap();
    add(&memory, 150..160).await;
    // The loss shows when something is written; then all of it is fed.
    for _ in 0..2 {
        memory.index_pending(1_000).await.unwrap();
    }
    assert_eq!(points(&server), 160);
    assert!(finds_by_vectors(&recall(&memory).await));
}

#[tokio::test]
async fn a_server_with_too_few_points_is_noticed_when_a_memory_is_opened() {
    let folder = tempfile::tempdir().unwrap();
    let server = QdrantDouble::start().unwrap();
    let encoder = encoder();
    let memory = open(folder.path(), &server, &encoder).await;
    add(&memory, 0..50).await;
    memory.index_pending(1_000).await.unwrap();
    let records = memory.records(None, 3).await.unwrap();
    let ids: Vec<_> = records.iter().map(|it| it.id.to_number()).collect();
    drop(memory);
    let removed = index(&server).remove(&collection(&server), &ids).await;
    removed.unwrap();
    let memory = open(folder.path(), &server, &encoder).await;
    assert_eq!(memory.index_pending(1_000).await.unwrap(), done(0, 50));
    assert_eq!(points(&server), 50);
}

#[tokio::test]
async fn a_hanging_server_is_not_asked_again_and_recall_stays_fast() {
    let folder = tempfile::tempdir().unwrap();
    let mut server = QdrantDouble::start().unwrap();
    let memory = open(folder.path(), &server, &encoder()).await;
    add(&memory, 0..20).await;
    memory.index_pending(1_000).await.unwrap();
    server.fail(QdrantFault::Hang);
    let mut asked = 0;
    loop {
        let recall = recall(&memory).await;
        assert!(finds_by_words(&recall), "{recall:?}");
        if recall.mode == SearchMode::WordsBecause(Fallback::IndexPaused) {
            break;
        }
        asked += 1;
        assert!(asked <= 5, "it is asked again and again");
    }
    let calls = server.calls();
    let mut waited = Duration::ZERO;
    for _ in 0..50 {
        add(&memory, 20..21).await;
        let begun = Instant::now();
        assert!(finds_by_words(&recall(&memory).await));
        waited += begun.elapsed();
    }
    assert_eq!(server.calls(), calls, "it is left alone");
    assert!(waited < 25 * PATIENCE, "nobody waits for it: {waited:?}");

    server.restart(AfterRestart::Kept).unwrap();
    cool_down().await;
    let progress = memory.index_pending(1_000).await.unwrap();
    assert_eq!((progress.interrupted_by, progress.waiting), (None, 0));
    assert_eq!(points(&server), 70);
    assert!(finds_by_vectors(&recall(&memory).await));
}

#[tokio::test]
async fn two_memories_of_one_assistant_on_one_server_never_touch_each_other() {
    let (one, other) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let server = QdrantDouble::start().unwrap();
    let encoder = encoder();
    // Opened twice each: what a process discards shows when the next one counts.
    for _ in 0..2 {
        for (folder, numbers) in [(&one, 0..5), (&other, 100..103)] {
            let memory = open(folder.path(), &server, &encoder).await;
            if memory.stats().await.unwrap().records == 0 {
                add(&memory, numbers).await;
            }
            memory.index_pending(1_000).await.unwrap();
            assert!(finds_by_vectors(&recall(&memory).await));
        }
    }
    let sizes = server.collections();
    let mut sizes: Vec<u64> = sizes.iter().map(|(_, points)| *points).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [3, 5], "each memory has its own collection");
}
