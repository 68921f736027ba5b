//! Files that are not a log.

use std::{
    fs,
    path::{Path, PathBuf},
};

use dormouse_contracts::Timestamp;
use dormouse_store::{
    LogOpenError, LogView, Readable, RedbLog, SalvageError, salvage, write_ahead_file,
};

use crate::{append, assistant, copy_open_log, event, read_all, run};

fn message(error: &LogOpenError) -> String {
    error.to_string()
}

#[test]
fn a_missing_log_is_created_only_on_request() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let error = RedbLog::open_existing(&path).unwrap_err();
    assert!(matches!(error, LogOpenError::Absent { .. }), "{error:?}");
    assert!(!path.exists());

    let log = RedbLog::open(&path).unwrap();
    assert!(log.creation().program.starts_with("dormouse-store "));
    assert!(log.creation().at.as_micros() > 0);
    let names: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name())
        .collect();
    assert_eq!(names, ["log.redb"], "no temporary file stays behind");
}

#[test]
fn an_empty_file_is_refused_and_stays_empty() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    fs::write(&path, b"").unwrap();
    let error = RedbLog::open(&path).unwrap_err();
    assert!(matches!(error, LogOpenError::Empty { .. }), "{error:?}");
    assert!(message(&error).contains("log.redb") && message(&error).contains("backup"));
    assert_eq!(fs::read(&path).unwrap(), b"");
}

#[test]
fn a_file_of_another_sort_is_refused_and_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    for content in [&b"#!/bin/sh\necho hello\n"[..], &[0; 10_000], b"r"] {
        fs::write(&path, content).unwrap();
        let error = RedbLog::open(&path).unwrap_err();
        match content {
            b"r" => assert!(matches!(error, LogOpenError::Truncated { .. }), "{error:?}"),
            _ => assert!(matches!(error, LogOpenError::NotALog { .. }), "{error:?}"),
        }
        assert_eq!(fs::read(&path).unwrap(), content);
    }
    let error = RedbLog::open(folder.path()).unwrap_err();
    assert!(matches!(error, LogOpenError::NotALog { .. }), "{error:?}");
}

#[test]
fn a_missing_folder_is_an_error_with_its_cause() {
    let folder = tempfile::tempdir().unwrap();
    let error = RedbLog::open(&folder.path().join("no/such/log.redb")).unwrap_err();
    assert!(matches!(error, LogOpenError::Io { .. }), "{error:?}");
    assert!(std::error::Error::source(&error).is_some());
}

#[test]
fn a_second_handle_in_the_same_process_is_refused_and_the_first_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let log = RedbLog::open(&path).unwrap();
    let error = RedbLog::open(&path).unwrap_err();
    assert!(matches!(error, LogOpenError::InUse { .. }), "{error:?}");
    assert!(message(&error).contains("in use by another process"));
    run(append(&log, &assistant("alice"), 0, vec![event("on")])).unwrap();
    drop(log);
    RedbLog::open_existing(&path).unwrap();
}

fn filled(path: &Path) {
    let log = RedbLog::open(path).unwrap();
    run(async {
        let (alice, bob) = (assistant("alice"), assistant("bob"));
        for seq in 0..40 {
            let payload =
                format!("{{\"line\":{seq},\"words\":\"The kettle is in the blue box.\"}}");
            append(&log, &alice, seq, vec![event(payload)])
                .await
                .unwrap();
        }
        append(&log, &bob, 0, vec![event("hello")]).await.unwrap();
    });
}

#[test]
fn a_truncated_log_names_its_readable_part_and_salvage_copies_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    filled(&path);
    let whole = fs::read(&path).unwrap();
    let mut most = 0;
    for pages in 1..whole.len() / 4096 {
        let cut = &whole[..whole.len() - pages * 4096];
        fs::write(&path, cut).unwrap();
        let error = RedbLog::open(&path).unwrap_err();
        assert!(matches!(error, LogOpenError::Truncated { .. }), "{error:?}");
        let events: u64 = error.readable().iter().map(|log| log.events).sum();
        most = most.max(events);

        let into = folder.path().join(format!("salvaged-{pages}.redb"));
        if events == 0 {
            assert!(message(&error).contains("No event can be read"), "{error}");
            assert!(salvage(&path, &into).is_err());
            continue;
        }
        assert!(message(&error).contains("dormouse log salvage"), "{error}");
        let report = salvage(&path, &into).unwrap();
        assert_eq!(report.assistants, error.readable());
        assert_salvaged(&into, &report.assistants);
        assert_eq!(
            fs::read(&path).unwrap(),
            cut,
            "the damaged file is only read"
        );

        let again = salvage(&path, &into).unwrap_err();
        assert!(matches!(again, SalvageError::Exists { .. }), "{again:?}");
    }
    assert!(most >= 20, "at best {most} events were readable");
}

fn assert_salvaged(path: &Path, expected: &[Readable]) {
    let log = RedbLog::open_existing(path).unwrap();
    for readable in expected {
        let events = run(read_all(&log, &readable.assistant)).unwrap();
        assert_eq!(events.len() as u64, readable.events);
        for (line, event) in events.iter().enumerate() {
            let text = String::from_utf8(event.payload.clone()).unwrap();
            assert!(text == "hello" || text.contains(&format!("\"line\":{line},")));
        }
    }
    assert!(log.verify().unwrap().is_intact());
}

#[test]
fn salvage_of_a_file_without_events_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let (path, into) = (folder.path().join("x"), folder.path().join("y"));
    fs::write(&path, vec![0xFE; 3_000_000]).unwrap();
    let error = salvage(&path, &into).unwrap_err();
    assert!(matches!(error, SalvageError::Nothing { .. }), "{error:?}");
    assert!(!into.exists());
}

#[cfg(unix)]
#[test]
fn a_new_log_is_read_by_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    RedbLog::open(&path).unwrap().close();
    let mode = std::fs::metadata(path).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

/// A log that was not closed: the files as they are while it is open. All events but the first are in the write-ahead file.
fn not_closed(folder: &Path, events: u64) -> PathBuf {
    let open = folder.join("open.redb");
    let log = RedbLog::open(&open).unwrap();
    for seq in 0..events {
        let payload = format!("{{\"line\":{seq},\"words\":\"tea\"}}");
        run(append(&log, &assistant("alice"), seq, vec![event(payload)])).unwrap();
    }
    let path = folder.join("log.redb");
    copy_open_log(&open, &path);
    path
}

#[test]
fn without_its_write_ahead_file_a_log_that_was_not_closed_is_an_error_and_salvage_copies_the_rest()
{
    let folder = tempfile::tempdir().unwrap();
    let path = not_closed(folder.path(), 5);
    let ahead = write_ahead_file(&path);
    let kept = fs::read(&ahead).unwrap();
    let before = fs::read(&path).unwrap();
    fs::remove_file(&ahead).unwrap();
    for error in [
        RedbLog::open(&path).unwrap_err(),
        RedbLog::open_existing(&path).unwrap_err(),
        LogView::open(&path).unwrap_err(),
    ] {
        assert!(
            matches!(error, LogOpenError::WriteAhead { .. }),
            "{error:?}"
        );
        for part in ["log.redb.wal", "alice: 1 events", "dormouse log salvage"] {
            assert!(message(&error).contains(part), "{part}: {error}");
        }
    }
    assert_eq!(fs::read(&path).unwrap(), before);

    // Both copies of the second append are damaged.
    let mut damaged = kept.clone();
    for copy in [2, 3] {
        damaged[copy * 4096 + 60] ^= 1;
    }
    fs::write(&ahead, &damaged).unwrap();
    let error = RedbLog::open(&path).unwrap_err();
    let source = std::error::Error::source(&error).unwrap().to_string();
    assert!(source.contains("append 2 in the write-ahead"), "{source}");
    let into = folder.path().join("new.redb");
    let report = salvage(&path, &into).unwrap();
    assert_eq!(report.assistants[0].events, 2);
    assert_salvaged(&into, &report.assistants);
    assert_eq!(fs::read(&ahead).unwrap(), damaged, "it is only read");

    // One copy is enough.
    damaged[2 * 4096..3 * 4096].copy_from_slice(&kept[2 * 4096..3 * 4096]);
    fs::write(&ahead, &damaged).unwrap();
    let log = RedbLog::open(&path).unwrap();
    assert_eq!(run(read_all(&log, &assistant("alice"))).unwrap().len(), 5);
}

#[test]
fn the_write_ahead_file_of_another_life_is_kept_and_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = not_closed(folder.path(), 3);
    let killed = fs::read(&path).unwrap();
    // A longer life with an assistant of the same key, closed, in the place of the one that was killed.
    fs::remove_file(&path).unwrap();
    let other = folder.path().join("other.redb");
    let log = RedbLog::open(&other).unwrap();
    for seq in 0..9 {
        let mut said = event("coffee");
        said.at = Timestamp::from_micros(1);
        run(append(&log, &assistant("alice"), seq, vec![said])).unwrap();
    }
    log.close();
    fs::rename(&other, &path).unwrap();
    let error = RedbLog::open(&path).unwrap_err();
    assert!(
        matches!(error, LogOpenError::WriteAhead { .. }),
        "{error:?}"
    );

    fs::write(&path, killed).unwrap();
    let log = RedbLog::open(&path).unwrap();
    assert_eq!(run(read_all(&log, &assistant("alice"))).unwrap().len(), 3);
}

#[test]
fn salvage_finds_events_of_the_write_ahead_file_even_if_the_log_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = not_closed(folder.path(), 30);
    let whole = fs::read(&path).unwrap();
    fs::write(&path, &whole[..whole.len() - 4096]).unwrap();
    let error = RedbLog::open(&path).unwrap_err();
    assert!(matches!(error, LogOpenError::Truncated { .. }), "{error:?}");
    let into = folder.path().join("new.redb");
    let report = salvage(&path, &into).unwrap();
    assert_eq!(report.assistants[0].events, 30);
    assert_salvaged(&into, &report.assistants);
}

#[test]
fn where_only_a_write_ahead_file_is_left_no_log_is_created() {
    let folder = tempfile::tempdir().unwrap();
    let path = not_closed(folder.path(), 3);
    fs::remove_file(&path).unwrap();
    let error = RedbLog::open(&path).unwrap_err();
    assert!(
        matches!(error, LogOpenError::WriteAhead { .. }),
        "{error:?}"
    );
    assert!(!path.exists());
    fs::remove_file(write_ahead_file(&path)).unwrap();
    RedbLog::open(&path).unwrap();
}

#[test]
fn copies_of_an_open_log_are_complete_by_themselves() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let log = RedbLog::open(&path).unwrap();
    let alice = assistant("alice");
    for seq in 0..5 {
        run(append(&log, &alice, seq, vec![event("tea")])).unwrap();
    }
    let copy = folder.path().join("copy.redb");
    log.moment().unwrap().write(&copy).unwrap();
    assert!(!write_ahead_file(&copy).exists());
    let copied = RedbLog::open_existing(&copy).unwrap();
    assert_eq!(*copied.creation(), *log.creation());
    assert_eq!(
        run(read_all(&copied, &alice)).unwrap(),
        run(read_all(&log, &alice)).unwrap()
    );
    assert_eq!(
        run(append(&copied, &alice, 5, vec![event("on")]))
            .unwrap()
            .0,
        6
    );
}

#[cfg(unix)]
#[test]
fn a_log_that_is_a_link_has_its_write_ahead_file_next_to_the_real_one() {
    let [real, linking] = [(); 2].map(|()| tempfile::tempdir().unwrap());
    let path = real.path().join("log.redb");
    RedbLog::open(&path).unwrap().close();
    let link = linking.path().join("life.redb");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    let log = RedbLog::open(&link).unwrap();
    run(append(&log, &assistant("alice"), 0, vec![event("tea")])).unwrap();
    assert!(write_ahead_file(&path).ends_with("log.redb.wal"));
    assert!(write_ahead_file(&path).exists());
    assert_eq!(fs::read_dir(linking.path()).unwrap().count(), 1);
}

#[test]
fn a_log_that_replaced_an_open_one_keeps_its_own_write_ahead_file() {
    let folder = tempfile::tempdir().unwrap();
    let [path, other] = ["log.redb", "other.redb"].map(|name| folder.path().join(name));
    let alice = assistant("alice");
    let old = RedbLog::open(&path).unwrap();
    for seq in 0..2 {
        run(append(&old, &alice, seq, vec![event("old")])).unwrap();
    }
    old.moment().unwrap().write(&other).unwrap();
    fs::rename(&other, &path).unwrap();
    // What the old one has left is not needed.
    let new = RedbLog::open_existing(&path).unwrap();
    for seq in 2..4 {
        run(append(&new, &alice, seq, vec![event("new")])).unwrap();
    }
    drop(old);
    let copy = folder.path().join("killed.redb");
    copy_open_log(&path, &copy);
    let killed = RedbLog::open_existing(&copy).unwrap();
    assert_eq!(run(read_all(&killed, &alice)).unwrap().len(), 4);
}
