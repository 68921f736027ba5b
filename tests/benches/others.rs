//! A turn of five calls next to the same turn of other projects, on the same server in one run. `cargo xtask bench others`.
//!
//! LangGraph keeps every step in a file of SQLite, and syncs it; rig keeps nothing. Each has its own process.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a failed measurement ends in a panic, and its result is a table for people"
)]

mod clock;
mod processor;
mod resident_bytes;
#[expect(dead_code, reason = "other measurements make several rounds")]
mod table;

#[path = "turning/server.rs"]
mod server;
#[expect(dead_code, reason = "other measurements look at syncs, too")]
#[path = "turning/visit.rs"]
mod visit;

use std::{
    env,
    path::Path,
    process::{Command, Stdio},
};

use serde_json::Value;

use clock::now;
use processor::processor_time;
use resident_bytes::resident_bytes;
use server::{STEPS, Server};
use table::{Row, Table, middle};
use visit::{Budgets, Visit, milliseconds};

/// After so many earlier turns of a conversation it is measured, or after as many as the arguments behind this one say.
const EARLIER: [usize; 3] = [1, 20, 50];
const EARLIER_ARGUMENT: &str = "--earlier";
/// How many turns are measured then, in each of so many conversations.
const TURNS: usize = 5;
const ROUNDS: usize = 4;
/// More than any of these lives has, so that a prompt shows all of it, as those of the others do.
const SHOWN: usize = 200;
/// Where the other programs are. One that is not named is left out.
const LANGGRAPH: &str = "--langgraph";
const RIG: &str = "--rig";

/// A turn after so many others.
struct Took {
    earlier: usize,
    /// The median, in milliseconds.
    wall: f64,
    /// On average, in milliseconds.
    processor: f64,
    /// The memory of its process afterwards, in bytes.
    resident: u64,
}

/// What one program takes.
struct Measured {
    turns: Vec<Took>,
    /// The requests of its last turn, in bytes.
    sent: usize,
}

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
    let folder = folder.path();
    let server = Server::start();
    let earlier = earlier();
    let own = own(&server, folder, &earlier).await;
    if let Some(packages) = after(LANGGRAPH) {
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/peers/langgraph/agent.py");
        let mut command = Command::new("python3");
        command.arg(script).env("PYTHONPATH", packages);
        let other = measured(&mut command, &server, folder, &earlier).await;
        let what = "LangGraph, with SQLite at full synchronisation";
        compare(table, &own, &other, what);
    }
    if let Some(program) = after(RIG) {
        let mut command = Command::new(program);
        let other = measured(&mut command, &server, folder, &earlier).await;
        compare(table, &own, &other, "rig, without a disk");
    }
}

fn compare(table: &mut Table, own: &Measured, other: &Measured, baseline: &str) {
    for (own_turn, turn) in own.turns.iter().zip(&other.turns) {
        assert_eq!(own_turn.earlier, turn.earlier);
        let earlier = match turn.earlier {
            1 => "1 earlier turn".to_owned(),
            several => format!("{several} earlier turns"),
        };
        table.add(&Row {
            what: &format!("a turn of {STEPS} calls, {earlier}"),
            measured: own_turn.wall,
            unit: "ms",
            baseline,
            baseline_measured: turn.wall,
            note: String::new(),
        });
        table.add(&Row {
            what: &format!("processor time of such a turn, {earlier}"),
            measured: own_turn.processor,
            unit: "ms",
            baseline,
            baseline_measured: turn.processor,
            note: String::new(),
        });
    }
    let resident = |of: &Measured| of.turns.last().unwrap().resident as f64 / 1e6;
    table.add(&Row {
        what: "resident memory of the process afterwards",
        measured: resident(own),
        unit: "MB",
        baseline,
        baseline_measured: resident(other),
        note: String::new(),
    });
    table.add(&Row {
        what: "bytes of the requests of the last turn",
        measured: own.sent as f64 / 1e3,
        unit: "KB",
        baseline,
        baseline_measured: other.sent as f64 / 1e3,
        note: String::new(),
    });
}

/// Our own turns. Each conversation is the life of a new assistant, with everything on and on a disk.
async fn own(server: &Server, folder: &Path, earlier: &[usize]) -> Measured {
    let mut walls = vec![Vec::new(); earlier.len()];
    let mut busy = vec![0.0; earlier.len()];
    // The first is not counted: it warms up.
    for round in 0..=ROUNDS {
        let place = folder.join(format!("own-{round}"));
        let visit = Visit::begin(&place, server, SHOWN, Budgets::None).await;
        let mut said = 0;
        for ((point, walls), busy) in earlier.iter().zip(&mut walls).zip(&mut busy) {
            while said < *point {
                visit.say(&format!("what is new, friend {said}?")).await;
                said += 1;
            }
            let (replies, before) = (visit.replies(), processor_time());
            let mut taken = Vec::new();
            for _ in 0..TURNS {
                let started = now();
                visit.say(&format!("what is next, friend {said}?")).await;
                taken.push(milliseconds(started.elapsed()));
                said += 1;
            }
            let spent = milliseconds(processor_time() - before);
            assert_eq!(visit.replies() - replies, (TURNS * STEPS) as u64);
            if round > 0 {
                walls.extend(taken);
                *busy += spent;
            }
        }
        visit.end().await;
    }
    let points = earlier.iter().zip(walls).zip(busy);
    let turns = points.map(|((earlier, mut walls), busy)| Took {
        earlier: *earlier,
        processor: busy / walls.len() as f64,
        wall: middle(&mut walls),
        resident: resident_bytes("self"),
    });
    Measured {
        turns: turns.collect(),
        sent: sent(server).await,
    }
}

/// What another program prints about its turns.
async fn measured(
    command: &mut Command,
    server: &Server,
    folder: &Path,
    earlier: &[usize],
) -> Measured {
    let output = command
        .arg(&server.url)
        .arg(folder)
        .args([ROUNDS.to_string(), TURNS.to_string()])
        .args(earlier.iter().map(usize::to_string))
        .env("NO_PROXY", "127.0.0.1")
        .stderr(Stdio::inherit())
        .output()
        .unwrap();
    assert!(output.status.success(), "{command:?} failed");
    let printed = String::from_utf8(output.stdout).unwrap();
    let turns = printed.lines().map(|line| {
        let took: Value = serde_json::from_str(line).unwrap();
        let number = |name: &str| took.get(name).and_then(Value::as_u64).unwrap();
        let walls = took.get("walls").and_then(Value::as_array).unwrap();
        let mut walls: Vec<f64> = walls.iter().filter_map(Value::as_f64).collect();
        assert_eq!(walls.len(), ROUNDS * TURNS);
        Took {
            earlier: usize::try_from(number("earlier")).unwrap(),
            wall: middle(&mut walls),
            processor: took.get("processor").and_then(Value::as_f64).unwrap(),
            resident: number("resident"),
        }
    });
    Measured {
        turns: turns.collect(),
        sent: sent(server).await,
    }
}

async fn sent(server: &Server) -> usize {
    server.last_bodies().await.iter().map(Vec::len).sum()
}

/// What is behind this argument.
fn after(argument: &str) -> Option<String> {
    env::args().skip_while(|it| it != argument).nth(1)
}

fn earlier() -> Vec<usize> {
    let given = env::args().skip_while(|it| it != EARLIER_ARGUMENT).skip(1);
    let given: Vec<usize> = given.map_while(|number| number.parse().ok()).collect();
    if given.is_empty() {
        EARLIER.to_vec()
    } else {
        given
    }
}
