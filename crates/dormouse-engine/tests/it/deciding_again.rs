//! A life can be replayed: its log has everything that its decisions read.

use std::sync::Arc;

use dormouse_contracts::{Append, AppendRequest, ModelErrorKind, Seq, StoredEvent, TokenCounter};
use dormouse_engine::{
    DecideAgainError, DecidedAgain, DecidedInstead, Event, FirstDifference, decide_again,
};
use dormouse_testing::{CountTokens, MemoryLog, Perceive, ScriptedTurn};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::home::{Home, key};

fn counter() -> Arc<dyn TokenCounter> {
    Arc::new(CountTokens)
}

async fn again(log: &MemoryLog) -> Result<DecidedAgain, DecideAgainError> {
    decide_again(log, &key(), Seq(u64::MAX), |_| counter()).await
}

/// A log with these events.
async fn log_of(events: Vec<StoredEvent>) -> MemoryLog {
    let log = MemoryLog::new();
    let events = events
        .iter()
        .map(|stored| Event::decode(stored).unwrap().encode(stored.at).unwrap());
    let request = AppendRequest {
        assistant: key(),
        expected: Seq(0),
        events: events.collect(),
    };
    log.append(request).await.unwrap();
    log
}

/// The log of a life with a memory, a look, an act, an error and an answer.
async fn lived() -> MemoryLog {
    let home = Home::new([
        ScriptedTurn::call("store_memory", json!({"text": "Alice prefers tea"})),
        ScriptedTurn::call("inspect_location", json!({})),
        ScriptedTurn::call("move", json!({"exit": "north"})),
        ScriptedTurn::Fail(ModelErrorKind::Refused),
        ScriptedTurn::call("say", json!({"message": "hi"})),
        ScriptedTurn::call("sing", json!({})),
        ScriptedTurn::call("noop", json!({})),
    ]);
    home.world
        .answer("inspect_location", json!({"room": "Attic"}));
    for (number, words) in (1..).zip(["I prefer tea", "and now?"]) {
        home.hear(Perceive::whisper("Alice", words).number(number).build())
            .await;
    }
    home.log
}

/// Another value of the same type.
fn altered(value: &Value) -> Value {
    match value {
        Value::Null => json!(1),
        Value::Bool(it) => json!(!it),
        Value::Number(it) => it
            .as_u64()
            .map_or_else(|| json!(it.as_f64().unwrap() / 2.0), |it| json!(it + 1)),
        Value::String(it) => json!(format!("{it}x")),
        Value::Array(_) | Value::Object(_) => value.clone(),
    }
}

/// The fields that decisions produce, by kind of event. They never come from outside.
const DECIDED: [(&str, &str); 13] = [
    ("perceived", "/tokens"),
    ("perceived", "/trust"),
    ("tick_started", "/tick"),
    ("tick_started", "/trigger"),
    ("replied", "/calls/0/id"),
    ("replied", "/tokens"),
    ("replied", "/prompt_tokens"),
    ("replied", "/prompt_hash"),
    ("remembered", "/trust"),
    ("tool_answered", "/tokens"),
    ("effect_intended", "/key"),
    ("effect_settled", "/tokens"),
    ("configured", "/preamble_tokens"),
];

#[tokio::test(start_paused = true)]
async fn an_event_that_is_altered_in_one_field_is_the_first_difference() {
    let log = lived().await;
    let events = log.events(&key());
    let all = again(&log).await.unwrap();
    assert_eq!(all.events, events.len() as u64);
    for (kind, field) in DECIDED {
        let mut events = events.clone();
        let found = events.iter_mut().find(|event| {
            let value: Value = serde_json::from_slice(&event.payload).unwrap();
            event.kind == kind && value.pointer(field).is_some()
        });
        let event = found.unwrap_or_else(|| panic!("{kind}{field} is in this life"));
        let mut value: Value = serde_json::from_slice(&event.payload).unwrap();
        let place = value.pointer_mut(field).unwrap();
        *place = altered(place);
        // The fields keep the order of a typed event.
        event.payload = value.to_string().into_bytes();
        let decoded = Event::decode(event).unwrap();
        event.payload = decoded.encode(event.at).unwrap().payload;
        let (seq, at) = (event.seq, event.at);
        let error = again(&log_of(events).await).await.unwrap_err();
        let DecideAgainError::Different(difference) = error else {
            panic!("{error:?}");
        };
        let FirstDifference {
            decided, recorded, ..
        } = *difference.clone();
        assert_eq!(
            (difference.seq, difference.at, &recorded),
            (seq, at, &decoded),
            "{kind}{field}"
        );
        let DecidedInstead::Event(decided, _) = decided else {
            panic!("{decided:?}")
        };
        assert_eq!(decided.kind(), kind);
        assert!(!difference.is_other_program());
    }
}

#[tokio::test(start_paused = true)]
async fn an_older_log_with_hashes_of_whole_requests_is_decided_again() {
    let home = Home::new([
        ScriptedTurn::call("inspect_location", json!({})),
        ScriptedTurn::call("say", json!({"message": "hi"})),
    ]);
    home.world
        .answer("inspect_location", json!({"room": "Attic"}));
    home.hear(Perceive::whisper("Alice", "where are you?").build())
        .await;
    let requests = home.model.requests();
    let mut requests = requests.iter();
    let mut events = home.log.events(&key());
    for stored in &mut events {
        if let Event::Replied(mut replied) = Event::decode(stored).unwrap() {
            assert!(replied.prompt_hash.starts_with("2-"));
            let json = serde_json::to_vec(requests.next().unwrap()).unwrap();
            let hash: Vec<_> = Sha256::digest(json)
                .iter()
                .map(|it| format!("{it:02x}"))
                .collect();
            replied.prompt_hash = hash[..8].concat();
            let older = Event::Replied(replied).encode(stored.at).unwrap();
            stored.payload = older.payload;
        }
    }
    assert!(requests.next().is_none());
    let all = again(&log_of(events.clone()).await).await.unwrap();
    assert_eq!(all.events, events.len() as u64);
}
