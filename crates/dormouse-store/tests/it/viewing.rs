//! Reading a log that somebody else writes, or that nobody may.

use std::fs;

use dormouse_contracts::{ReadEvents, Seq};
use dormouse_store::{LogOpenError, LogView, RedbLog};

use crate::{append, assistant, event, run};

#[test]
fn a_view_beside_the_writer_shows_what_was_acknowledged_and_stays_as_it_is() {
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
fn a_view_of_what_a_kill_left_mends_nothing_and_locks_nothing() {
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
fn what_is_no_log_is_refused_by_a_view_too() {
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
