//! A journal at growing sizes: adding, and searching compared with a linear scan, in one run: `cargo xtask bench`.
//!
//! `cargo bench -p dormouse-tests --bench journal -- 1000000` measures that many entries only.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a failed measurement ends in a panic, and its result is a table for people"
)]

mod clock;
#[expect(
    dead_code,
    reason = "other measurements need threads and speakers, too"
)]
#[path = "recall/speech.rs"]
mod speech;
#[expect(dead_code, reason = "other measurements need the middle, too")]
#[path = "recall/times.rs"]
mod times;

use std::hint::black_box;

use dormouse_contracts::Timestamp;
use dormouse_journal::{
    EpisodicScore, Journal, JournalIndex, JournalQuery, JournalSettings, NewEntry, SourceType,
};

use clock::now;
use speech::{Speech, Turn};
use times::Times;

/// The sizes at which growth shows, in entries.
const SIZES: [u64; 4] = [1_000, 10_000, 100_000, 1_000_000];
/// How many questions are asked of small journals, and of large ones.
const QUESTIONS: [usize; 2] = [200, 20];
/// How many of them are enough for a scan, which reads all entries.
const SCANS: [usize; 2] = [3, 1];
/// From this size on a journal is large.
const LARGE: usize = 100_000;

fn main() {
    // `cargo test --all-targets` starts this as well, and wants no figures.
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("measured by `cargo bench`");
        return;
    }
    let asked: Vec<u64> = std::env::args()
        .filter_map(|argument| argument.parse().ok())
        .collect();
    let sizes = if asked.is_empty() {
        SIZES.to_vec()
    } else {
        asked
    };
    for size in sizes {
        println!("\n{size} entries of a journal");
        measure(&Speech::of(size));
    }
}

fn measure(speech: &Speech) {
    let settings = JournalSettings {
        max_entries: speech.turns.len(),
        ..JournalSettings::default()
    };
    let (mut journal, mut index) = (Journal::new(), JournalIndex::default());
    let tenth = speech.turns.len() / 10;
    let (mut first, mut last) = (Times::default(), Times::default());
    for (place, turn) in speech.turns.iter().enumerate() {
        let begun = now();
        add(&mut journal, &mut index, turn, &settings);
        let took = now().duration_since(begun);
        if place < tenth {
            first.push(took);
        } else if place >= tenth * 9 {
            last.push(took);
        }
    }
    first.tell("adding one of the first tenth");
    last.tell("adding one of the last tenth");
    let end = at(speech.turns.last().unwrap());
    let is_large = speech.turns.len() >= LARGE;
    let of = |[small, large]: [usize; 2]| if is_large { large } else { small };
    let questions = |many| speech.questions.iter().take(of(many));
    for (what, query) in [
        ("index, by the documented score", JournalQuery::episodic("")),
        ("index, by relevance", JournalQuery::ranked("")),
    ] {
        let mut times = Times::default();
        for question in questions(QUESTIONS) {
            let query = JournalQuery {
                query: question.clone(),
                days_back: None,
                ..query.clone()
            };
            times.time(|| black_box(index.search(&journal, &query, end)));
        }
        times.tell(what);
    }
    let (score, mut times) = (EpisodicScore::default(), Times::default());
    for question in questions(SCANS) {
        times.time(|| {
            let scores = journal
                .entries()
                .map(|entry| score.of(entry, question, end).score);
            black_box(scores.fold(0.0, f64::max))
        });
    }
    times.tell("linear scan, by the documented score");
}

fn add(journal: &mut Journal, index: &mut JournalIndex, turn: &Turn, settings: &JournalSettings) {
    let new = NewEntry::new(turn.text.as_str(), SourceType::Direct);
    let changes = journal.plan_entry(new, at(turn), settings).unwrap();
    for change in changes {
        let delta = journal.apply(&change, at(turn)).unwrap();
        index.follow(journal, &delta);
    }
}

fn at(turn: &Turn) -> Timestamp {
    Timestamp::from_micros(turn.at * 1_000_000)
}
