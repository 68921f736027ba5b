//! A byte changed anywhere, a file cut anywhere: an error or the truth, and nothing else.

use std::{fs, path::Path};

use dormouse_contracts::{AssistantId, ReadErrorKind, ReadEvents, Seq, StoredEvent};
use dormouse_store::{RedbLog, write_ahead_file};

use crate::{append, assistant, copy_open_log, event, read_all, run};

struct Life {
    bytes: Vec<u8>,
    /// The write-ahead file, if the log was not closed.
    ahead: Option<Vec<u8>>,
    logs: Vec<(AssistantId, Vec<StoredEvent>)>,
}

/// How the process that wrote the file ended.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    Closed,
    Killed,
}

/// A file with some history, some of it overwritten pages.
fn life(path: &Path, end: End) -> Life {
    let log = RedbLog::open(path).unwrap();
    let ids = [assistant("alice"), assistant("bob")];
    run(async {
        for seq in 0..30 {
            let payload = format!("{{\"line\":{seq},\"pad\":\"{}\"}}", "x".repeat(200));
            append(&log, &ids[0], seq, vec![event(payload)])
                .await
                .unwrap();
        }
        append(&log, &ids[1], 0, vec![event("a"), event("b")])
            .await
            .unwrap();
    });
    let logs = run(async {
        let mut logs = Vec::new();
        for id in ids {
            let events = read_all(&log, &id).await.unwrap();
            logs.push((id, events));
        }
        logs
    });
    if end == End::Closed {
        drop(log);
        let bytes = fs::read(path).unwrap();
        let ahead = None;
        return Life { bytes, ahead, logs };
    }
    // What a killed process leaves is what another one sees while it lives.
    let bytes = fs::read(path).unwrap();
    let ahead = Some(fs::read(write_ahead_file(path)).unwrap());
    drop(log);
    Life { bytes, ahead, logs }
}

impl Life {
    /// Puts its files in place, with these bytes of the log.
    fn write(&self, path: &Path, bytes: &[u8]) {
        fs::write(path, bytes).unwrap();
        if let Some(ahead) = &self.ahead {
            fs::write(write_ahead_file(path), ahead).unwrap();
        }
    }
}

/// Opens a damaged file and asserts that every answer is an error or the truth.
fn examine(path: &Path, life: &Life, what: &str) -> bool {
    let Ok(log) = RedbLog::open(path) else {
        assert!(fs::metadata(path).unwrap().len() > 0, "{what}: reset");
        return false;
    };
    let mut whole = true;
    for (id, expected) in &life.logs {
        match run(read_all(&log, id)) {
            Ok(events) => assert_eq!(&events, expected, "{what}: {id}"),
            Err(_) => whole = false,
        }
    }
    match log.verify() {
        Ok(report) if report.is_intact() => {
            let intact: Vec<_> = report.assistants.iter().map(|r| r.intact).collect();
            assert_eq!(intact, [30, 2], "{what}");
        }
        Ok(_) | Err(_) => whole = false,
    }
    whole
}

/// How many places in used pages are tried; `DORMOUSE_STORE_PLACES=all` tries every byte, which takes many minutes.
const PLACES: usize = 150;

/// Positions worth trying: all of the header, and everywhere in pages that hold something.
fn positions(bytes: &[u8]) -> Vec<usize> {
    let mut positions: Vec<usize> = (0..320).collect();
    let used: Vec<usize> = (320..bytes.len()).filter(|at| bytes[*at] != 0).collect();
    let stride = match std::env::var("DORMOUSE_STORE_PLACES") {
        Ok(_) => 1,
        Err(_) => used.len() / PLACES + 1,
    };
    positions.extend(used.into_iter().step_by(stride));
    positions.extend((320..bytes.len()).step_by(bytes.len() / 50 + 1));
    positions
}

#[test]
fn a_changed_byte_gives_an_error_or_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let life = life(&path, End::Closed);
    let mut refused = 0;
    for (index, at) in positions(&life.bytes).into_iter().enumerate() {
        let flip = [0xFF, 0x01, 0x80, 0x10][index % 4];
        let mut bytes = life.bytes.clone();
        bytes[at] ^= flip;
        fs::write(&path, &bytes).unwrap();
        if !examine(&path, &life, &format!("byte {at} ^ {flip:#x}")) {
            refused += 1;
        }
    }
    assert!(refused > 60, "only {refused} changes were noticed");
}

#[test]
fn every_bit_of_the_flags_gives_an_error_or_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let life = life(&path, End::Closed);
    for flip in (1..=7).chain([8, 16, 32, 64, 128, 255]) {
        let mut bytes = life.bytes.clone();
        bytes[9] ^= flip;
        fs::write(&path, &bytes).unwrap();
        examine(&path, &life, &format!("flags ^ {flip:#x}"));
    }
}

#[test]
fn a_cut_file_gives_an_error_or_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let life = life(&path, End::Closed);
    let length = life.bytes.len();
    let mut lengths: Vec<usize> = (0..40).chain([319, 320, 321, 4095, 4096, 8192]).collect();
    lengths.extend((0..length).step_by(length / 60 + 1));
    lengths.extend((length - 3)..length);
    for cut in lengths {
        fs::write(&path, &life.bytes[..cut]).unwrap();
        assert!(
            RedbLog::open(&path).is_err(),
            "cut to {cut} bytes of {length}, and nobody noticed"
        );
        assert_eq!(fs::read(&path).unwrap().len(), cut, "the file was changed");
    }
}

#[test]
fn a_changed_byte_in_a_file_left_by_a_killed_process_gives_an_error_or_the_truth() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let life = life(&path, End::Killed);
    life.write(&path, &life.bytes);
    assert!(examine(&path, &life, "unchanged"), "the file must open");
    for (index, at) in positions(&life.bytes).into_iter().enumerate() {
        // The one bit that says which of two commits is the current one: see `docs/format.md`, "What cannot be noticed".
        let flip = if at == 9 {
            0xFE
        } else {
            [0xFF, 0x01, 0x80, 0x10][index % 4]
        };
        let mut bytes = life.bytes.clone();
        bytes[at] ^= flip;
        life.write(&path, &bytes);
        examine(&path, &life, &format!("byte {at} ^ {flip:#x}"));
    }
}

#[test]
fn a_large_log_opens_after_a_kill_and_names_the_damaged_event_when_it_is_read() {
    const EVENT_BYTES: usize = 14 * 1024 * 1024;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let log = RedbLog::open(&path).unwrap();
    let id = assistant("alice");
    for seq in 0..6_u64 {
        let letter = b'a' + u8::try_from(seq).unwrap();
        run(append(
            &log,
            &id,
            seq,
            vec![event(vec![letter; EVENT_BYTES])],
        ))
        .unwrap();
    }
    let copy = folder.path().join("left-by-a-kill.redb");
    copy_open_log(&path, &copy);
    let mut bytes = fs::read(&copy).unwrap();
    drop(log);
    let page = bytes
        .chunks(4096)
        .position(|page| page.iter().all(|byte| *byte == b'd'));
    let middle = page.unwrap() * 4096;
    bytes[middle] ^= 0x20;
    fs::write(&copy, &bytes).unwrap();

    let log = RedbLog::open_existing(&copy).unwrap();
    assert_eq!(
        run(log.read(&id, Seq::ZERO, 3)).unwrap().len(),
        2,
        "a page is bounded in bytes"
    );
    assert_eq!(
        run(log.read(&id, Seq(2), 1)).unwrap()[0].payload,
        vec![b'c'; EVENT_BYTES]
    );
    let error = run(log.read(&id, Seq(3), 1)).unwrap_err();
    assert_eq!(error.kind(), ReadErrorKind::Corrupt { at: Seq(4) });
    assert_eq!(run(log.read(&id, Seq(4), 1)).unwrap()[0].seq, Seq(5));
    assert_eq!(log.verify().unwrap().assistants[0].intact, 3);
    assert_eq!(
        run(append(&log, &id, 6, vec![event("on")])).unwrap(),
        Seq(7)
    );
}
