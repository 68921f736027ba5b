//! Long lives: how long a start takes, and what memory the process has in use after many messages. `cargo xtask bench long
//! --events N --messages N`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a failed measurement ends in a panic, and its result is a table for people"
)]

mod clock;
mod five_steps;
mod life;
mod processor;
mod resident_bytes;
mod said;
#[expect(dead_code, reason = "other measurements make several rounds")]
mod table;

#[path = "long/growing.rs"]
mod growing;
#[path = "many/room.rs"]
mod room;
#[path = "long/starting.rs"]
mod starting;

use std::alloc::System;

use cap::Cap;
use tokio::runtime::Builder;

use table::Table;

/// Counts the bytes that are in use, which pages of the system are too coarse for.
#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// How many earlier turns a prompt shows, as by default.
const SHOWN: usize = 200;
/// How many events the longest life has, and how many messages are answered, unless the arguments say otherwise.
const EVENTS: (&str, usize) = ("--events", 1_000_000);
const MESSAGES: (&str, usize) = ("--messages", 20_000);

fn main() {
    let Some((alone, mut table)) = Table::begin_benchmark() else {
        return;
    };
    drop(alone);
    // As the program has it.
    let runtime = Builder::new_multi_thread().enable_all().build().unwrap();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let messages = number(MESSAGES);
    if messages > 0 {
        runtime.block_on(growing::measure(&mut table, folder.path(), messages));
    }
    let events = number(EVENTS);
    if events > 0 {
        runtime.block_on(starting::measure(&mut table, folder.path(), events));
    }
}

/// The number after this argument.
fn number((argument, otherwise): (&str, usize)) -> usize {
    let mut arguments = std::env::args().skip_while(|it| it != argument);
    let number = arguments.nth(1);
    number.map_or(otherwise, |number| number.parse().unwrap())
}
