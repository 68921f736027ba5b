//! Reading a log that another process writes, or that is read-only.

use std::fs;

use dormouse_contracts::{ReadEvents, Seq};
use dormouse_store::{LogOpenError, LogView, RedbLog};

use crate::{append, assistant, event, run};

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
fn a_view_of_a_file_left_by_a_kill_neither_repairs_nor_locks_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log.redb");
    let killed = folder.path().join("killed.redb");
    let alice = assistant("alice");
    let log = RedbLog::open(&path).unwrap();
    run(append(&log, &alice, 0, vec![event("tea"), event("cake")])).unwrap();
    fs::copy(&path, &killed).unwrap();
    let before = fs::read(&killed).unwrap();
    let view = LogView::open(&killed).unwrap();
    assert!(!view.is_in_use());
    assert_eq!(run(view.read(&alice, Seq::ZERO, 100)).unwrap().len(), 2);
    assert!(fs::read(&killed).unwrap() == before);
    RedbLog::open_existing(&killed).unwrap();
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
