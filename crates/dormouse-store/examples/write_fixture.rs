//! Writes a log of the current format, as `tests/fixtures/` keeps one for each format: `write_fixture FILE`. It is copied while
//! it is open, so that `FILE.wal` is needed, too.
//!
//! Run it once for a new format, before its first release, and never again for an old one: the point of a
//! fixture is that it was written by the program of that time.

use std::{fs, path::PathBuf};

use dormouse_contracts::{
    Append, AppendRequest, AssistantId, NewEvent, SaveSnapshot, Seq, Snapshot, Timestamp,
};
use dormouse_store::{RedbLog, write_ahead_file};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let file = std::env::args_os()
        .nth(1)
        .map(PathBuf::from)
        .ok_or("usage: write_fixture FILE")?;
    let folder = tempfile::tempdir()?;
    let open = folder.path().join("log.redb");
    let log = RedbLog::open(&open)?;
    // The first write of all reaches the file itself.
    let snapshot = Snapshot {
        seq: Seq(2),
        schema: 3,
        payload: b"state".to_vec(),
    };
    let alice = AssistantId::try_new("alice")?;
    log.save_snapshot(&alice, snapshot).await?;
    let bob = AssistantId::try_new("bob.2")?;
    let event = |micros, kind, schema, payload: &[u8]| NewEvent {
        at: Timestamp::from_micros(micros),
        kind,
        schema,
        payload: payload.to_vec(),
    };
    let written = [
        (&alice, 0, vec![event(0, "woke", 1, b"{}")]),
        (
            &alice,
            1,
            vec![
                event(
                    1_795_219_200_000_000,
                    "heard",
                    2,
                    "{\"words\":\"Grüß Gott\"}".as_bytes(),
                ),
                event(-1, "odd", u16::MAX, &[0xFE, b'd', b'e', 0xFF, 0]),
            ],
        ),
        (&bob, 0, vec![event(i64::MAX, "empty", 0, b"")]),
    ];
    for (assistant, expected, events) in written {
        log.append(AppendRequest {
            assistant: assistant.clone(),
            expected: Seq(expected),
            events,
        })
        .await?;
    }
    fs::copy(&open, &file)?;
    fs::copy(write_ahead_file(&open), write_ahead_file(&file))?;
    Ok(())
}
