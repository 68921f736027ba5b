//! How fast an index of synthetic conversations answers, and how much memory it takes.
//!
//! `cargo run --release -p dormouse-retrieval --example scale -- 100000`
//!
//! Words are drawn by Zipf's law from 60,000, and the commonest of them is in every seventh turn, as in English without
//! its stop words. Turns have 4 to 24 words, of which every third belongs to the conversation; conversations have 30
//! turns by two of a hundred speakers. A query is five words of some turn and one of any.
#![expect(clippy::print_stdout, reason = "an example shows what it measures")]
#![expect(
    clippy::disallowed_methods,
    reason = "it measures time, which is not paused here"
)]

use std::{env, hint::black_box, time::Instant};

use dormouse_contracts::{Hit, Timestamp};
use dormouse_retrieval::{Config, Index, Match, Query, Ranking, Unit};

const WORDS: usize = 60_000;
const TURNS: u64 = 30;
const QUERIES: usize = 1_000;
/// No stemmer takes words of these for ones with an ending.
const LETTERS: &[u8; 14] = b"bcdfgkmoptuvxz";

/// A small generator of chance (SplitMix64), so that every run sees the same text.
struct Chance(u64);

impl Chance {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }
}

/// Draws words by Zipf's law.
struct Zipf {
    sums: Vec<f64>,
}

impl Zipf {
    fn new() -> Self {
        let mut sum = 0.0;
        let sums = (1..=WORDS).map(|rank| {
            sum += 1.0 / (rank as f64 + 8.7);
            sum
        });
        Self {
            sums: sums.collect(),
        }
    }

    fn word(&self, chance: &mut Chance) -> String {
        let whole = self.sums.last().copied().unwrap_or(1.0);
        let at = (chance.next() as f64 / u64::MAX as f64) * whole;
        let mut rank = self.sums.partition_point(|sum| *sum < at);
        let mut word = String::from("w");
        loop {
            word.push(LETTERS.get(rank % 14).copied().map_or('b', char::from));
            rank /= 14;
            if rank == 0 {
                return word;
            }
        }
    }
}

fn text(zipf: &Zipf, chance: &mut Chance, conversation: u64) -> String {
    let words = 4 + chance.below(21);
    let words = (0..words).map(|_| match chance.below(3) {
        0 => zipf.word(&mut Chance(conversation * 97 + chance.below(25))),
        _ => zipf.word(chance),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Asks for a text in some way.
type Ask<'a> = &'a dyn Fn(&str) -> Vec<Match>;

fn main() {
    let records: u64 = env::args()
        .nth(1)
        .and_then(|number| number.parse().ok())
        .unwrap_or(20_000);
    let (zipf, mut chance) = (Zipf::new(), Chance(1));
    let mut index = Index::default();
    let mut bytes = 0;
    let mut adding = Vec::new();
    let mut probes = Vec::new();
    for id in 0..records {
        let conversation = id / TURNS;
        let text = text(&zipf, &mut chance, conversation);
        bytes += text.len();
        if id % (records / QUERIES as u64).max(1) == 0 {
            probes.push(text.clone());
        }
        let begun = Instant::now();
        index.insert(&Unit {
            id,
            text: &text,
            speaker: Some(&format!("Speaker{}", conversation % 50 * 2 + id % 2)),
            thread: Some(&format!("thread {conversation}")),
            at: Timestamp::from_micros(i64::try_from(id).unwrap_or(0) * 60_000_000),
        });
        adding.push(begun.elapsed().as_nanos());
    }
    println!(
        "{records} records, {} bytes of text each",
        bytes as u64 / records.max(1)
    );
    println!(
        "memory: {} bytes a record",
        index.memory_bytes() as u64 / records.max(1)
    );
    let last = adding.split_off(adding.len() / 10 * 9);
    adding.truncate(last.len());
    report("adding, first tenth", adding);
    report("adding, last tenth", last);

    let queries: Vec<String> = probes
        .iter()
        .map(|text| question(text, &zipf, &mut chance))
        .collect();
    let hits: Vec<Hit> = (0..1_000)
        .map(|_| Hit {
            id: chance.below(records),
            score: chance.below(1_000) as f32 / 1_000.0,
        })
        .collect();
    let questions: [(&str, Ask<'_>); 4] = [
        ("fused", &|text| index.search(&Query::new(text), 10)),
        ("fused, with a name and a month", &|text| {
            let text = format!("{text} Speaker7 in March 1970");
            index.search(&Query::new(&text), 10)
        }),
        ("fused, with 1,000 vectors", &|text| {
            index.search(&Query::new(text).dense(&hits), 10)
        }),
        ("plain BM25", &|text| {
            index.search(&Query::new(text).ranking(Ranking::PlainBm25), 10)
        }),
    ];
    for (name, ask) in questions {
        let mut times = Vec::new();
        for query in &queries {
            let begun = Instant::now();
            black_box(ask(query));
            times.push(begun.elapsed().as_nanos());
        }
        report(name, times);
    }

    let begun = Instant::now();
    let snapshot = index.encode();
    println!(
        "encode: {:?}, {} bytes a record",
        begun.elapsed(),
        snapshot.len() as u64 / records.max(1)
    );
    let begun = Instant::now();
    let decoded = Index::decode(&snapshot, Config::default());
    println!(
        "decode: {:?}, {} records",
        begun.elapsed(),
        decoded.map_or(0, |index| index.len())
    );

    let mut removing = Vec::new();
    for id in (0..records).step_by((records / 1_000).max(1) as usize) {
        let begun = Instant::now();
        index.remove(id);
        removing.push(begun.elapsed().as_nanos());
    }
    report("removing", removing);
}

/// Five words of a text and one of any.
fn question(text: &str, zipf: &Zipf, chance: &mut Chance) -> String {
    let mut words: Vec<String> = text.split(' ').take(5).map(ToOwned::to_owned).collect();
    words.push(zipf.word(chance));
    words.join(" ")
}

fn report(name: &str, mut nanos: Vec<u128>) {
    nanos.sort_unstable();
    let at = |share: usize| {
        let place = (nanos.len() * share / 1_000).min(nanos.len().saturating_sub(1));
        nanos.get(place).copied().unwrap_or(0) as f64 / 1_000.0
    };
    println!(
        "{name}: p50 {:.1} µs, p95 {:.1} µs, p99 {:.1} µs, most {:.1} µs",
        at(500),
        at(950),
        at(990),
        at(1_000)
    );
}
