use std::fs;

use dormouse_contracts::{Append, AppendRequest, NewEvent, Timestamp};

use super::*;
use crate::{RedbLog, Stop, record, salvage};

fn alice() -> AssistantId {
    AssistantId::try_new("alice").unwrap()
}

fn event(payload: &[u8]) -> NewEvent {
    NewEvent {
        at: Timestamp::EPOCH,
        kind: "heard",
        schema: 1,
        payload: payload.to_vec(),
    }
}

/// A log of three events, and in its unused space a record that differs from the second.
async fn contested(path: &Path) {
    let log = RedbLog::open(path).unwrap();
    let request = AppendRequest {
        assistant: alice(),
        expected: Seq::ZERO,
        events: vec![event(b"one"), event(b"two"), event(b"three")],
    };
    log.append(request).await.unwrap();
    drop(log);
    let mut bytes = fs::read(path).unwrap();
    let leftover = record::encode(&alice(), Seq(2), &event(b"never committed"));
    let room = bytes.windows(1000).rposition(|w| w.iter().all(|b| *b == 0));
    let at = room.unwrap() + 100;
    bytes[at..at + leftover.len()].copy_from_slice(&leftover);
    fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn the_tables_settle_which_of_two_events_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    contested(&path).await;
    let before = fs::read(&path).unwrap();
    assert!(scan::scan(&path).unwrap().has_contested());

    let into = folder.path().join("new.redb");
    let report = salvage(&path, &into).unwrap();
    assert_eq!(report.assistants[0].events, 3);
    assert_eq!(report.assistants[0].stop, Stop::End);
    assert_eq!(fs::read(&path).unwrap(), before, "only read");
}

#[tokio::test]
async fn without_tables_a_contested_place_ends_what_is_believed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    contested(&path).await;
    let mut bytes = fs::read(&path).unwrap();
    bytes[64..320].fill(0xAA);
    fs::write(&path, bytes).unwrap();

    let into = folder.path().join("new.redb");
    let report = salvage(&path, &into).unwrap();
    assert_eq!(report.assistants[0].events, 1);
    assert_eq!(report.assistants[0].stop, Stop::Contested);
}
