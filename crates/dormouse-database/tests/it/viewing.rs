//! Reading while another process writes.

use std::{fs, sync::atomic::AtomicBool, sync::atomic::Ordering::Relaxed};

use dormouse_database::{DatabaseOpenError, DatabaseView, begin_write, open_view};

use crate::diary::{DAYS, DIARY, LARGE, Place, lay_down, read, write};

#[test]
fn a_view_of_a_file_in_use_shows_the_commits_and_reports_the_use() {
    for kind in [DIARY, LARGE] {
        let place = Place::new();
        let database = dormouse_database::open(&place.path(), &kind, lay_down).unwrap();
        write(&database, 1..50).unwrap();
        let uncommitted = begin_write(&database).unwrap();
        uncommitted
            .open_table(DAYS)
            .unwrap()
            .insert(99, "no")
            .unwrap();

        let view = open_view(&place.path(), &kind).unwrap();
        assert!(view.is_in_use);
        assert_eq!(read(&view.database).unwrap().len(), 50);
        uncommitted.commit().unwrap();
        write(&database, 50..500).unwrap();
        assert_eq!(
            read(&view.database).unwrap().len(),
            50,
            "a view stays as it is"
        );
        assert_eq!(read(&database).unwrap().len(), 500);
    }
}

#[test]
fn a_view_neither_changes_nor_locks_the_file() {
    let place = Place::written();
    let before = fs::read(place.path()).unwrap();
    let DatabaseView {
        database,
        is_in_use,
    } = open_view(&place.path(), &DIARY).unwrap();
    assert!(!is_in_use);
    write(&database, 900..950).unwrap();
    assert_eq!(read(&database).unwrap().len(), 210);
    assert!(fs::read(place.path()).unwrap() == before);
    let opened = dormouse_database::open_existing(&place.path(), &DIARY).unwrap();
    assert_eq!(read(&opened).unwrap().len(), 160);
}

#[test]
fn a_file_left_by_a_killed_process_can_be_viewed_without_repair() {
    for kind in [DIARY, LARGE] {
        let place = Place::new();
        let database = dormouse_database::open(&place.path(), &kind, lay_down).unwrap();
        write(&database, 1..50).unwrap();
        let killed = place.beside("killed.redb");
        fs::copy(place.path(), &killed).unwrap();
        let before = fs::read(&killed).unwrap();
        let view = open_view(&killed, &kind).unwrap();
        assert!(!view.is_in_use);
        assert_eq!(read(&view.database).unwrap().len(), 50);
        drop(view);
        assert!(fs::read(&killed).unwrap() == before);
    }
}

#[test]
fn a_truncated_or_damaged_file_is_an_error_in_a_view_too() {
    let place = Place::written();
    let whole = fs::read(place.path()).unwrap();
    fs::write(place.path(), &whole[..whole.len() / 2]).unwrap();
    let error = open_view(&place.path(), &DIARY).unwrap_err();
    assert!(
        matches!(error, DatabaseOpenError::Truncated { .. }),
        "{error:?}"
    );
    let mut damaged = whole;
    damaged[64..320].fill(0xAA);
    fs::write(place.path(), damaged).unwrap();
    let error = open_view(&place.path(), &DIARY).unwrap_err();
    assert!(
        matches!(error, DatabaseOpenError::Damaged { .. }),
        "{error:?}"
    );
    let missing = open_view(&place.beside("missing.redb"), &DIARY).unwrap_err();
    assert!(
        matches!(missing, DatabaseOpenError::Absent { .. }),
        "{missing:?}"
    );
}

/// Each commit writes the same text into every row, and moves all of them to other pages.
#[test]
fn a_view_shows_one_commit_during_fast_commits() {
    const ROWS: u64 = 200;
    for kind in [DIARY, LARGE] {
        let place = Place::new();
        let database = dormouse_database::open(&place.path(), &kind, lay_down).unwrap();
        let enough = AtomicBool::new(false);
        let put = |round: u64| {
            let text = round.to_string().repeat(30);
            let writing = begin_write(&database).unwrap();
            {
                let mut days = writing.open_table(DAYS).unwrap();
                for row in 0..ROWS {
                    days.insert(row, text.as_str()).unwrap();
                }
            }
            writing.commit().unwrap();
        };
        put(1);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut round = 2;
                while !enough.load(Relaxed) {
                    put(round);
                    round += 1;
                }
            });
            let mut seen: Vec<String> = Vec::new();
            // The writer may get no processor for a while, so a slow machine takes more views to see a change.
            for _ in 0..4_000 {
                if seen.len() >= 40 && seen.first() != seen.last() {
                    break;
                }
                let view = open_view(&place.path(), &kind).unwrap();
                let rows = read(&view.database).unwrap();
                assert_eq!(rows.len() as u64, ROWS);
                assert!(rows.iter().all(|(_, text)| *text == rows[0].1));
                seen.push(rows[0].1.clone());
            }
            enough.store(true, Relaxed);
            seen.dedup();
            assert!(seen.len() > 1, "nothing changed meanwhile");
        });
    }
}
