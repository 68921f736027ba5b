//! The index compared with a linear scan, SQLite FTS5, and an exact index of vectors.

use std::{collections::HashSet, hint::black_box};

use dormouse_contracts::{
    AssistantId, CollectionName, Point, PointFilter, PointPayload, Timestamp, Trust, VectorIndex,
};
use dormouse_retrieval::{Index, Ranking, SearchQuery, Unit};
use dormouse_vectors::Exact;
use rusqlite::{Connection, params};

use crate::{
    clock::now,
    speech::{RandomWords, Speech},
    times::Times,
};

/// How many numbers a vector has: a small sentence encoder's.
const DIMENSIONS: usize = 384;
/// How many hits recall asks for.
const HITS: usize = 256;
/// How many calls of the slow ones are enough.
const FEW: usize = 50;

pub(crate) fn measure(speech: &Speech) {
    let index = indexed(speech, true);
    for (what, ranking) in [
        ("index, fused", Ranking::Fused),
        ("index, plain BM25", Ranking::PlainBm25),
    ] {
        let mut times = Times::default();
        for question in &speech.questions {
            let query = SearchQuery::new(question).ranking(ranking);
            times.time(|| black_box(index.search(&query, 10)));
        }
        times.tell(what);
    }
    drop(index);
    sqlite(speech);
    scan(speech);
}

/// The index of all turns, and what adding the first and the last tenth of them took.
fn indexed(speech: &Speech, tell: bool) -> Index {
    let mut index = Index::default();
    let tenth = speech.turns.len() / 10;
    let (mut first, mut last) = (Times::default(), Times::default());
    for (turn, id) in speech.turns.iter().zip(1_u64..) {
        let unit = Unit {
            id,
            text: &turn.text,
            speaker: Some((&*turn.speaker).into()),
            thread: Some(&turn.thread),
            at: Timestamp::from_micros(turn.at * 1_000_000),
        };
        let begun = now();
        index.insert(&unit);
        let took = now().duration_since(begun);
        let place = usize::try_from(id).unwrap();
        if place <= tenth {
            first.push(took);
        } else if place > tenth * 9 {
            last.push(took);
        }
    }
    if tell {
        first.tell("index, adding one of the first tenth");
        last.tell("index, adding one of the last tenth");
        let bytes = index.memory_bytes() / speech.turns.len().max(1);
        println!("  index: {bytes} bytes a record in memory");
    }
    index
}

/// SQLite's full-text search with its Porter stemmer, any of the words, ranked by its BM25, in memory.
fn sqlite(speech: &Speech) {
    let mut connection = Connection::open_in_memory().unwrap();
    connection
        .execute_batch("CREATE VIRTUAL TABLE turns USING fts5(text, tokenize = 'porter unicode61')")
        .unwrap();
    let begun = now();
    let transaction = connection.transaction().unwrap();
    {
        let mut insert = transaction
            .prepare("INSERT INTO turns (rowid, text) VALUES (?1, ?2)")
            .unwrap();
        for (turn, id) in speech.turns.iter().zip(1_i64..) {
            insert.execute(params![id, turn.text]).unwrap();
        }
    }
    transaction.commit().unwrap();
    let each = now().duration_since(begun) / u32::try_from(speech.turns.len()).unwrap();
    println!("  SQLite FTS5: {each:.1?} for adding one, in one transaction");
    let mut select = connection
        .prepare("SELECT rowid FROM turns WHERE turns MATCH ?1 ORDER BY rank LIMIT 10")
        .unwrap();
    let mut times = Times::default();
    let most = if speech.turns.len() > 200_000 {
        FEW
    } else {
        speech.questions.len()
    };
    for question in speech.questions.iter().take(most) {
        let any = question.replace(' ', " OR ");
        times.time(|| {
            let rows = select.query_map([&any], |row| row.get::<_, i64>(0));
            black_box(rows.unwrap().map(Result::unwrap).collect::<Vec<_>>())
        });
    }
    times.tell("SQLite FTS5, the same questions");
}

/// Every text, word by word: what a list of lines costs.
fn scan(speech: &Speech) {
    let mut times = Times::default();
    for question in speech.questions.iter().take(FEW) {
        times.time(|| {
            let wanted: HashSet<&str> = question.split(' ').collect();
            let mut best: Vec<(usize, usize)> = Vec::new();
            for (place, turn) in speech.turns.iter().enumerate() {
                let shared = turn.text.split(' ').filter(|word| wanted.contains(word));
                best.push((shared.count(), place));
            }
            best.sort_unstable_by(|a, b| b.cmp(a));
            best.truncate(10);
            black_box(best)
        });
    }
    times.tell("linear scan, words in common");
}

/// The nearest vectors, and the index fused with them.
pub(crate) async fn with_vectors(speech: &Speech) {
    let vectors = Exact::new();
    let collection = CollectionName::try_new("turns").unwrap();
    vectors.prepare(&collection, DIMENSIONS).await.unwrap();
    let mut random = RandomWords(7);
    let assistant = AssistantId::try_new("bench").unwrap();
    let points: Vec<Point> = speech
        .turns
        .iter()
        .zip(1_u64..)
        .map(|(turn, id)| Point {
            id,
            vector: (0..DIMENSIONS).map(|_| random.unit()).collect(),
            payload: PointPayload {
                assistant: assistant.clone(),
                trust: Trust::FULL,
                at: Timestamp::from_micros(turn.at * 1_000_000),
            },
        })
        .collect();
    for batch in points.chunks(1_000) {
        vectors.upsert(&collection, batch).await.unwrap();
    }
    drop(points);
    let index = indexed(speech, false);
    let filter = PointFilter {
        assistant: Some(assistant),
        min_trust: Some(Trust::try_new(0.5).unwrap()),
        ..PointFilter::default()
    };
    let (mut scans, mut both) = (Times::default(), Times::default());
    for question in &speech.questions {
        let query: Vec<f32> = (0..DIMENSIONS).map(|_| random.unit()).collect();
        let begun = now();
        let hits = vectors
            .search(&collection, &query, &filter, HITS)
            .await
            .unwrap();
        scans.push(now().duration_since(begun));
        black_box(index.search(&SearchQuery::new(question).dense(&hits), 10));
        both.push(now().duration_since(begun));
    }
    scans.tell("vectors, exact, the nearest 256 of 384 numbers each");
    both.tell("index and vectors, fused (the query's vector given)");
}
