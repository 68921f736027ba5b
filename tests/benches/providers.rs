//! What resilience and providers cost, each next to a named baseline measured in the same run: `cargo xtask bench`.
//!
//! Figures of one machine at one moment: what to look at is the ratio. Every figure is the median of several rounds.
//! A counting allocator is installed, which costs measured code and baselines alike.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a failed measurement ends in a panic, and its result is a table for people"
)]

mod clock;
#[path = "providers/counting.rs"]
mod counting;
#[path = "providers/guarding.rs"]
mod guarding;
#[path = "providers/sender.rs"]
mod sender;
#[path = "providers/streaming.rs"]
mod streaming;
mod table;

use table::Table;

fn main() {
    let Some((runtime, mut table)) = Table::begin_benchmark() else {
        return;
    };
    guarding::measure(&runtime, &mut table);
    streaming::measure(&runtime, &mut table);
    counting::measure(&mut table);
    println!("all of it took {:.0} s", table.elapsed().as_secs_f64());
}
