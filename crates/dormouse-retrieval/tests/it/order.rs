//! What a search answers depends on the units that are there, and on nothing else.

use std::collections::BTreeSet;

use dormouse_contracts::Timestamp;
use dormouse_retrieval::{Config, Index, Ranking, SearchMatch, SearchQuery, Unit};
use proptest::prelude::*;

const WORDS: [&str; 12] = [
    "kettle",
    "box",
    "blue",
    "yesterday",
    "I",
    "stairs",
    "?",
    "🍵",
    "東京",
    "ferry",
    "rain",
    "the",
];
const NAMES: [Option<&str>; 4] = [Some("Alice"), Some("Bob"), Some("Bob Smith"), None];
const THREADS: [Option<&str>; 3] = [Some("kitchen"), Some("garden"), None];

/// A unit without its number.
#[derive(Clone, Debug)]
struct Turn {
    text: String,
    speaker: usize,
    thread: usize,
    at: i64,
}

fn turns() -> impl Strategy<Value = Vec<Turn>> {
    let words = proptest::collection::vec(proptest::sample::select(&WORDS[..]), 0..6);
    let turn = (words, 0..NAMES.len(), 0..THREADS.len(), 0..12_i64);
    let turn = turn.prop_map(|(words, speaker, thread, at)| Turn {
        text: words.join(" "),
        speaker,
        thread,
        // Some are an hour apart, some more.
        at: at * 25 * 60 * 1_000_000,
    });
    proptest::collection::vec(turn, 0..24)
}

fn insert(index: &mut Index, id: usize, turn: &Turn) {
    index.insert(&Unit {
        id: id as u64,
        text: &turn.text,
        speaker: NAMES[turn.speaker].map(Into::into),
        thread: THREADS[turn.thread],
        at: Timestamp::from_micros(turn.at),
    });
}

/// An index that takes both ways of finding candidates in turn. Longer texts have several passages.
fn index(exhaustive_up_to: usize) -> Index {
    Index::new(Config {
        exhaustive_up_to,
        candidates: 3,
        passage_words: 3,
        ..Config::default()
    })
}

fn answers(index: &Index) -> Vec<Vec<SearchMatch>> {
    let questions = [
        "Where is the blue kettle?",
        "When did Bob take the ferry?",
        "東京 🍵",
        "Alice",
        "",
    ];
    let ask = |text| {
        let query = SearchQuery::new(text).asked_at(Timestamp::from_micros(90_000_000_000));
        let mut found = index.search(&query, 5);
        found.extend(index.search(&query.ranking(Ranking::PlainBm25), 5));
        found
    };
    questions.into_iter().map(ask).collect()
}

fn surroundings(index: &Index, units: usize) -> Vec<(Vec<u64>, Vec<u64>)> {
    let around = |id| (index.session(id as u64), index.neighbours(id as u64, 2));
    (0..units).map(around).collect()
}

proptest! {
    #[test]
    fn the_order_in_which_units_come_does_not_matter(
        turns in turns(),
        seed in any::<prop::sample::Index>(),
        exhaustive_up_to in prop::sample::select(vec![0, 1_000]),
    ) {
        let mut in_order = index(exhaustive_up_to);
        for (id, turn) in turns.iter().enumerate() {
            insert(&mut in_order, id, turn);
        }
        let mut shuffled: Vec<_> = turns.iter().enumerate().collect();
        if !shuffled.is_empty() {
            let by = seed.index(shuffled.len());
            shuffled.rotate_left(by);
            let half = shuffled.len() / 2;
            shuffled[half..].reverse();
        }
        let mut late = index(exhaustive_up_to);
        for (id, turn) in shuffled {
            insert(&mut late, id, turn);
        }
        prop_assert_eq!(answers(&late), answers(&in_order));
        prop_assert_eq!(surroundings(&late, turns.len()), surroundings(&in_order, turns.len()));
        prop_assert_eq!(late.encode(), in_order.encode());
    }

    #[test]
    fn a_removed_or_replaced_unit_leaves_no_trace(
        turns in turns(),
        passing in turns(),
        exhaustive_up_to in prop::sample::select(vec![0, 1_000]),
    ) {
        let mut never_there = index(exhaustive_up_to);
        for (id, turn) in turns.iter().enumerate() {
            insert(&mut never_there, id, turn);
        }
        let mut changed = index(exhaustive_up_to);
        // First under the same numbers, then under others that are removed again.
        for (id, turn) in passing.iter().enumerate() {
            insert(&mut changed, id, turn);
            insert(&mut changed, id + 100, turn);
        }
        for (id, turn) in turns.iter().enumerate() {
            insert(&mut changed, id, turn);
        }
        for id in turns.len()..200 {
            changed.remove(id as u64);
        }
        prop_assert_eq!(changed.len(), turns.len());
        prop_assert_eq!(answers(&changed), answers(&never_there));
        prop_assert_eq!(surroundings(&changed, turns.len()), surroundings(&never_there, turns.len()));
    }

    #[test]
    fn a_decoded_index_answers_the_same(
        turns in turns(),
        exhaustive_up_to in prop::sample::select(vec![0, 1_000]),
    ) {
        let mut original = index(exhaustive_up_to);
        for (id, turn) in turns.iter().enumerate() {
            insert(&mut original, id, turn);
        }
        let decoded = Index::decode(&original.encode(), original.config().clone()).unwrap();
        prop_assert_eq!(answers(&decoded), answers(&original));
        prop_assert_eq!(surroundings(&decoded, turns.len()), surroundings(&original, turns.len()));
    }

    #[test]
    fn scores_lie_between_0_and_1_are_the_sum_of_their_parts_and_fall(turns in turns()) {
        let mut index = index(1_000);
        for (id, turn) in turns.iter().enumerate() {
            insert(&mut index, id, turn);
        }
        let found = index.search(&SearchQuery::new("When was the blue kettle in the rain, Bob?"), 50);
        for pair in found.windows(2) {
            prop_assert!(pair[0].score >= pair[1].score);
        }
        let ids: BTreeSet<u64> = found.iter().map(|found| found.id).collect();
        prop_assert_eq!(ids.len(), found.len(), "a unit is found once");
        for found in found {
            prop_assert!((0.0..=1.0).contains(&found.score), "{found:?}");
            let sum: f32 = found.parts.iter().map(|(_, part)| part).sum();
            prop_assert!((sum - found.score).abs() < 1e-5);
        }
    }
}
