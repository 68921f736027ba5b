//! Writes and reads one assistant's log for the suite.

use dormouse_contracts::{
    AppendErrorKind, AppendRequest, AssistantId, EventLog, NewEvent, Seq, Snapshot, StoredEvent,
    Timestamp,
};

/// One assistant's log.
pub(super) struct Stream<'a> {
    pub(super) log: &'a dyn EventLog,
    pub(super) assistant: AssistantId,
}

impl<'a> Stream<'a> {
    /// The log of the assistant with this key.
    pub(super) fn of(log: &'a dyn EventLog, key: &str) -> Self {
        Self {
            log,
            assistant: AssistantId::try_new(key).unwrap(),
        }
    }

    pub(super) fn request(&self, expected: u64, events: Vec<NewEvent>) -> AppendRequest {
        AppendRequest {
            assistant: self.assistant.clone(),
            expected: Seq(expected),
            events,
        }
    }

    /// Appends events, and returns the log's answer.
    pub(super) async fn append(
        &self,
        expected: u64,
        events: Vec<NewEvent>,
    ) -> Result<u64, AppendErrorKind> {
        let request = self.request(expected, events);
        let answer = self.log.append(request).await;
        answer.map(|seq| seq.0).map_err(|error| error.kind())
    }

    /// Appends events, and panics if that fails.
    pub(super) async fn write(&self, expected: u64, events: Vec<NewEvent>) {
        let last = expected + events.len() as u64;
        let answer = self.append(expected, events).await;
        assert_eq!(
            answer,
            Ok(last),
            "an append that fits is written, and the answer is the number of its last event"
        );
    }

    /// Reads one page.
    pub(super) async fn page(&self, after: u64, limit: usize) -> Vec<StoredEvent> {
        let page = self.log.read(&self.assistant, Seq(after), limit).await;
        let page = page.unwrap_or_else(|error| complain("reading", &error));
        assert!(page.len() <= limit, "a page has at most `limit` events");
        page
    }

    /// Reads everything after `after` in pages of at most `limit`, and checks that the sequence numbers have no gap.
    pub(super) async fn after(&self, mut after: u64, limit: usize) -> Vec<StoredEvent> {
        let mut events = Vec::new();
        loop {
            let page = self.page(after, limit).await;
            if page.is_empty() {
                return events;
            }
            for event in page {
                after += 1;
                assert_eq!(
                    event.seq,
                    Seq(after),
                    "events come in order and without a gap"
                );
                events.push(event);
            }
        }
    }

    /// Reads everything, in as few pages as possible.
    pub(super) async fn all(&self) -> Vec<StoredEvent> {
        self.after(0, usize::MAX).await
    }

    /// Checks that the log contains exactly these events.
    pub(super) async fn assert_holds(&self, events: &[NewEvent]) {
        let places = (1..).map(Seq);
        let expected: Vec<_> = places
            .zip(events)
            .map(|(seq, new)| stored(seq, new))
            .collect();
        // A failed comparison must not print all events, because payloads may be large.
        let found = self.all().await;
        assert_eq!(found.len(), expected.len(), "events of {}", self.assistant);
        for (found, expected) in found.iter().zip(&expected) {
            assert!(
                found == expected,
                "event {} of {} came back different from what was appended: {}",
                expected.seq,
                self.assistant,
                difference(found, expected),
            );
        }
    }

    pub(super) async fn save(&self, snapshot: Snapshot) {
        let saved = self.log.save_snapshot(&self.assistant, snapshot).await;
        saved.unwrap_or_else(|error| complain("saving a snapshot", &error));
    }

    pub(super) async fn load(&self, up_to: u64) -> Option<Snapshot> {
        let found = self.log.load_snapshot(&self.assistant, Seq(up_to)).await;
        found.unwrap_or_else(|error| complain("loading a snapshot", &error))
    }
}

/// A small event, identified by `number`.
pub(super) fn event(number: u64) -> NewEvent {
    NewEvent {
        at: Timestamp::from_micros(i64::try_from(number).unwrap()),
        kind: "conformance",
        schema: 1,
        payload: number.to_string().into_bytes(),
    }
}

/// Small events with these numbers.
pub(super) fn events(numbers: impl IntoIterator<Item = u64>) -> Vec<NewEvent> {
    numbers.into_iter().map(event).collect()
}

/// One mebibyte in which no block occurs twice, so that a test detects a swapped or repeated block.
pub(super) fn mebibyte(salt: u32) -> Vec<u8> {
    (0..1_u32 << 18)
        .flat_map(|number| (number.wrapping_mul(0x9e37_79b9) ^ salt).to_le_bytes())
        .collect()
}

fn stored(seq: Seq, event: &NewEvent) -> StoredEvent {
    StoredEvent {
        seq,
        at: event.at,
        kind: event.kind.to_owned(),
        schema: event.schema,
        payload: event.payload.clone(),
    }
}

fn difference(found: &StoredEvent, expected: &StoredEvent) -> &'static str {
    if found.at != expected.at {
        "its time"
    } else if found.kind != expected.kind {
        "its kind"
    } else if found.schema != expected.schema {
        "its schema"
    } else {
        "its payload"
    }
}

#[expect(
    clippy::panic,
    reason = "the suite reports a broken promise by a panic"
)]
fn complain<T>(doing: &str, error: &dyn std::error::Error) -> T {
    let cause = error.source().map(ToString::to_string);
    panic!("{doing} has to succeed: {error} ({cause:?})")
}
