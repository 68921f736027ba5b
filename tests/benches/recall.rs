//! Recall at growing sizes, compared with a linear scan and SQLite's full-text search, in one run: `cargo xtask bench`.
//!
//! `cargo bench -p dormouse-tests --features yardstick --bench recall -- 1000000` measures that many records only, and with
//! `-- listeners` only the filter by listeners is measured.
#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::print_stdout,
    reason = "a failed measurement ends in a panic, and its result is a table for people"
)]

mod clock;
#[path = "recall/engines.rs"]
mod engines;
#[path = "recall/file.rs"]
mod file;
#[path = "recall/listeners.rs"]
mod listeners;
#[path = "recall/speech.rs"]
mod speech;
#[path = "recall/times.rs"]
mod times;

use clock::now;
use speech::Speech;

/// The sizes at which growth shows, in records.
const SIZES: [u64; 3] = [10_000, 100_000, 1_000_000];
/// The sizes at which the filter by listeners is measured.
const FILTERED: [u64; 2] = [1_000, 100_000];
/// The largest size at which vectors and a whole memory are measured; 384 numbers each for a million is past what the
/// scan is made for.
const WHOLE: u64 = 100_000;

fn main() {
    // `cargo test --all-targets` starts this as well, and wants no figures.
    if !std::env::args().any(|argument| argument == "--bench") {
        println!("measured by `cargo bench`");
        return;
    }
    let asked: Vec<u64> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let sizes = if asked.is_empty() {
        SIZES.to_vec()
    } else {
        asked.clone()
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let begun = now();
    let only_listeners = std::env::args().any(|argument| argument == "listeners");
    if only_listeners || asked.is_empty() {
        for size in FILTERED {
            println!("\n{size} records, by who listens");
            runtime.block_on(listeners::measure(&Speech::of(size)));
        }
    }
    if only_listeners {
        return;
    }
    for size in sizes {
        println!("\n{size} records");
        let speech = Speech::of(size);
        engines::measure(&speech);
        if size <= WHOLE {
            runtime.block_on(engines::with_vectors(&speech));
            runtime.block_on(file::measure(&speech));
        }
    }
    println!("\nmeasured in {:.0?}", now().duration_since(begun));
}
