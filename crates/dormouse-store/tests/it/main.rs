//! The log through its public interface.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "the lints know tests from their attribute; these are also the functions tests share"
)]

mod adopting;
mod conformance;
mod crash;
mod damage;
mod fixture;
mod group_commit;
mod model;
mod opening;
mod rewriting;
mod snapshots;
mod viewing;

use std::{fs, path::Path};

use dormouse_contracts::{
    Append, AppendError, AppendRequest, AssistantId, NewEvent, ReadError, ReadEvents, Seq,
    StoredEvent, Timestamp,
};
use dormouse_store::{RedbLog, write_ahead_file};

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
    log: &RedbLog,
    assistant: &AssistantId,
    expected: u64,
    events: Vec<NewEvent>,
) -> Result<Seq, AppendError> {
    log.append(AppendRequest {
        assistant: assistant.clone(),
        expected: Seq(expected),
        events,
    })
    .await
}

/// The whole log of an assistant, page by page.
async fn read_all(log: &RedbLog, assistant: &AssistantId) -> Result<Vec<StoredEvent>, ReadError> {
    let mut all: Vec<StoredEvent> = Vec::new();
    loop {
        let after = all.last().map_or(Seq::ZERO, |event| event.seq);
        let page = log.read(assistant, after, 7).await?;
        if page.is_empty() {
            return Ok(all);
        }
        all.extend(page);
    }
}

/// Copies the files of a log, as they are while it is open.
fn copy_open_log(from: &Path, to: &Path) {
    fs::copy(from, to).unwrap();
    fs::copy(write_ahead_file(from), write_ahead_file(to)).unwrap();
}

fn run<T>(work: impl Future<Output = T>) -> T {
    tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(work)
}
