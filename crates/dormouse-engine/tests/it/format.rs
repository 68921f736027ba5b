//! Events written by the first format are read by every later one.

use dormouse_contracts::{Seq, StoredEvent, Timestamp};
use dormouse_engine::{DecodeError, Event, State};
use serde_json::Value;

/// One event a line, as a life that met everything wrote them under schema 1.
const SCHEMA_1: &str = include_str!("../fixtures/events-1.jsonl");

fn stored(line: &str) -> StoredEvent {
    let fields: Value = serde_json::from_str(line).unwrap();
    StoredEvent {
        seq: Seq(fields["seq"].as_u64().unwrap()),
        at: Timestamp::from_micros(fields["at"].as_i64().unwrap()),
        kind: fields["kind"].as_str().unwrap().to_owned(),
        schema: u16::try_from(fields["schema"].as_u64().unwrap()).unwrap(),
        payload: fields["payload"].to_string().into_bytes(),
    }
}

#[test]
fn every_kind_of_event_of_schema_1_is_read_and_written_the_same() {
    let mut kinds = std::collections::BTreeSet::new();
    let mut state = State::default();
    for line in SCHEMA_1.lines() {
        let stored = stored(line);
        let event = Event::decode(&stored).unwrap();
        let again: Value =
            serde_json::from_slice(&event.encode(stored.at).unwrap().payload).unwrap();
        assert_eq!(
            again,
            serde_json::from_slice::<Value>(&stored.payload).unwrap()
        );
        kinds.insert(stored.kind.clone());
        state.apply(stored.seq, stored.at, event);
    }
    assert_eq!(kinds.len(), 12, "every kind is there: {kinds:?}");
    assert_eq!(state.remembered, 1);
    assert_eq!(
        (state.seq, state.stopped),
        (Seq(SCHEMA_1.lines().count() as u64), None)
    );
}

#[test]
fn an_event_of_a_newer_program_is_refused_by_its_place_and_kind() {
    let mut newer = stored(SCHEMA_1.lines().next().unwrap());
    newer.schema = 2;
    assert!(matches!(
        Event::decode(&newer),
        Err(DecodeError::NewerSchema {
            seq: Seq(1),
            found: 2,
            ..
        })
    ));
    newer.kind = "dreamt".to_owned();
    newer.schema = 1;
    let error = Event::decode(&newer).unwrap_err().to_string();
    assert!(
        error.contains("event 1") && error.contains("\"dreamt\""),
        "{error}"
    );
}
