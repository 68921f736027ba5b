//! Commits that are on disk outside of the file.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use dormouse_contracts::Timestamp;
use dormouse_database::{
    Database, DatabaseFault, DatabaseHandle, DatabaseOpenError, FileSignature, PendingCommits,
    PendingError, PendingTarget, SignatureFound, begin_write, contained, open_existing, open_view,
};
use redb::{ReadTransaction, WriteTransaction};

use crate::diary::{DAYS, DIARY, Place, lay_down, read};

/// A diary with a slip of paper next to it, on which each byte is a day that is to be written down.
#[derive(Debug)]
struct WithSlip;

#[derive(Debug)]
struct Slip(PathBuf);

const UNREADABLE: u8 = b'?';

fn slip(path: &Path) -> PathBuf {
    path.with_extension("slip")
}

impl FileSignature for WithSlip {
    fn what(&self) -> &'static str {
        DIARY.what()
    }

    fn newest_format(&self) -> u64 {
        DIARY.newest_format()
    }

    fn cache_bytes(&self) -> usize {
        DIARY.cache_bytes()
    }

    fn check_up_to_bytes(&self) -> u64 {
        DIARY.check_up_to_bytes()
    }

    fn write(&self, writing: &WriteTransaction, at: Timestamp) -> Result<(), redb::Error> {
        DIARY.write(writing, at)
    }

    fn read(&self, reading: &ReadTransaction) -> Result<SignatureFound, redb::Error> {
        DIARY.read(reading)
    }

    fn pending_commits(&self, path: &Path) -> Option<Box<dyn PendingCommits>> {
        Some(Box::new(Slip(slip(path))))
    }
}

impl PendingCommits for Slip {
    fn read(&self) -> io::Result<Option<Vec<u8>>> {
        match fs::read(&self.0) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => read.map(Some),
        }
    }

    fn apply(
        &self,
        pending: Option<&[u8]>,
        database: &Database,
        target: PendingTarget,
    ) -> Result<(), PendingError> {
        let Some(days) = pending else {
            return Ok(());
        };
        if days.contains(&UNREADABLE) {
            return Err(PendingError::Unusable("an unreadable slip".into()));
        }
        contained(|| {
            let writing = begin_write(database)?;
            for day in days {
                writing.open_table(DAYS)?.insert(u64::from(*day), "tea")?;
            }
            Ok(writing.commit()?)
        })?;
        if target == PendingTarget::File {
            fs::remove_file(&self.0).unwrap();
        }
        Ok(())
    }
}

fn with_slip(days: &[u8]) -> Place {
    let place = Place::new();
    drop(dormouse_database::open(&place.path(), &WithSlip, lay_down).unwrap());
    fs::write(slip(&place.path()), days).unwrap();
    place
}

fn days(database: &Database) -> Vec<u64> {
    let all = read(database).unwrap();
    all.into_iter().map(|(day, _)| day).collect()
}

#[test]
fn pending_commits_are_in_the_file_once_it_is_open_and_a_view_shows_them_and_changes_nothing() {
    let place = with_slip(&[7, 8]);
    let before = fs::read(place.path()).unwrap();
    let view = open_view(&place.path(), &WithSlip).unwrap();
    assert_eq!(days(&view.database), [0, 7, 8]);
    drop(view);
    assert_eq!(fs::read(place.path()).unwrap(), before);
    assert_eq!(place.files(), ["diary.redb", "diary.slip"]);

    let open = open_existing(&place.path(), &WithSlip).unwrap();
    assert_eq!(days(&open), [0, 7, 8]);
    assert_eq!(place.files(), ["diary.redb"]);
    drop(open);
    assert_eq!(
        days(&open_existing(&place.path(), &DIARY).unwrap()),
        [0, 7, 8]
    );
}

#[test]
fn with_unusable_pending_commits_nothing_opens_and_nothing_is_written() {
    let place = with_slip(&[7, UNREADABLE]);
    let before = fs::read(place.path()).unwrap();
    let opened = open_existing(&place.path(), &WithSlip).unwrap_err();
    let viewed = open_view(&place.path(), &WithSlip).unwrap_err();
    for error in [opened, viewed] {
        let DatabaseOpenError::Damaged { source, .. } = &error else {
            panic!("{error:?}");
        };
        assert_eq!(source.to_string(), "an unreadable slip");
    }
    assert_eq!(fs::read(place.path()).unwrap(), before);
}

#[test]
fn a_handle_that_is_opened_again_has_what_became_pending_meanwhile() {
    let place = with_slip(&[]);
    let handle = DatabaseHandle::open_existing(&place.path(), &WithSlip).unwrap();
    let view = DatabaseHandle::open_view(&place.path(), &WithSlip).unwrap();
    fs::write(slip(&place.path()), [9]).unwrap();
    let has = |handle: &DatabaseHandle| {
        let reading = handle.begin_read().unwrap();
        contained(|| Ok(reading.open_table(DAYS)?.get(9)?.is_some())).unwrap()
    };
    assert!(!has(&handle) && !has(&view));
    view.reopen().unwrap();
    assert!(!has(&handle) && has(&view));
    handle.reopen().unwrap();
    assert!(has(&handle));

    // Without them the file is not complete, so nobody reads it.
    fs::write(slip(&place.path()), [UNREADABLE]).unwrap();
    let failed = handle.reopen().unwrap_err();
    assert!(
        matches!(failed, DatabaseFault::Unavailable(_)),
        "{failed:?}"
    );
    assert!(handle.begin_read().is_err());
    fs::remove_file(slip(&place.path())).unwrap();
    handle.reopen().unwrap();
    assert!(has(&handle));
}
