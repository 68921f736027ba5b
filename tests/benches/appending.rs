//! Appends of many writers into one log on the real disk.

use std::{
    fs::File,
    io::Write,
    path::Path,
    time::{Duration, Instant},
};

use dormouse_contracts::{Append, AppendRequest, AssistantId, NewEvent, Seq, Timestamp};
use dormouse_store::RedbLog;
use futures_util::future::join_all;

use crate::table::{Row, Table, median, middle, now};

/// About the size of a usual event.
const PAYLOAD: usize = 300;
/// Writers, and how many events each of them appends, one by one.
const WRITERS: [(usize, u64); 3] = [(1, 1_000), (16, 400), (256, 60)];
const ROUNDS: usize = 3;
const RAW: u64 = 1_000;
/// A slow disk ends a round early.
const ENOUGH: Duration = Duration::from_millis(1_200);

pub(crate) async fn measure(table: &mut Table) {
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let baseline_measured = median(|| raw(folder.path()));
    for (writers, each) in WRITERS {
        let mut rates = Vec::new();
        let mut note = String::new();
        for round in 0..ROUNDS {
            let file = folder.path().join(format!("{writers}-{round}.redb"));
            let (appends, syncs, took) = shared(&file, writers, each).await;
            rates.push(appends as f64 / took.as_secs_f64());
            note = format!(
                "{appends} appends, {syncs} syncs, {:.1} appends a sync",
                appends as f64 / syncs as f64
            );
        }
        table.add(&Row {
            what: &format!("appends, {writers} writing at once"),
            measured: middle(&mut rates),
            unit: "per second",
            baseline: "write and fdatasync for each event",
            baseline_measured,
            note,
        });
    }
}

/// Every writer appends to a log of its own, all of them in one file; answers appends, syncs and the time they took.
async fn shared(file: &Path, writers: usize, each: u64) -> (u64, u64, Duration) {
    let log = RedbLog::open(file).unwrap();
    let before = log.stats().syncs;
    let started = now();
    let writing = (0..writers).map(|writer| write(&log, writer, each, started));
    let appends = join_all(writing).await.into_iter().sum();
    let took = now().duration_since(started);
    let syncs = log.stats().syncs - before;
    log.close();
    (appends, syncs, took)
}

/// Appends `each` events one by one, or as many as there is time for; answers how many.
async fn write(log: &RedbLog, writer: usize, each: u64, started: Instant) -> u64 {
    let assistant = AssistantId::try_new(format!("writer-{writer}")).unwrap();
    for number in 0..each {
        if is_enough(started) {
            return number;
        }
        let event = NewEvent {
            at: Timestamp::EPOCH,
            kind: "written",
            schema: 1,
            payload: vec![b'x'; PAYLOAD],
        };
        let request = AppendRequest {
            assistant: assistant.clone(),
            expected: Seq(number),
            events: vec![event],
        };
        log.append(request).await.unwrap();
    }
    each
}

fn is_enough(started: Instant) -> bool {
    now().duration_since(started) > ENOUGH
}

/// What an event costs without a database.
fn raw(folder: &Path) -> f64 {
    let mut file = File::create(folder.join("raw")).unwrap();
    let started = now();
    let mut written = 0;
    while written < RAW && !is_enough(started) {
        file.write_all(&[b'x'; PAYLOAD]).unwrap();
        file.sync_data().unwrap();
        written += 1;
    }
    written as f64 / now().duration_since(started).as_secs_f64()
}
