//! How long a start takes with a log of many events, all of them of one life, and the memory that comes out of it.

use std::{fs, path::Path, sync::Arc};

use dormouse_contracts::{Append, AppendRequest, NewEvent, ReadEvents, Seq, StoredEvent};
use dormouse_engine::{Event, Rest};
use dormouse_host::{DataFolder, Host, Resident};
use dormouse_store::RedbLog;
use dormouse_testing::Perceive;
use dormouse_tests::Program;

use crate::{
    ALLOCATOR, SHOWN,
    clock::now,
    five_steps::FiveSteps,
    life::{Life, key},
    processor::processor_time,
    room::{Room, open_host},
    table::{Row, Table, middle},
};

/// Which parts of the life are measured.
const PARTS: [usize; 3] = [100, 10, 1];
/// How many earlier turns its prompts show while it is lived, so that it is lived soon.
const SHOWN_BEFORE: usize = 5;
const BATCH: usize = 2_000;
const STARTS: usize = 9;
const PLAY: [&str; 3] = ["play", "--provider", "offline"];

/// What a start takes.
struct Start {
    /// Until the log and the world are open and the assistant is awake and at rest, in milliseconds.
    awake: f64,
    /// The processor time of that, in milliseconds.
    processor: f64,
    /// Until a visit of the program without a word is over, in milliseconds.
    visit: f64,
    /// What is in use then, in MB.
    live: f64,
}

pub(crate) async fn measure(table: &mut Table, folder: &Path, events: usize) {
    let new = folder.join("new");
    visited(&new).await;
    let empty = Start::measured(&new).await;
    let begun = now();
    let life = lived(events).await;
    println!(
        "\n{} events, lived in {:.0?}\n",
        life.len(),
        begun.elapsed()
    );
    Table::begin();
    for part in PARTS {
        let place = folder.join(format!("starting-{part}"));
        let count = life.len() / part;
        let begun = now();
        write(&place, life.get(..count).unwrap()).await;
        let written = begun.elapsed();
        // The first start folds the log and makes the memory.
        let begun = now();
        let records = visited(&place).await;
        let made = begun.elapsed();
        let start = Start::measured(&place).await;
        table.add(&Row {
            what: &format!("start with a log of {count} events and {records} memories"),
            measured: start.awake,
            unit: "ms",
            baseline: "with a new folder that was visited once",
            baseline_measured: empty.awake,
            note: format!(
                "{:.0} ms of processor time ({:.0} ms); a visit of the program without a word takes {:.0} ms ({:.0} ms); \
                 {:.1} MB in use when awake; \
                 the events were written in {written:.1?}, and the first start, which folds the log and makes the memory, \
                 took {made:.1?}",
                start.processor, empty.processor, start.visit, empty.visit, start.live,
            ),
        });
    }
}

impl Start {
    async fn measured(folder: &Path) -> Self {
        let (mut times, mut busy) = (Vec::new(), Vec::new());
        let (mut visits, mut live) = (Vec::new(), 0.0);
        for _ in 0..STARTS {
            let before = ALLOCATOR.allocated();
            let (started, used) = (now(), processor_time());
            let awake = awake(folder).await;
            times.push(started.elapsed().as_secs_f64() * 1e3);
            busy.push((processor_time() - used).as_secs_f64() * 1e3);
            live = ALLOCATOR.allocated().saturating_sub(before) as f64 / 1e6;
            put_away(awake).await;
        }
        let program = Program::over(folder);
        for _ in 0..STARTS {
            let started = now();
            assert!(program.start(&PLAY).end().await.success());
            visits.push(started.elapsed().as_secs_f64() * 1e3);
        }
        Self {
            awake: middle(&mut times),
            processor: middle(&mut busy),
            visit: middle(&mut visits),
            live,
        }
    }
}

/// Opens log and world, wakes the assistant, and waits until it is at rest.
async fn awake(folder: &Path) -> (Host, Resident) {
    let host = open_host(folder, SHOWN).await;
    let resident = host.wake(&key()).await.unwrap();
    assert_eq!(resident.handle().at_rest().await, Rest::Settled);
    (host, resident)
}

async fn put_away((host, resident): (Host, Resident)) {
    drop(resident);
    host.close().await;
}

/// The events of a life with a model that looks around four times before it answers.
async fn lived(events: usize) -> Vec<NewEvent> {
    let life = Life::begin(Arc::new(FiveSteps::new()), SHOWN_BEFORE).await;
    let mut number = 0;
    while life.resident.handle().status().seq < Seq(events as u64) {
        number += 1;
        let text = format!("what is in the attic, next to chest {number} of the miller?");
        life.hear(Perceive::addressed("Alice", &text).number(number).build())
            .await;
        if number.is_multiple_of(100) {
            // All of them would be kept.
            life.log.lose_snapshots();
        }
    }
    let encode = |stored: &StoredEvent| NewEvent {
        at: stored.at,
        kind: Event::decode(stored).unwrap().kind(),
        schema: stored.schema,
        payload: stored.payload.clone(),
    };
    let stored = life.log.read(&key(), Seq::ZERO, events).await.unwrap();
    stored.iter().map(encode).collect()
}

async fn write(folder: &Path, life: &[NewEvent]) {
    fs::create_dir_all(folder).unwrap();
    let data = DataFolder::at(folder).unwrap();
    let log = RedbLog::open(&data.log()).unwrap();
    let mut expected = Seq::ZERO;
    for events in life.chunks(BATCH) {
        let request = AppendRequest {
            assistant: key(),
            expected,
            events: events.to_vec(),
        };
        log.append(request).await.unwrap();
        expected = Seq(expected.0 + events.len() as u64);
    }
    log.close();
}

/// Wakes the assistant once and says hello, so that its log knows the world of this folder; answers how many records its memory
/// has.
async fn visited(folder: &Path) -> u64 {
    let room = Room::open(folder, SHOWN).await;
    let resident = room.wake(&key()).await;
    room.exchange(&resident, "hello").await;
    let records = resident.memory().stats().await.unwrap().records;
    put_away((room.host, resident)).await;
    records
}
