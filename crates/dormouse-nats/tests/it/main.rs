//! The log through its public interface, on real servers.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stdout,
    reason = "the lints know tests from their attribute; these are also the functions tests share"
)]

mod conformance;
mod damage;
mod hosts;
mod kills;
mod proxy;
mod refusals;
mod server;
mod writers;

use std::time::Duration;

use dormouse_contracts::{
    Append, AppendError, AppendRequest, AssistantId, NewEvent, ReadError, ReadEvents, Seq,
    StoredEvent, Timestamp,
};
use dormouse_nats::{NatsFault, NatsLog};

/// Whether only a sample of what takes long is tested.
fn is_quick() -> bool {
    std::env::var_os("DORMOUSE_QUICK_TESTS").is_some()
}

/// How long a test waits for what may fail: a broken log must not look like a slow one.
const SHORT: Duration = Duration::from_secs(3);

fn assistant(name: &str) -> AssistantId {
    AssistantId::try_new(name).unwrap()
}

fn event(payload: impl Into<Vec<u8>>) -> NewEvent {
    NewEvent {
        at: Timestamp::from_micros(1_795_219_200_000_000),
        kind: "heard",
        schema: 1,
        payload: payload.into(),
    }
}

async fn append(
    log: &NatsLog,
    assistant: &AssistantId,
    expected: u64,
    payload: impl Into<Vec<u8>>,
) -> Result<Seq, AppendError> {
    log.append(AppendRequest {
        assistant: assistant.clone(),
        expected: Seq(expected),
        events: vec![event(payload)],
    })
    .await
}

/// The whole log of an assistant, page by page.
async fn read_all(log: &NatsLog, assistant: &AssistantId) -> Result<Vec<StoredEvent>, ReadError> {
    let mut all: Vec<StoredEvent> = Vec::new();
    loop {
        let after = all.last().map_or(Seq::ZERO, |event| event.seq);
        let page = log.read(assistant, after, 512).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// The cause of an error, as the log reports it.
fn fault(error: &dyn std::error::Error) -> &NatsFault {
    error.source().unwrap().downcast_ref().unwrap()
}
