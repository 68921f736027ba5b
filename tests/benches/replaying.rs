//! Folding a log into a state.

use std::{hint::black_box, sync::Arc};

use dormouse_contracts::{Append, AppendRequest, NewEvent, Perception, ReadEvents, Seq};
use dormouse_engine::{AdmissionSettings, Event, decide_again, replay};
use dormouse_offline::OfflineModel;
use dormouse_providers::Estimate;
use dormouse_store::RedbLog;
use dormouse_testing::Perceive;
use serde_json::Value;

use crate::{
    life::{Life, key},
    rate::per_second,
    table::{Row, Table, median, middle, now},
};

const EVENTS: usize = 100_000;
const FEWER: usize = 10_000;
const BATCH: usize = 500;
const ROUNDS: usize = 5;

pub(crate) async fn measure(table: &mut Table) {
    let events = lived().await;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let log = RedbLog::open(&folder.path().join("life.redb")).unwrap();
    for (batch, chunk) in events.chunks(BATCH).enumerate() {
        let request = AppendRequest {
            assistant: key(),
            expected: Seq((batch * BATCH) as u64),
            events: chunk.to_vec(),
        };
        log.append(request).await.unwrap();
    }
    decide(table, &log).await;
    for count in [FEWER, EVENTS] {
        replay(&log, &key(), Seq(count as u64)).await.unwrap();
        let mut rates = Vec::new();
        for _ in 0..ROUNDS {
            let started = now();
            let state = replay(&log, &key(), Seq(count as u64)).await.unwrap();
            let took = now().duration_since(started).as_secs_f64();
            assert_eq!(state.seq, Seq(count as u64));
            rates.push(count as f64 / took);
        }
        let payloads = || events.iter().take(count).map(|event| &event.payload);
        let baseline_measured = median(|| {
            per_second(count, || {
                for payload in payloads() {
                    black_box(serde_json::from_slice::<Value>(payload).unwrap());
                }
            })
        });
        let bytes: usize = payloads().map(Vec::len).sum();
        table.add(&Row {
            what: &format!("replay, first {count} events"),
            measured: middle(&mut rates),
            unit: "events/s",
            baseline: "serde_json to Value, of the same payloads in memory",
            baseline_measured,
            note: format!("{} bytes an event", bytes / count),
        });
    }
}

/// Decides a part of the life again, compared with folding it.
async fn decide(table: &mut Table, log: &RedbLog) {
    let (mut decided, mut folded) = (Vec::new(), Vec::new());
    for _ in 0..ROUNDS {
        let started = now();
        let counter = |_: &_| Arc::new(Estimate::default()) as _;
        let again = decide_again(log, &key(), Seq(FEWER as u64), counter).await;
        let took = now().duration_since(started).as_secs_f64();
        assert_eq!(again.unwrap().events, FEWER as u64);
        decided.push(FEWER as f64 / took);
        let started = now();
        black_box(replay(log, &key(), Seq(FEWER as u64)).await.unwrap());
        folded.push(FEWER as f64 / now().duration_since(started).as_secs_f64());
    }
    table.add(&Row {
        what: &format!("deciding again, first {FEWER} events"),
        measured: middle(&mut decided),
        unit: "events/s",
        baseline: "replay of the same events",
        baseline_measured: middle(&mut folded),
        note: String::new(),
    });
}

/// The events of a long life with the offline model. Most messages are overheard, since they come faster than one sender may ask,
/// so it is soon lived.
async fn lived() -> Vec<NewEvent> {
    let model = Arc::new(OfflineModel::new());
    let life = Life::begin_admitting(model, 5, AdmissionSettings::default()).await;
    let mut number = 0;
    while life.resident.handle().status().seq < Seq(EVENTS as u64) {
        number += 1;
        life.hear(message(number)).await;
        if number.is_multiple_of(100) {
            // All of them would be kept.
            life.log.lose_snapshots();
        }
    }
    let stored = life.log.read(&key(), Seq::ZERO, EVENTS).await.unwrap();
    let encode = |event| Event::decode(event).unwrap().encode(event.at).unwrap();
    stored.iter().map(encode).collect()
}

fn message(number: u64) -> Perception {
    let said = match number % 8 {
        0 => Perceive::whisper(
            "Alice",
            &format!("remember that item {number} is in box {}", number / 8),
        ),
        1 | 5 => Perceive::addressed("Bob", "hello, how is the tea today"),
        2 => Perceive::whisper("Alice", &format!("where is item {}?", number - 2)),
        3 => Perceive::addressed("Bob", "look around"),
        _ => Perceive::say(
            "Bob",
            &format!("It is the {number}th cup, and nobody counts them."),
        ),
    };
    said.number(number).build()
}
