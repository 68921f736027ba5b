//! What the parts cost, each next to a named baseline measured in the same run: `cargo xtask bench`.
//!
//! Figures of one machine at one moment: what to look at is the ratio. Every figure is the median of several rounds.
//! A counting allocator is installed, which costs measured code and baselines alike.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a failed measurement ends in a panic, and its result is a table for people"
)]

mod appending;
mod classifying;
mod clock;
mod five_steps;
mod life;
mod living;
mod rate;
mod redacting;
mod replaying;
mod resident_bytes;
mod said;
mod table;
mod ticking;

use table::Table;

fn main() {
    let Some((runtime, mut table)) = Table::begin_benchmark() else {
        return;
    };
    runtime.block_on(appending::measure(&mut table));
    ticking::measure(&runtime, &mut table);
    // A comparison of two revisions looks at these alone.
    if std::env::args().any(|argument| argument == "--main-rows") {
        return;
    }
    classifying::measure(&mut table);
    redacting::measure(&mut table);
    runtime.block_on(living::measure(&mut table));
    runtime.block_on(replaying::measure(&mut table));
    println!("\nall of it took {:.0} s", table.elapsed().as_secs_f64());
}
