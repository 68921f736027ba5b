//! What a process has in use after many messages to one assistant, and who holds it.

use std::path::Path;

use dormouse_contracts::{AssistantId, LoadSnapshot, Seq};

use crate::{
    ALLOCATOR, SHOWN,
    clock::now,
    resident_bytes::resident_bytes,
    room::Room,
    said::message,
    table::{Row, Table},
};

/// At which parts of all messages memory is looked at.
const PARTS: [usize; 4] = [20, 4, 2, 1];

/// The bytes in use, and the resident ones, in MB.
#[derive(Clone, Copy, Debug)]
struct Used {
    live: f64,
    resident: f64,
}

impl Used {
    fn now() -> Self {
        Self {
            live: ALLOCATOR.allocated() as f64 / 1e6,
            resident: resident_bytes("self") as f64 / 1e6,
        }
    }
}

pub(crate) async fn measure(table: &mut Table, folder: &Path, messages: usize) {
    let empty = Used::now();
    let room = Room::open(&folder.join("growing"), SHOWN).await;
    let key = AssistantId::try_new("dormouse").unwrap();
    let resident = room.wake(&key).await;
    let mut add = |what: &str, used: Used, baseline, than: Used, note: String| {
        table.add(&Row {
            what,
            measured: used.live,
            unit: "MB",
            baseline,
            baseline_measured: than.live,
            note: format!(
                "resident: {:.1} MB and {:.1} MB{note}",
                used.resident, than.resident
            ),
        });
    };
    let started = now();
    room.exchange(&resident, &message(0)).await;
    let first = Used::now();
    let mut said = 1;
    for part in PARTS {
        while said < messages / part {
            room.exchange(&resident, &message(said as u64)).await;
            said += 1;
        }
        let took = started.elapsed().as_secs_f64();
        add(
            &format!("memory in use after {said} messages"),
            Used::now(),
            "after the first",
            first,
            format!("; {:.0} messages a second until then", said as f64 / took),
        );
    }
    let last = Used::now();
    let seq = resident.handle().status().seq;
    let memory = resident.memory().stats().await.unwrap();
    drop(resident);
    room.host.close().await;
    let away = Used::now();
    let than = "before it was";
    let state = room
        .host
        .log()
        .load_snapshot(&key, Seq(u64::MAX))
        .await
        .unwrap();
    let holds = format!(
        "; its log has {} events, its memory {} records with a search index of {:.1} MB, and its state takes {:.1} MB in the log",
        seq.0,
        memory.records,
        memory.index_bytes as f64 / 1e6,
        state.map_or(0, |state| state.payload.len()) as f64 / 1e6,
    );
    add(
        "memory in use when the assistant is put away",
        away,
        than,
        last,
        holds,
    );
    drop(room);
    let closed = Used::now();
    let than = "before they were";
    add(
        "memory in use when log and world are closed",
        closed,
        than,
        away,
        String::new(),
    );
    let than = "before the host was opened";
    add(
        "memory in use at the end",
        closed,
        than,
        empty,
        String::new(),
    );
}
