use std::fs;

use dormouse_contracts::{AssistantId, NewEvent, Seq, Timestamp};

use super::*;

fn alice() -> AssistantId {
    AssistantId::try_new("alice").unwrap()
}

fn record(seq: u64, payload: &[u8]) -> Vec<u8> {
    let event = NewEvent {
        at: Timestamp::EPOCH,
        kind: "heard",
        schema: 1,
        payload: payload.to_vec(),
    };
    record::encode(&alice(), Seq(seq), &event)
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
fn records_are_found_wherever_they_lie_and_however_often() {
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
fn a_lost_record_ends_what_is_believed() {
    let found = scanned(&[&record(1, b"a"), &record(3, b"c")]);
    assert_eq!(found, [(1, Stop::Gap)]);
    assert_eq!(scanned(&[&record(2, b"b")]), [(0, Stop::Gap)]);
}

#[test]
fn where_two_different_events_claim_a_place_neither_is_believed() {
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
fn a_record_that_claims_more_than_there_is_does_no_harm() {
    let mut cut = record(1, &[b'x'; 5000]);
    cut.truncate(100);
    assert_eq!(scanned(&[&cut]), []);
    let mut huge = record(1, b"a");
    huge[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    assert_eq!(scanned(&[&huge, &record(1, b"a")]), [(1, Stop::End)]);
}
