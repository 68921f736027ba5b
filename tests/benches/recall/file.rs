//! A whole memory: its file on the real disk, and recall with the records read back.

use dormouse_contracts::{AssistantId, Timestamp};
use dormouse_memory::{Memory, MemoryBuilder, Note, RecallRequest};

use crate::{clock::now, speech::Speech, times::Times};

/// How many notes are stored in one commit.
const BATCH: usize = 1_000;

fn builder() -> MemoryBuilder {
    Memory::builder(AssistantId::try_new("bench").unwrap(), || {
        Timestamp::from_micros(i64::MAX / 2)
    })
}

pub(crate) async fn measure(speech: &Speech) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = folder.path().join("memory.redb");
    let memory = builder().open(&path).await.unwrap();
    let mut batches = Times::default();
    for turns in speech.turns.chunks(BATCH) {
        let notes = turns.iter().map(|turn| {
            Note::new(&turn.text)
                .said_by(&turn.speaker)
                .in_thread(&turn.thread)
                .at(Timestamp::from_micros(turn.at * 1_000_000))
        });
        let notes = notes.collect();
        let begun = now();
        memory.add_all(notes, "bench").await.unwrap();
        batches.push(now().duration_since(begun));
    }
    batches.tell("memory, adding 1,000 in one commit");
    let mut ones = Times::default();
    for number in 0..200 {
        let begun = now();
        let note = Note::new(format!("one more thing, number {number}"));
        memory.add(note, "bench").await.unwrap();
        ones.push(now().duration_since(begun));
    }
    ones.tell("memory, adding one, on disk");
    for (what, tokens) in [
        ("memory, recall of ten records", None),
        ("memory, recall packed into 1,024 tokens", Some(1_024)),
    ] {
        let mut times = Times::default();
        for question in &speech.questions {
            let mut request = RecallRequest::new(question.as_str());
            if let Some(tokens) = tokens {
                request = request.tokens(tokens);
            }
            let begun = now();
            memory.recall(request).await.unwrap();
            times.push(now().duration_since(begun));
        }
        times.tell(what);
    }
    let stats = memory.stats().await.unwrap();
    let each = |bytes: u64| bytes / stats.records.max(1);
    println!(
        "  memory: {} bytes a record in memory, {} on disk",
        each(stats.index_bytes),
        each(stats.file_bytes)
    );
    memory.checkpoint().await.unwrap();
    drop(memory);
    let begun = now();
    drop(builder().open(&path).await.unwrap());
    println!("  memory: opened in {:.1?}", now().duration_since(begun));
    let begun = now();
    drop(builder().rebuild().open(&path).await.unwrap());
    println!("  memory: rebuilt in {:.1?}", now().duration_since(begun));
}
