//! A whole turn of five steps with everything on: over HTTP on this machine, on a disk, with goals, budgets and caches.
//! `cargo xtask bench turns`.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a failed measurement ends in a panic, and its result is a table for people"
)]

mod clock;
mod processor;
#[expect(dead_code, reason = "other measurements make several rounds")]
mod table;

#[path = "turning/curve.rs"]
mod curve;
#[path = "turning/server.rs"]
mod server;
#[path = "turning/visit.rs"]
mod visit;

use std::{fs::File, io::Write, path::Path};

use server::{STEPS, Server, client};
use visit::{Budgets, Visit, milliseconds};

use clock::now;
use processor::processor_time;
use table::{Row, Table, middle};

/// How many turns are measured with each history, unless the variable says otherwise.
const TURNS: usize = 40;
const TURNS_VARIABLE: &str = "DORMOUSE_BENCH_TURNS";
/// Behind this argument is the number of earlier turns, if only one row is measured.
const HISTORY: &str = "--history";
/// Behind this argument is the number of turns that a life reaches, if only a longer and longer life is measured.
const LIVED: &str = "--lived";
/// How often a sync is measured, and how many bytes it has: as many as a page of the log.
const SYNCS: usize = 60;
const PAGE: usize = 4_096;

fn main() {
    if server::serves() {
        return;
    }
    if let Some((runtime, mut table)) = Table::begin_benchmark() {
        runtime.block_on(measure(&mut table));
    }
}

async fn measure(table: &mut Table) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let sync = sync(folder.path());
    let server = Server::start();
    if let Some(lived) = number_after(LIVED) {
        return curve::measure(table, &server, folder.path(), sync, lived).await;
    }
    let rows = match number_after(HISTORY) {
        Some(history) => vec![(history, Budgets::Tokens)],
        None => vec![
            (0, Budgets::Tokens),
            (50, Budgets::Tokens),
            (200, Budgets::Tokens),
            (50, Budgets::None),
        ],
    };
    for (history, budgets) in rows {
        let place = folder.path().join(format!("{history}{budgets:?}"));
        let took = turns(&place, &server, history, budgets).await;
        let bare = bare(&server).await;
        let per_turn = |of: u64| of as f64 / turns_measured() as f64;
        let with = match budgets {
            Budgets::Tokens => "",
            Budgets::None => ", no budget",
        };
        table.add(&Row {
            what: &format!("5-step turn over HTTP, {history} earlier turns{with}"),
            measured: took.wall,
            unit: "ms",
            baseline: "three times a bare client that sends the same bytes, and three syncs",
            baseline_measured: 3.0 * bare.wall + 3.0 * sync,
            note: format!(
                "bare {:.2} ms for {:.0} KB; a sync {sync:.2} ms; {:.1} syncs of the log; {} further requests, to show the \
                 history shorter",
                bare.wall,
                took.bytes as f64 / 1e3,
                per_turn(took.syncs),
                took.further,
            ),
        });
        table.add(&Row {
            what: &format!("processor time of such a turn, {history} earlier turns{with}"),
            measured: took.processor,
            unit: "ms",
            baseline: "the bare client",
            baseline_measured: bare.processor,
            note: String::new(),
        });
    }
}

/// The number after this argument.
fn number_after(argument: &str) -> Option<usize> {
    let mut arguments = std::env::args().skip_while(|it| it != argument);
    arguments.nth(1).map(|number| number.parse().unwrap())
}

/// The measured turns begin here. `cargo xtask bench instructions` counts from this function to the next.
#[inline(never)]
fn measuring_begins() {
    std::hint::black_box(());
}

/// The measured turns are over.
#[inline(never)]
fn measuring_ends() {
    std::hint::black_box(1);
}

fn turns_measured() -> usize {
    std::env::var(TURNS_VARIABLE).map_or(TURNS, |it| it.parse().unwrap())
}

/// What a turn took.
struct Took {
    /// The median, in milliseconds.
    wall: f64,
    /// On average, in milliseconds: the clock of a process may be coarse.
    processor: f64,
    /// Of all turns.
    syncs: u64,
    /// Of the requests of the last turn.
    bytes: usize,
    /// How many requests were made for facts and summaries, because the history got longer than prompts may show.
    further: u64,
}

/// How long it takes to write a page and to be sure of it, in milliseconds.
fn sync(folder: &Path) -> f64 {
    let mut file = File::create(folder.join("synced")).unwrap();
    let mut once = || {
        let started = now();
        file.write_all(&[7; PAGE]).unwrap();
        file.sync_data().unwrap();
        milliseconds(started.elapsed())
    };
    let mut all: Vec<f64> = (0..SYNCS).map(|_| once()).collect();
    middle(&mut all)
}

/// The requests of the last turn once more, by a client that only reads the answers.
async fn bare(server: &Server) -> Took {
    let bodies = server.last_bodies().await;
    let client = client();
    let url = format!("{}/chat/completions", server.url);
    let (mut walls, busy) = (Vec::new(), processor_time());
    for _ in 0..turns_measured() {
        let started = now();
        for body in &bodies {
            let request = client.post(&url).header("content-type", "application/json");
            let answer = request.body(body.clone()).send().await.unwrap();
            assert!(answer.bytes().await.unwrap().len() > 100);
        }
        walls.push(milliseconds(started.elapsed()));
    }
    Took {
        processor: milliseconds(processor_time() - busy) / walls.len() as f64,
        wall: middle(&mut walls),
        syncs: 0,
        further: 0,
        bytes: bodies.iter().map(Vec::len).sum(),
    }
}

async fn turns(folder: &Path, server: &Server, history: usize, budgets: Budgets) -> Took {
    let visit = Visit::begin(folder, server, history, budgets).await;
    visit.say("keep a goal").await;
    // At least one turn, so that connections are open and files have grown.
    for number in 0..=history {
        visit.say(&format!("what is new, friend {number}?")).await;
    }
    let took = measured(&visit, server, turns_measured()).await;
    visit.end().await;
    took
}

/// What so many turns take, from here on.
async fn measured(visit: &Visit, server: &Server, turns: usize) -> Took {
    let mut walls = Vec::new();
    let (replies, before) = (visit.replies(), visit.last().await);
    measuring_begins();
    let (busy, synced) = (processor_time(), visit.host.log().stats().syncs);
    for number in 0..turns {
        let started = now();
        visit.say(&format!("what is next, friend {number}?")).await;
        walls.push(milliseconds(started.elapsed()));
    }
    let (busy, synced) = (
        processor_time() - busy,
        visit.host.log().stats().syncs - synced,
    );
    measuring_ends();
    let further = visit.further_requests(before).await;
    let taken = visit.replies() - replies;
    assert_eq!(taken, STEPS as u64 * walls.len() as u64 + further);
    Took {
        processor: milliseconds(busy) / walls.len() as f64,
        syncs: synced,
        further,
        wall: middle(&mut walls),
        bytes: server.last_bodies().await.iter().map(Vec::len).sum(),
    }
}
