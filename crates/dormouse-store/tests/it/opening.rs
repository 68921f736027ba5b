//! Files that are not a log.

use std::{fs, path::Path};

use dormouse_store::{LogOpenError, Readable, RedbLog, SalvageError, salvage};

use crate::{append, assistant, event, read_all, run};

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
