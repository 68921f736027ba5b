//! Reading a log that another process writes, or that is read-only.

use std::{
    fs,
    sync::atomic::{AtomicU64, Ordering},
};

use dormouse_contracts::{ReadEvents, Seq};
use dormouse_store::{LogOpenError, LogView, RedbLog, write_ahead_file};

use crate::{append, assistant, copy_open_log, event, run};

#[test]
fn a_view_during_writes_shows_acknowledged_events_and_never_changes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let log = RedbLog::open(&path).unwrap();
    let alice = assistant("alice");
    for seen in 0..20 {
        let view = LogView::open(&path).unwrap();
        assert!(view.is_in_use());
        run(append(&log, &alice, seen, vec![event("tea")])).unwrap();
        let read = run(view.read(&alice, Seq::ZERO, 100)).unwrap();
        assert_eq!(read.len() as u64, seen);
        assert!(view.verify().unwrap().is_intact());
    }
    assert_eq!(
        LogView::open(&path).unwrap().assistants().unwrap(),
        [(alice, Seq(20))]
    );
}

#[test]
fn views_opened_during_many_appends_have_all_that_was_acknowledged_before() {
    const APPENDS: u64 = 2_500;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let log = RedbLog::open(&path).unwrap();
    let alice = assistant("alice");
    let acknowledged = AtomicU64::new(0);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for seq in 0..APPENDS {
                // Large enough that the write-ahead file is full several times.
                run(append(&log, &alice, seq, vec![event(vec![b'x'; 5_000])])).unwrap();
                acknowledged.store(seq + 1, Ordering::SeqCst);
            }
        });
        let mut views = 0;
        loop {
            let before = acknowledged.load(Ordering::SeqCst);
            let view = LogView::open(&path).unwrap();
            let ends = view.assistants().unwrap();
            let end = ends.first().map_or(0, |(_, end)| end.0);
            assert!(end >= before, "{end} of {before} events");
            assert!(view.verify().unwrap().is_intact());
            views += 1;
            if before == APPENDS {
                break;
            }
        }
        assert!(views > 2, "{views} views");
    });
}

#[test]
fn a_view_of_a_file_left_by_a_kill_neither_repairs_nor_locks_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let killed = folder.path().join("killed.redb");
    let alice = assistant("alice");
    let log = RedbLog::open(&path).unwrap();
    run(append(&log, &alice, 0, vec![event("tea")])).unwrap();
    run(append(&log, &alice, 1, vec![event("cake")])).unwrap();
    copy_open_log(&path, &killed);
    let files = || [&killed, &write_ahead_file(&killed)].map(|file| fs::read(file).unwrap());
    let before = files();
    let view = LogView::open(&killed).unwrap();
    assert!(!view.is_in_use());
    assert_eq!(run(view.read(&alice, Seq::ZERO, 100)).unwrap().len(), 2);
    assert!(files() == before);
    RedbLog::open_existing(&killed).unwrap();
    assert!(!write_ahead_file(&killed).exists());
}

#[test]
fn a_view_of_a_file_that_is_not_a_log_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let absent = LogView::open(&path).unwrap_err();
    assert!(matches!(absent, LogOpenError::Absent { .. }), "{absent:?}");
    fs::write(&path, "a letter\n".repeat(2_000)).unwrap();
    let foreign = LogView::open(&path).unwrap_err();
    assert!(
        matches!(foreign, LogOpenError::NotALog { .. }),
        "{foreign:?}"
    );
}
