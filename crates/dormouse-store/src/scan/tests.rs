use std::fs;

use dormouse_contracts::{Append, AppendRequest, NewEvent, Timestamp};

use super::*;
use crate::{RedbLog, rows::encode_event, salvage};

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

fn record(seq: u64, payload: &[u8]) -> Vec<u8> {
    encode_event(&alice(), Seq(seq), &event(payload))
}

fn scanned(pieces: &[&[u8]]) -> Vec<(u64, Stop)> {
    let file = tempfile::NamedTempFile::new().unwrap();
    fs::write(file.path(), pieces.concat()).unwrap();
    let found = scan(file.path()).unwrap();
    found
        .readable()
        .into_iter()
        .map(|log| (log.events, log.stop))
        .collect()
}

#[test]
fn records_are_found_at_every_offset_and_in_any_number() {
    let (one, two) = (record(1, b"a"), record(2, b"b"));
    let rubbish = [0xFE, b'd', b'e', 0xFF, 0xFE, 0xFE, b'd'];
    let found = scanned(&[&rubbish, &two, &one, &[0; 99], &two, &rubbish, &one]);
    assert_eq!(found, [(2, Stop::End)]);
}

#[test]
fn records_across_the_edge_of_a_window_are_found() {
    for before in (WINDOW_BYTES - 60..WINDOW_BYTES + 4).step_by(3) {
        let padding = vec![0; before];
        assert_eq!(
            scanned(&[&padding, &record(1, b"a"), &record(2, b"b")]),
            [(2, Stop::End)],
            "{before}"
        );
    }
}

#[test]
fn a_missing_record_ends_the_salvaged_events() {
    let found = scanned(&[&record(1, b"a"), &record(3, b"c")]);
    assert_eq!(found, [(1, Stop::Gap)]);
    assert_eq!(scanned(&[&record(2, b"b")]), [(0, Stop::Gap)]);
}

#[test]
fn two_different_events_at_one_position_are_both_rejected() {
    let pieces = [
        record(1, b"a"),
        record(2, b"b"),
        record(2, b"B"),
        record(3, b"c"),
    ];
    let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
    assert_eq!(scanned(&pieces), [(1, Stop::Contested)]);
}

#[test]
fn an_event_that_carries_another_as_its_payload_is_one_event() {
    let inner = record(2, b"forged");
    assert_eq!(scanned(&[&record(1, &inner)]), [(1, Stop::End)]);
}

#[test]
fn a_record_longer_than_the_file_is_harmless() {
    let mut cut = record(1, &[b'x'; 5000]);
    cut.truncate(100);
    assert_eq!(scanned(&[&cut]), []);
    let mut huge = record(1, b"a");
    huge[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(scanned(&[&huge, &record(1, b"a")]), [(1, Stop::End)]);
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
    let leftover = record(2, b"never committed");
    let room = bytes.windows(1000).rposition(|w| w.iter().all(|b| *b == 0));
    let at = room.unwrap() + 100;
    bytes[at..at + leftover.len()].copy_from_slice(&leftover);
    fs::write(path, bytes).unwrap();
}

#[tokio::test]
async fn the_tables_decide_which_of_two_events_was_committed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    contested(&path).await;
    let before = fs::read(&path).unwrap();
    assert!(!scan_files(&path).unwrap().contested().is_empty());

    let into = folder.path().join("new.redb");
    let report = salvage(&path, &into).unwrap();
    assert_eq!(report.assistants[0].events, 3);
    assert_eq!(report.assistants[0].stop, Stop::End);
    assert_eq!(fs::read(&path).unwrap(), before, "only read");
}

#[tokio::test]
async fn without_tables_a_contested_position_ends_the_salvaged_events() {
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
