//! Appended events are read in order, complete, and separately for each assistant.

use dormouse_contracts::{EventLog, NewEvent, Timestamp};

use super::stream::{Stream, event, events, mebibyte};

const ORDER: &str = "conformance-order";
const LARGE: &str = "conformance-large";

pub(super) async fn unwritten_logs_are_empty(log: &dyn EventLog) {
    for key in [ORDER, LARGE, "conformance-nobody"] {
        let stream = Stream::of(log, key);
        assert_eq!(stream.page(0, 10).await, [], "the log of {key} is new");
        assert_eq!(stream.page(7, 10).await, [], "the log of {key} is new");
        assert_eq!(stream.load(u64::MAX).await, None, "{key} has no snapshot");
    }
}

/// Events that a careless encoding would change: their times run backwards or are extreme, their payloads are empty or
/// are not text.
fn odd_events() -> Vec<NewEvent> {
    let odd = |micros, kind, schema, payload: &[u8]| NewEvent {
        at: Timestamp::from_micros(micros),
        kind,
        schema,
        payload: payload.to_vec(),
    };
    const LONGEST: &str = "a.kind-whose-name_is.exactly-64_bytes.long-and.not-one-byte.more";
    vec![
        odd(1_767_268_800_000_000, "perceived", 1, br#"{"text":"hi"}"#),
        odd(i64::MIN, LONGEST, u16::MAX, b""),
        odd(i64::MAX, "k", 0, &[0, 0xff, 0xfe, b'\n', 0]),
        odd(0, "perceived", 2, "\u{1b}[2J \u{202e} \u{1f439}".as_bytes()),
    ]
}

pub(super) async fn events_come_back_as_they_were_appended(log: &dyn EventLog) {
    let stream = Stream::of(log, ORDER);
    let mut events = odd_events();
    let last = events.split_off(3);
    stream.write(0, events).await;
    stream.write(3, last).await;
    events_are_as_they_were_appended(log).await;
}

pub(super) async fn events_are_as_they_were_appended(log: &dyn EventLog) {
    Stream::of(log, ORDER).assert_holds(&odd_events()).await;
}

pub(super) async fn pages_follow_each_other_without_a_gap(log: &dyn EventLog) {
    let stream = Stream::of(log, "conformance-pages");
    stream.write(0, events(1..=7)).await;
    for limit in [1, 2, 3, 7, 8, usize::MAX] {
        for after in 0..=7 {
            let found = stream.after(after, limit).await.len() as u64;
            assert_eq!(found, 7 - after, "after {after}, in pages of {limit}");
        }
    }
    assert_eq!(
        stream.page(0, 0).await,
        [],
        "a page of at most 0 events is empty"
    );
    for beyond in [8, 1 << 40, u64::MAX] {
        assert_eq!(
            stream.page(beyond, 3).await,
            [],
            "no event has a number after {beyond}"
        );
    }
}

pub(super) async fn many_events_fit_into_one_append(log: &dyn EventLog) {
    let stream = Stream::of(log, "conformance-many");
    stream.write(0, events(1..=1000)).await;
    stream.assert_holds(&events(1..=1000)).await;
}

fn large_event(salt: u32) -> NewEvent {
    NewEvent {
        payload: mebibyte(salt),
        ..event(u64::from(salt))
    }
}

pub(super) async fn large_payloads_come_back_whole(log: &dyn EventLog) {
    let stream = Stream::of(log, LARGE);
    let large = vec![large_event(1), event(0), large_event(2)];
    stream.write(0, large).await;
    large_payloads_are_whole(log).await;
}

pub(super) async fn large_payloads_are_whole(log: &dyn EventLog) {
    let large = [large_event(1), event(0), large_event(2)];
    Stream::of(log, LARGE).assert_holds(&large).await;
}

pub(super) async fn assistants_have_logs_of_their_own(log: &dyn EventLog) {
    // Keys with a common prefix, keys that differ only in case, and keys that sort around the separators of a store.
    let keys = [
        "conformance-apart",
        "conformance-apart-",
        "conformance-apart.1",
        "conformance-apart0",
        "conformance-APART",
        "conformance-apar",
    ];
    for (number, key) in (1..).zip(keys) {
        Stream::of(log, key).write(0, events([number])).await;
    }
    for (number, key) in (1..).zip(keys) {
        let stream = Stream::of(log, key);
        stream.write(1, events([number + 100])).await;
        stream.assert_holds(&events([number, number + 100])).await;
    }
}
