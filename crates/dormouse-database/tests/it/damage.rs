use std::{fs, path::Path, sync::LazyLock};

use dormouse_database::{
    Database, DatabaseHandle, DatabaseOpenError, FileKind, contained, open_existing, open_view,
};
use proptest::prelude::*;

use crate::diary::{DIARY, LARGE, Place, open, read, write};

/// A file that was closed well.
static CLOSED: LazyLock<Vec<u8>> = LazyLock::new(|| fs::read(Place::written().path()).unwrap());

/// The same as a process leaves it that is killed, for each kind.
static KILLED: LazyLock<[(FileKind, Vec<u8>); 2]> = LazyLock::new(|| {
    [DIARY, LARGE].map(|kind| {
        let place = Place::written();
        let database = open_existing(&place.path(), &kind).unwrap();
        write(&database, 160..165).unwrap();
        (kind, fs::read(place.path()).unwrap())
    })
});

/// What a diary of so many days holds.
fn is_whole(database: &Database, days: usize) -> bool {
    let found = read(database).unwrap();
    found.len() == days
        && found.iter().skip(1).zip(1..).all(|((day, text), number)| {
            (*day, text) == (number, &format!("day {number}, tea. ").repeat(20))
        })
}

#[test]
fn a_file_opens_with_every_commit_after_a_kill() {
    for (kind, bytes) in KILLED.iter() {
        let place = Place::new();
        fs::write(place.path(), bytes).unwrap();
        let database = open_existing(&place.path(), kind).unwrap();
        assert!(is_whole(&database, 165));
    }
}

#[test]
fn a_file_that_is_not_a_database_is_foreign_and_left_as_it_is() {
    let place = Place::new();
    for bytes in [
        b"x".to_vec(),
        b"a letter\n".repeat(2_000),
        vec![0; 64 * 1024],
    ] {
        fs::write(place.path(), &bytes).unwrap();
        let error = open(&place.path()).unwrap_err();
        assert!(
            matches!(error, DatabaseOpenError::Foreign { .. }),
            "{error:?}"
        );
        let view = open_view(&place.path(), &DIARY).unwrap_err();
        assert_eq!(view.to_string(), error.to_string());
        assert!(fs::read(place.path()).unwrap() == bytes);
    }
}

#[test]
fn a_truncated_file_of_any_length_is_an_error() {
    let place = Place::new();
    for kind in [DIARY, LARGE] {
        for sixteenths in 0..16 {
            let length = (CLOSED.len() / 16 * sixteenths).max(1);
            fs::write(place.path(), &CLOSED[..length]).unwrap();
            let found = open_existing(&place.path(), &kind);
            assert!(
                matches!(found, Err(DatabaseOpenError::Truncated { .. })),
                "{length} of {} bytes: {found:?}",
                CLOSED.len()
            );
            assert!(fs::read(place.path()).unwrap() == CLOSED[..length]);
        }
    }
}

#[test]
fn a_truncated_file_reports_the_missing_bytes() {
    let place = Place::new();
    fs::write(place.path(), &CLOSED[..CLOSED.len() - 1]).unwrap();
    let error = open(&place.path()).unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{}, a diary, was truncated: it has {} bytes and needs at least {}. Restore it from a copy",
            place.path().display(),
            CLOSED.len() - 1,
            CLOSED.len()
        )
    );
}

/// Opens a file with one byte changed: `true` if that was noticed.
fn strike(path: &Path, bytes: &[u8], at: usize, mask: u8, days: usize) -> bool {
    let mut bytes = bytes.to_vec();
    bytes[at] ^= mask;
    fs::write(path, &bytes).unwrap();
    match open(path) {
        Ok(database) => {
            assert!(is_whole(&database, days), "byte {at}, bits {mask:#b}");
            write(&database, 500..510).unwrap();
            false
        }
        Err(error) => {
            assert!(
                matches!(
                    error,
                    DatabaseOpenError::Foreign { .. }
                        | DatabaseOpenError::Truncated { .. }
                        | DatabaseOpenError::Damaged { .. }
                        | DatabaseOpenError::Repaired { .. }
                ),
                "byte {at}, bits {mask:#b}: {error:?}"
            );
            true
        }
    }
}

#[test]
fn a_changed_byte_in_the_head_of_the_file_is_an_error_or_changes_nothing() {
    let place = Place::new();
    let mut noticed = 0;
    for at in (0..320).step_by(3) {
        noticed += u32::from(strike(&place.path(), &CLOSED, at, 0x55, 160));
    }
    for bit in 0..8 {
        strike(&place.path(), &CLOSED, 9, 1 << bit, 160);
    }
    assert!(noticed > 10, "{noticed}");
}

/// Changes a letter of the text of the first of many days.
fn strike_text(bytes: &mut [u8]) {
    let text = b"day 3, tea. day 3, tea.";
    let places = bytes.windows(text.len()).enumerate();
    let places: Vec<_> = places.filter(|(_, it)| it == text).map(|it| it.0).collect();
    assert!(!places.is_empty());
    for at in places {
        bytes[at + 7] ^= 1;
    }
}

#[test]
fn the_pages_of_a_long_file_are_checked_after_a_kill_and_else_when_somebody_asks() {
    let place = Place::new();
    let database = open(&place.path()).unwrap();
    write(&database, 1..20_000).unwrap();
    assert!(database.bytes() > 4 << 20);
    let mut killed = fs::read(place.path()).unwrap();
    drop(database);
    let whole = DatabaseHandle::open_view(&place.path(), &DIARY).unwrap();
    assert!(whole.check_view().unwrap());

    let mut closed = fs::read(place.path()).unwrap();
    strike_text(&mut closed);
    fs::write(place.path(), &closed).unwrap();
    drop(open(&place.path()).unwrap());
    let view = DatabaseHandle::open_view(&place.path(), &DIARY).unwrap();
    let checked = view.check_view();
    assert!(!matches!(checked, Ok(true)), "{checked:?}");

    strike_text(&mut killed);
    fs::write(place.path(), &killed).unwrap();
    let found = open(&place.path());
    assert!(
        matches!(found, Err(DatabaseOpenError::Damaged { .. })),
        "{found:?}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn a_changed_byte_is_an_error_or_changes_nothing(at in any::<proptest::sample::Index>(), mask in 1_u8..) {
        let place = Place::new();
        strike(&place.path(), &CLOSED, at.index(CLOSED.len()), mask, 160);
    }

    #[test]
    fn a_changed_byte_in_the_pages_of_a_file_left_by_a_killed_process_is_an_error_or_changes_nothing(
        at in any::<proptest::sample::Index>(),
        mask in 1_u8..,
    ) {
        let (_, bytes) = &KILLED[0];
        let place = Place::new();
        strike(&place.path(), bytes, 4096 + at.index(bytes.len() - 4096), mask, 165);
    }

    #[test]
    fn in_a_large_file_a_changed_byte_never_brings_a_reader_down(
        at in any::<proptest::sample::Index>(),
        mask in 1_u8..,
        was_killed in any::<bool>(),
    ) {
        let mut bytes = if was_killed { KILLED[1].1.clone() } else { CLOSED.clone() };
        bytes[at.index(CLOSED.len())] ^= mask;
        let place = Place::new();
        fs::write(place.path(), &bytes).unwrap();
        if let Ok(database) = open_existing(&place.path(), &LARGE) {
            drop(read(&database));
            drop(contained(|| {
                drop(database);
                Ok(())
            }));
        }
    }
}
