//! The whole program over a long visit: how fast it answers, what that leaves in its log, and what it holds in memory.

use std::{
    fs::{self, File},
    io::Write,
    path::Path,
};

use dormouse_contracts::{AssistantId, ReadEvents, Seq};
use dormouse_store::RedbLog;
use dormouse_tests::{Child, Program};

use crate::{
    clock::now,
    resident_bytes::resident_bytes,
    said::message,
    table::{Row, Table},
};

/// How many messages the visit has, unless the variable says otherwise.
const MESSAGES: u64 = 1_000;
const MESSAGES_VARIABLE: &str = "DORMOUSE_BENCH_MESSAGES";
const PLAY: [&str; 3] = ["play", "--provider", "offline"];
const PAGE: usize = 512;

/// What a visit took.
struct Visit {
    messages_per_second: f64,
    /// What was said, by both, in bytes.
    said: u64,
    /// Resident memory after the first message and after the last, in bytes.
    resident: (u64, u64),
    /// Until a visit without a word was over, in milliseconds.
    start_ms: f64,
}

pub(crate) async fn measure(table: &mut Table) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let messages = std::env::var(MESSAGES_VARIABLE).map_or(MESSAGES, |it| it.parse().unwrap());
    let visit = visit(folder.path(), messages).await;
    table.add(&Row {
        what: &format!("messages answered offline, of {messages}"),
        measured: visit.messages_per_second,
        unit: "per second",
        baseline: "write and fdatasync for each message and each answer",
        baseline_measured: raw(folder.path(), messages.min(1_000)),
        note: format!("a start afterwards takes {:.0} ms", visit.start_ms),
    });
    let per_message = |bytes: u64| bytes as f64 / messages as f64;
    table.add(&Row {
        what: "log, events alone",
        measured: per_message(logged(&folder.path().join("log.redb")).await),
        unit: "bytes/message",
        baseline: "what was said",
        baseline_measured: per_message(visit.said),
        note: format!("the file: {:.0}", per_message(size(folder.path()))),
    });
    let (first, last) = visit.resident;
    table.add(&Row {
        what: "resident memory after the last message",
        measured: last as f64 / 1e6,
        unit: "MB",
        baseline: "after the first",
        baseline_measured: first as f64 / 1e6,
        note: String::new(),
    });
}

async fn visit(data: &Path, messages: u64) -> Visit {
    let program = Program::over(data);
    let mut child = program.start(&PLAY);
    let mut said = exchange(&mut child, 0).await;
    let first = resident(&child);
    let started = now();
    for number in 1..=messages {
        said += exchange(&mut child, number).await;
    }
    let took = now().duration_since(started);
    let last = resident(&child);
    child.end().await;
    let started = now();
    program.start(&PLAY).end().await;
    Visit {
        messages_per_second: messages as f64 / took.as_secs_f64(),
        said,
        resident: (first, last),
        start_ms: now().duration_since(started).as_secs_f64() * 1_000.0,
    }
}

/// Says something and waits for the answer; answers how many bytes both have.
async fn exchange(child: &mut Child, number: u64) -> u64 {
    let message = message(number);
    child.write(&message).await;
    loop {
        let line = child.line().await.expect("it goes on");
        let line = String::from_utf8(line).unwrap();
        if let Some((_, answer)) = line.split_once("Dormouse says, ") {
            return (message.len() + answer.trim_end().len()) as u64;
        }
    }
}

/// The resident memory of the program, in bytes.
fn resident(child: &Child) -> u64 {
    child.id().map_or(0, |id| resident_bytes(&id.to_string()))
}

/// The payloads of all events, in bytes.
async fn logged(file: &Path) -> u64 {
    let log = RedbLog::open(file).unwrap();
    let key = AssistantId::try_new("dormouse").unwrap();
    let (mut bytes, mut after) = (0, Seq::ZERO);
    loop {
        let page = log.read(&key, after, PAGE).await.unwrap();
        let Some(last) = page.last() else { break };
        after = last.seq;
        bytes += page
            .iter()
            .map(|event| event.payload.len() as u64)
            .sum::<u64>();
    }
    log.close();
    bytes
}

fn size(data: &Path) -> u64 {
    fs::metadata(data.join("log.redb")).unwrap().len()
}

/// How many messages and answers a second could be kept without a database.
fn raw(folder: &Path, messages: u64) -> f64 {
    let mut file = File::create(folder.join("raw")).unwrap();
    let started = now();
    for number in 0..messages {
        let message = message(number);
        for said in [&message, "I do not know: I remember nothing about that."] {
            file.write_all(said.as_bytes()).unwrap();
            file.sync_data().unwrap();
        }
    }
    messages as f64 / now().duration_since(started).as_secs_f64()
}
