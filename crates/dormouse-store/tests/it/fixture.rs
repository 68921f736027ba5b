//! Files of each format still open, with the same content.

use std::{fs, path::Path};

use dormouse_contracts::{LoadSnapshot, Seq, Snapshot, StoredEvent, Timestamp};
use dormouse_store::{RedbLog, salvage};

use crate::{append, assistant, copy_open_log, event, read_all};

const FORMAT_1: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/format-1.redb");
const FORMAT_2: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures/format-2.redb");

fn stored(seq: u64, micros: i64, kind: &str, schema: u16, payload: &[u8]) -> StoredEvent {
    StoredEvent {
        seq: Seq(seq),
        at: Timestamp::from_micros(micros),
        kind: kind.to_owned(),
        schema,
        payload: payload.to_vec(),
    }
}

fn alice() -> Vec<StoredEvent> {
    let greeting = "{\"words\":\"Grüß Gott\"}".as_bytes();
    vec![
        stored(1, 0, "woke", 1, b"{}"),
        stored(2, 1_795_219_200_000_000, "heard", 2, greeting),
        stored(3, -1, "odd", u16::MAX, &[0xFE, b'd', b'e', 0xFF, 0]),
    ]
}

/// Both files have this content.
async fn check(path: &Path) {
    let log = RedbLog::open_existing(path).unwrap();
    assert_eq!(log.creation().program, "dormouse-store 0.1.0");
    assert_eq!(
        log.assistants().unwrap(),
        [(assistant("alice"), Seq(3)), (assistant("bob.2"), Seq(1))]
    );
    assert_eq!(read_all(&log, &assistant("alice")).await.unwrap(), alice());
    assert_eq!(
        read_all(&log, &assistant("bob.2")).await.unwrap(),
        [stored(1, i64::MAX, "empty", 0, b"")]
    );
    assert_eq!(
        log.load_snapshot(&assistant("alice"), Seq(9))
            .await
            .unwrap(),
        Some(Snapshot {
            seq: Seq(2),
            schema: 3,
            payload: b"state".to_vec()
        })
    );
    assert!(log.verify().unwrap().is_intact());
    let end = append(&log, &assistant("alice"), 3, vec![event("and on")]).await;
    assert_eq!(end.unwrap(), Seq(4));
}

#[tokio::test]
async fn a_log_written_by_the_first_format_opens_and_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    fs::copy(FORMAT_1, &path).unwrap();
    check(&path).await;
}

/// Written with `cargo run -p dormouse-store --example write_fixture`.
#[tokio::test]
async fn a_log_of_the_second_format_that_was_not_closed_opens_and_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    copy_open_log(FORMAT_2.as_ref(), &path);
    check(&path).await;
    let names = fs::read_dir(folder.path()).unwrap();
    assert_eq!(names.count(), 1, "it is complete by itself now");
}

#[tokio::test]
async fn the_records_of_both_formats_are_found_without_their_tables() {
    for fixture in [FORMAT_1, FORMAT_2] {
        let folder = tempfile::tempdir().unwrap();
        let into = folder.path().join("log.redb");
        salvage(fixture.as_ref(), &into).unwrap();
        let log = RedbLog::open_existing(&into).unwrap();
        assert_eq!(read_all(&log, &assistant("alice")).await.unwrap(), alice());
    }
}
