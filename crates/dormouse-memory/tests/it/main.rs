//! What a memory promises, through its public interface.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that goes wrong ends in a panic"
)]

mod changed;
mod changes;
mod indexing;
mod intake;
mod losing;
mod migrating;
mod opening;
mod privacy;
mod recall;
mod repeating;
mod transfer;

use std::{path::Path, sync::Arc};

use dormouse_contracts::{AssistantId, Embedder, Timestamp, VectorIndex};
use dormouse_memory::{Memory, MemoryBuilder, Note, RecallRequest, RecordId};
use dormouse_testing::ManualClock;

/// A day in which things are said, in microseconds since 1970.
const NOON: i64 = 1_795_262_400_000_000;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_micros(NOON + seconds * 1_000_000)
}

fn builder() -> MemoryBuilder {
    Memory::builder(
        AssistantId::try_new("dormouse").unwrap(),
        ManualClock::new(at(0)),
    )
}

fn ephemeral() -> Memory {
    builder().ephemeral().unwrap()
}

fn with_vectors(encoder: Arc<dyn Embedder>, index: Arc<dyn VectorIndex>) -> MemoryBuilder {
    builder().encoder(encoder).vectors(index)
}

async fn open(path: &Path) -> Memory {
    builder().open(path).await.unwrap()
}

fn said(name: &str, seconds: i64, text: &str) -> Note {
    Note::new(text)
        .said_by(name)
        .in_thread("tea house")
        .at(at(seconds))
}

async fn add(memory: &Memory, note: Note) -> RecordId {
    memory.add(note, "heard").await.unwrap().id()
}

/// How many points the index of vectors has in each embedding space.
async fn points(memory: &Memory) -> Vec<(u32, Option<u64>)> {
    let report = memory.check_index().await.unwrap().unwrap();
    let collections = report.collections.iter();
    collections.map(|c| (c.space, c.found)).collect()
}

/// The numbers of what is recalled, best first.
async fn found(memory: &Memory, request: impl Into<RecallRequest>) -> Vec<RecordId> {
    let recall = memory.recall(request).await.unwrap();
    recall.items.iter().map(|item| item.record.id).collect()
}
