//! Everything that is derived, held against what is made anew from the records.

use std::{collections::BTreeMap, path::Path, sync::Arc};

use dormouse_contracts::{PointFilter, VectorIndex};
use dormouse_memory::{
    Collection, IndexedCollection, Memory, MemoryBuilder, RecallRequest, RecordId, SearchMode,
    Validity,
};
use dormouse_testing::HashedEmbedder;
use dormouse_vectors::Exact;

use super::{builder, file_in, held::Held, with};

const QUESTIONS: [&str; 6] = [
    "tea",
    "where is the key of the cellar?",
    "Alice",
    "honey from the market",
    "event12 lantern",
    "n3x4",
];
/// More than any of these questions finds, so that none of several equals is cut off.
const ALL: usize = 1_000;
/// How many records are looked up by their vectors.
const SAMPLE: usize = 24;

/// What is answered to every question: which records, and how well they fit.
type Answers = Vec<BTreeMap<RecordId, f32>>;

/// Opens the memory as it was left.
pub(super) async fn opened(
    folder: &Path,
    encoder: Option<&HashedEmbedder>,
) -> (Memory, Arc<Exact>) {
    open(settings(encoder), folder).await
}

async fn open(builder: MemoryBuilder, folder: &Path) -> (Memory, Arc<Exact>) {
    let index = Arc::new(Exact::new());
    let memory = builder.vectors(index.clone()).open(file_in(folder)).await;
    (memory.unwrap(), index)
}

fn settings(encoder: Option<&HashedEmbedder>) -> MemoryBuilder {
    encoder.map_or_else(builder, with)
}

/// Checks that recall answers as it does after a rebuild, and that the vectors are those of the records. The memory is
/// closed for that.
pub(super) async fn are_as_rebuilt(
    folder: &Path,
    (memory, index): (Memory, Arc<Exact>),
    encoder: Option<&HashedEmbedder>,
) {
    if let Some(encoder) = encoder {
        vectors_are_those_of_records(&memory, &index, encoder).await;
    }
    let found = answers(&memory, encoder).await;
    drop(memory);
    let (rebuilt, _index) = open(settings(encoder).rebuild(), folder).await;
    if encoder.is_some() {
        assert_eq!(
            rebuilt
                .index_pending(usize::MAX)
                .await
                .unwrap()
                .interrupted_by,
            None
        );
    }
    let again = answers(&rebuilt, encoder).await;
    for ((found, again), question) in found.iter().zip(&again).zip(QUESTIONS.iter().cycle()) {
        assert!(
            found.keys().eq(again.keys()),
            "{question}: {found:?} {again:?}"
        );
        for (id, score) in found {
            // Sums that were made in another order.
            assert!((score - again[id]).abs() < 1e-3, "{question}: {id}");
        }
    }
}

async fn answers(memory: &Memory, encoder: Option<&HashedEmbedder>) -> Answers {
    let mut answers = Vec::new();
    for question in QUESTIONS {
        let request = RecallRequest::new(question).limit(ALL).valid(Validity::Any);
        answers.push(answer(memory, request.clone().by_words(), SearchMode::Words).await);
        if encoder.is_some() {
            answers.push(answer(memory, request, SearchMode::WordsAndVectors).await);
        }
    }
    answers
}

async fn answer(
    memory: &Memory,
    request: RecallRequest,
    mode: SearchMode,
) -> BTreeMap<RecordId, f32> {
    let recall = memory.recall(request).await.unwrap();
    assert_eq!(recall.mode, mode);
    let items = recall.items.iter();
    items.map(|item| (item.record.id, item.score)).collect()
}

/// Brings vectors up to date, and looks whether the index has those of all records in use, and no others.
async fn vectors_are_those_of_records(memory: &Memory, index: &Exact, encoder: &HashedEmbedder) {
    let progress = memory.index_pending(usize::MAX).await.unwrap();
    assert_eq!((progress.interrupted_by, progress.waiting), (None, 0));
    let held = Held::by(memory).await;
    let spaces = memory.spaces().await.unwrap();
    let active = spaces
        .iter()
        .find(|s| s.state == dormouse_memory::SpaceState::Active);
    let Some(active) = active else {
        return;
    };
    let report = memory.check_index().await.unwrap().unwrap();
    let collections: BTreeMap<Collection, &IndexedCollection> = report
        .collections
        .iter()
        .filter(|collection| collection.space == active.number)
        .map(|one| (one.collection, one))
        .collect();
    for collection in Collection::ALL {
        let count = held
            .in_use()
            .filter(|record| record.collection == collection)
            .count();
        let found = collections.get(&collection).and_then(|c| c.found);
        assert_eq!(found.unwrap_or(0), count as u64, "{collection:?}");
    }
    let every = held.stats.in_use as usize / SAMPLE + 1;
    for record in held.in_use().step_by(every) {
        let speaker = record.speaker_name();
        let text = speaker.map_or(record.text.clone(), |name| {
            format!("{name}: {}", record.text)
        });
        let vector = encoder.vector(&text);
        let filter = PointFilter::default();
        let name = &collections[&record.collection].name;
        let hits = index.search(name, &vector, &filter, ALL).await.unwrap();
        let hit = hits
            .iter()
            .find(|hit| hit.id == record.id.to_number())
            .unwrap();
        assert!(
            hit.score > 0.999,
            "{} has another vector: {hit:?}",
            record.id
        );
    }
}
