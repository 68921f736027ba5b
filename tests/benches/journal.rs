//! A journal at growing sizes: adding, and searching compared with a linear scan, in one run: `cargo xtask bench journal`.
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
#[path = "recall/times.rs"]
mod times;

use std::{hint::black_box, time::Duration};

use dormouse_contracts::Timestamp;
use dormouse_journal::{
    EpisodicScore, Journal, JournalIndex, JournalQuery, JournalSettings, NewEntry, SourceType,
};

use clock::now;
use speech::{Turn, Turns};
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
        measure(size);
    }
}

/// Only the journal and its index are held: what is written is made entry by entry.
fn measure(size: u64) {
    let entries = usize::try_from(size).unwrap();
    let settings = JournalSettings {
        max_entries: entries,
        ..JournalSettings::default()
    };
    let (mut journal, mut index) = (Journal::new(), JournalIndex::default());
    let tenth = entries / 10;
    let (mut first, mut last) = (Times::default(), Times::default());
    let (mut turns, mut end) = (Turns::of(size), Timestamp::EPOCH);
    for (place, turn) in turns.by_ref().enumerate() {
        end = at(&turn);
        let begun = now();
        add(&mut journal, &mut index, &turn, &settings);
        let took = now().duration_since(begun);
        if place < tenth {
            first.push(took);
        } else if place >= tenth * 9 {
            last.push(took);
        }
    }
    let grown = ratio(last.middle(), first.middle());
    first.tell("adding one of the first tenth");
    last.tell("adding one of the last tenth");
    println!("  the last tenth takes {grown:.2} times as long as the first");
    let all = turns.questions();
    let of = |[small, large]: [usize; 2]| if entries >= LARGE { large } else { small };
    let questions = |many| all.iter().take(of(many));
    let mut found = Vec::new();
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
        found.push((what, times.middle()));
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
    let scan = times.middle();
    times.tell("linear scan, by the documented score");
    for (what, took) in found {
        println!(
            "  {what}: {:.0} times as fast as the scan",
            ratio(scan, took)
        );
    }
}

fn ratio(one: Duration, other: Duration) -> f64 {
    one.as_secs_f64() / other.as_secs_f64().max(f64::MIN_POSITIVE)
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
