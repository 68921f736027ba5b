//! A whole life as one file: every event of its log, and how to check that all of them are there. `docs/archive-format.md` describes
//! the file.
//!
//! The file holds what the log holds and nothing else: memory, profiles, journal and goals follow from the log. Keys of models,
//! tokens of the API and the settings of the operator's file are in no log, so they do not travel.

mod export;
mod import;

pub use export::{LifeExport, LifeExportError};
pub use import::{ImportedLife, LifeImportError, LifeWish, import};

use std::borrow::Cow;

use dormouse_contracts::{AssistantId, EntityId, Seq, StoredEvent, Timestamp};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

/// The newest format that this program reads, and the one that it writes.
const FORMAT: u32 = 1;

/// The first field of the first line.
const KIND: &str = "life";

/// The longest line but the events' own data, in bytes.
const LINE: usize = 1_024;

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    /// What the file is: always [`KIND`].
    dormouse: String,
    format: u32,
    /// The program that wrote it.
    program: String,
    /// The assistant whose life it is.
    key: AssistantId,
    /// Its character.
    character: EntityId,
    exported_at: Timestamp,
    /// How many events follow.
    events: u64,
}

/// What a reader must know of a header in any format.
#[derive(Debug, Deserialize)]
struct AnyHeader {
    dormouse: String,
    format: u32,
}

/// An event without its data, which follow in the same line, byte for byte as they are in the log.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EventHead<'a> {
    seq: Seq,
    at: Timestamp,
    #[serde(borrow)]
    kind: Cow<'a, str>,
    schema: u16,
}

/// The last line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Trailer {
    /// How many events the file has.
    end: u64,
    /// The hash of the state that the events fold to.
    state: String,
    /// The version of that state. Hashes of other versions cannot be compared.
    state_schema: u16,
    /// The SHA-256 of everything in the file before this field; empty until it is known.
    sha256: String,
}

/// What is between the other fields of the last line and its checksum.
const CHECKSUM: &str = ",\"sha256\":";

/// The last line.
fn trailer_line(mut trailer: Trailer, mut digest: Sha256) -> Result<Vec<u8>, serde_json::Error> {
    let line = json_line(&trailer)?;
    digest.update(before_checksum(&line));
    trailer.sha256 = hexadecimal(digest);
    json_line(&trailer)
}

/// The part of a last line that its checksum covers.
fn before_checksum(line: &[u8]) -> &[u8] {
    let mut places = line.windows(CHECKSUM.len());
    let place = places.rposition(|part| part == CHECKSUM.as_bytes());
    line.get(..place.unwrap_or(line.len())).unwrap_or(line)
}

/// What is between the head of an event and its data.
const DATA: &str = ",\"data\":";

/// The line of an event.
fn event_line(stored: &StoredEvent) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(&EventHead {
        seq: stored.seq,
        at: stored.at,
        kind: Cow::from(&stored.kind),
        schema: stored.schema,
    })?;
    line.pop();
    line.extend_from_slice(DATA.as_bytes());
    line.extend_from_slice(&stored.payload);
    line.extend_from_slice(b"}\n");
    Ok(line)
}

/// The event in this line; `None` if there is none.
fn event_in(line: &str) -> Option<StoredEvent> {
    // No kind contains this text, so it is the first one.
    let (head, data) = line.split_once(DATA)?;
    let payload = data.strip_suffix('}')?.as_bytes().to_vec();
    let head = format!("{head}}}");
    let EventHead {
        seq,
        at,
        kind,
        schema,
    } = serde_json::from_str(&head).ok()?;
    Some(StoredEvent {
        seq,
        at,
        kind: kind.into_owned(),
        schema,
        payload,
    })
}

/// A line as JSON.
fn json_line(line: &impl Serialize) -> Result<Vec<u8>, serde_json::Error> {
    let mut line = serde_json::to_vec(line)?;
    line.push(b'\n');
    Ok(line)
}

fn hexadecimal(digest: Sha256) -> String {
    let digest = digest.finalize();
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_is_read_as_it_was_written() {
        let stored = StoredEvent {
            seq: Seq(7),
            at: Timestamp::from_micros(-3),
            kind: "remembered".to_owned(),
            schema: 2,
            payload: br#"{"text":",\"data\":}","data":{"a":[1]}}"#.to_vec(),
        };
        let line = event_line(&stored).unwrap();
        let line = std::str::from_utf8(&line).unwrap();
        assert_eq!(event_in(line.trim_end()), Some(stored));
        let parsed: serde_json::Value = serde_json::from_str(line).unwrap();
        assert_eq!(parsed["data"]["data"]["a"][0], 1);
        for broken in ["", "{}", "{\"seq\":1,\"data\":{}}", &line[..30]] {
            assert_eq!(event_in(broken), None, "{broken}");
        }
    }
}
