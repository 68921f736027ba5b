//! Many assistants of one process that answer at the same time, offline: messages a second, what each costs, and whether all
//! get their share. `cargo xtask bench many --count N`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a failed measurement ends in a panic, and its result is a table for people"
)]

mod clock;
#[expect(dead_code, reason = "other measurements look at the log")]
mod life;
mod processor;
mod said;
#[expect(dead_code, reason = "other measurements make several rounds")]
mod table;

#[path = "many/house.rs"]
mod house;
#[path = "many/room.rs"]
mod room;
#[path = "many/traced.rs"]
mod traced;

use std::{fs::File, io::Write, path::Path, sync::Arc, time::Duration};

use dormouse_offline::OfflineModel;
use dormouse_testing::Perceive;
use tokio::runtime::{Builder, Runtime};

use clock::now;
use house::{Answered, House};
use life::Life;
use processor::processor_time;
use said::message;
use table::{Row, Table, middle};

/// How many assistants are measured before the most, and the most unless `--count` says otherwise.
const FEWER: [usize; 2] = [1, 16];
const MOST: usize = 256;
/// How many earlier turns a prompt shows. A message costs more the more it shows, and each of many has fewer than one alone.
const SHOWN: usize = 10;
/// For how long they are measured, and answer before that, so that each has answered some messages.
const WINDOW: Duration = Duration::from_secs(8);
const WARM_UP: Duration = Duration::from_secs(2);
const WARM_UP_OF_EACH: Duration = Duration::from_millis(15);
/// How many messages the baselines have.
const RAW: u64 = 1_000;
const IN_MEMORY: u64 = 200;

fn main() {
    let Some((alone, mut table)) = Table::begin_benchmark() else {
        return;
    };
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    if let Some(count) = number_after(traced::COUNT) {
        traced::run(&many_threads(), folder.path(), count);
        return;
    }
    let raw = raw(folder.path());
    let in_memory = alone.block_on(in_memory());
    drop(alone);
    let most = number_after("--count").unwrap_or(MOST);
    let mut counts: Vec<usize> = FEWER.into_iter().filter(|count| *count < most).collect();
    counts.push(most);
    for count in counts {
        let syncs = traced::syncs(count);
        let place = folder.path().join(count.to_string());
        let answered =
            many_threads().block_on(House::answers(&place, count, (warm_up(count), WINDOW)));
        add_rows(&mut table, count, &answered, &syncs, raw, in_memory);
    }
}

/// The number after this argument.
fn number_after(argument: &str) -> Option<usize> {
    let mut arguments = std::env::args().skip_while(|it| it != argument);
    arguments.nth(1).map(|number| number.parse().unwrap())
}

fn warm_up(count: usize) -> Duration {
    WARM_UP + WARM_UP_OF_EACH * u32::try_from(count).unwrap()
}

/// As the program has it.
fn many_threads() -> Runtime {
    Builder::new_multi_thread().enable_all().build().unwrap()
}

fn add_rows(
    table: &mut Table,
    count: usize,
    answered: &Answered,
    syncs: &str,
    raw: f64,
    in_memory: Duration,
) {
    let messages: u64 = answered.each.iter().sum();
    let per_message = |value: f64| value / messages as f64;
    let who = match count {
        1 => "1 assistant".to_owned(),
        _ => format!("{count} assistants"),
    };
    table.add(&Row {
        what: &format!("messages answered offline, {who} at once"),
        measured: messages as f64 / WINDOW.as_secs_f64(),
        unit: "per second",
        baseline: "write and fdatasync for each message and each answer, one after the other",
        baseline_measured: raw,
        note: format!(
            "{messages} messages; from a message to its end p50 {:.1} ms, p99 {:.1} ms; {:.1} commits and {:.1} syncs of the \
             log a message; {syncs}",
            answered.latency(50),
            answered.latency(99),
            per_message(answered.commits as f64),
            per_message(answered.syncs as f64),
        ),
    });
    table.add(&Row {
        what: &format!("processor time of a message, {who}"),
        measured: per_message(answered.processor.as_secs_f64() * 1e3),
        unit: "ms",
        baseline: "such a message without files, world and threads",
        baseline_measured: in_memory.as_secs_f64() * 1e3,
        note: format!(
            "{:.0} % of all processors",
            100.0 * answered.processor.as_secs_f64()
                / WINDOW.as_secs_f64()
                / std::thread::available_parallelism().unwrap().get() as f64
        ),
    });
    table.add(&Row {
        what: &format!("log, events alone, {who}"),
        measured: answered.logged as f64 / answered.said as f64,
        unit: "bytes a message",
        baseline: "what was asked",
        baseline_measured: answered.asked as f64 / answered.said as f64,
        note: format!("the file has {:.1} MB", answered.file as f64 / 1e6),
    });
    let mut each: Vec<f64> = answered.each.iter().map(|of_one| *of_one as f64).collect();
    let median = middle(&mut each);
    table.add(&Row {
        what: &format!("messages of the slowest of {who}"),
        measured: each.first().copied().unwrap(),
        unit: "messages",
        baseline: "the median assistant",
        baseline_measured: median,
        note: format!("the fastest: {:.0}", each.last().copied().unwrap()),
    });
}

/// How many messages and answers a second could be kept without a database.
fn raw(folder: &Path) -> f64 {
    let mut file = File::create(folder.join("raw")).unwrap();
    let started = now();
    for number in 0..RAW {
        for said in [
            &*message(number),
            "I do not know: I remember nothing about that.",
        ] {
            file.write_all(said.as_bytes()).unwrap();
            file.sync_data().unwrap();
        }
    }
    RAW as f64 / now().duration_since(started).as_secs_f64()
}

/// The processor time of a message to an assistant whose log and world are in memory.
async fn in_memory() -> Duration {
    let life = Life::begin(Arc::new(OfflineModel::new()), SHOWN).await;
    let before = processor_time();
    for number in 1..=IN_MEMORY {
        let said = Perceive::whisper("Alice", &message(number)).number(number);
        life.hear(said.build()).await;
    }
    let spent = processor_time() - before;
    let replies = life.resident.handle().status().spent.replies;
    assert!(
        replies >= IN_MEMORY,
        "each message has a turn: {replies} replies"
    );
    spent / u32::try_from(IN_MEMORY).unwrap()
}
