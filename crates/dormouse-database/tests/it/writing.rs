use std::{
    fs, io,
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, Ordering},
    },
};

use dormouse_database::{
    Database, DatabaseFault, DatabaseOpenError, FileKind, begin_write, contained,
};
use redb::{Builder, StorageBackend, backends::InMemoryBackend};

use crate::diary::{DAYS, DIARY, LARGE, Place, lay_down, open, read, write, write_in_memory};

/// Whether opening a file that a killed process left needs to read all of it.
fn is_read_whole_after_a_crash(kind: &FileKind) -> bool {
    let place = Place::new();
    let database = dormouse_database::open(&place.path(), kind, lay_down).unwrap();
    write(&database, 1..50).unwrap();
    let killed = place.beside("killed.redb");
    fs::copy(place.path(), &killed).unwrap();
    let was_asked = Arc::new(AtomicBool::new(false));
    let asked = Arc::clone(&was_asked);
    Builder::new()
        .set_repair_callback(move |_| asked.store(true, Ordering::Relaxed))
        .open(&killed)
        .unwrap();
    was_asked.load(Ordering::Relaxed)
}

#[test]
fn after_a_crash_a_small_file_is_read_whole_and_a_large_one_is_not() {
    assert!(is_read_whole_after_a_crash(&DIARY));
    assert!(!is_read_whole_after_a_crash(&LARGE));
}

#[test]
fn a_file_becomes_large_while_it_is_open() {
    let kind = FileKind {
        check_up_to_bytes: 2 << 20,
        ..DIARY
    };
    let place = Place::new();
    let database = dormouse_database::open(&place.path(), &kind, lay_down).unwrap();
    assert!(database.bytes() <= kind.check_up_to_bytes);
    write(&database, 1..10_000).unwrap();
    assert!(database.bytes() > kind.check_up_to_bytes);
    assert_eq!(
        database.bytes(),
        fs::metadata(place.path()).unwrap().len(),
        "the length is that of the file"
    );
}

#[test]
fn every_commit_reaches_the_disk_in_two_phases() {
    for kind in [DIARY, LARGE] {
        let place = Place::new();
        let database = dormouse_database::open(&place.path(), &kind, lay_down).unwrap();
        write(&database, 1..2).unwrap();
        // redb writes down in its flags how the last commit was made.
        assert_eq!(fs::read(place.path()).unwrap()[9] & 4, 4);
    }
}

#[test]
fn uncommitted_writes_are_not_visible() {
    let place = Place::written();
    let database = dormouse_database::open_existing(&place.path(), &DIARY).unwrap();
    let writing = begin_write(&database).unwrap();
    writing
        .open_table(DAYS)
        .unwrap()
        .insert(999, "never")
        .unwrap();
    drop(writing);
    assert_eq!(read(&database).unwrap().len(), 160);
}

#[test]
fn a_database_needs_no_file() {
    let database = Database::on(InMemoryBackend::new(), &DIARY, lay_down).unwrap();
    write(&database, 1..3).unwrap();
    assert_eq!(read(&database).unwrap().len(), 3);
    let format = database.begin_read().unwrap().open_table(DIARY.table());
    let format = format.unwrap().get("format").unwrap().unwrap().value();
    assert_eq!(format, DIARY.format);
}

/// A disk that can be full. Its bytes outlive the handles.
#[derive(Clone, Debug, Default)]
struct Disk(Arc<Mutex<(Vec<u8>, bool)>>);

impl Disk {
    fn fill(&self, is_full: bool) {
        self.0.lock().unwrap().1 = is_full;
    }

    fn open(&self) -> Result<Database, redb::Error> {
        Database::on(self.clone(), &DIARY, lay_down)
    }

    fn change<T>(&self, change: impl FnOnce(&mut Vec<u8>) -> T) -> io::Result<T> {
        let mut disk = self.0.lock().unwrap();
        if disk.1 {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(change(&mut disk.0))
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().0.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = offset as usize;
        let disk = self.0.lock().unwrap();
        out.copy_from_slice(&disk.0[start..start + out.len()]);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change(|bytes| bytes.resize(len as usize, 0))
    }

    fn sync_data(&self) -> io::Result<()> {
        self.change(|_| ())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let start = offset as usize;
        self.change(|bytes| bytes[start..start + data.len()].copy_from_slice(data))
    }
}

#[test]
fn a_full_disk_is_distinguished_from_damage_and_loses_no_commit() {
    let disk = Disk::default();
    let database = disk.open().unwrap();
    write(&database, 1..5).unwrap();
    disk.fill(true);
    let first = write(&database, 5..1_000).unwrap_err();
    assert!(first.is_disk(), "{first:?}");
    let second = write(&database, 5..6).unwrap_err();
    assert!(second.is_disk(), "{second:?}");
    drop(database);
    disk.fill(false);
    let database = disk.open().unwrap();
    assert_eq!(read(&database).unwrap().len(), 5);
    write(&database, 5..6).unwrap();
}

#[test]
fn a_panic_inside_becomes_an_error_with_its_message() {
    let fault = contained::<()>(|| panic!("page {} out of range", 7)).unwrap_err();
    assert!(matches!(fault, DatabaseFault::Panicked { .. }));
    assert!(!fault.is_disk());
    assert!(
        fault.to_string().ends_with("page 7 out of range"),
        "{fault}"
    );

    let refused = contained::<()>(|| Err(redb::Error::Corrupted("page 7".to_owned()))).unwrap_err();
    assert!(!refused.is_disk());
    assert_eq!(contained(|| Ok(7)).unwrap(), 7);
}

#[test]
fn a_file_that_is_only_read_stays_as_it_is() {
    let place = Place::written();
    let before = fs::read(place.path()).unwrap();
    let database = open(&place.path()).unwrap();
    assert!(read(&database).unwrap().len() > 1);
    let second = open(&place.path()).unwrap_err();
    assert!(
        matches!(second, DatabaseOpenError::InUse { .. }),
        "{second:?}"
    );
    drop(database);
    assert_eq!(fs::read(place.path()).unwrap(), before);
}

#[test]
fn commits_in_memory_are_on_disk_with_the_next_one_or_when_the_file_is_closed_if_that_is_wanted() {
    let place = Place::new();
    write(&open(&place.path()).unwrap(), 1..3).unwrap();
    let days = || read(&open(&place.path()).unwrap()).unwrap().len();
    let before = fs::read(place.path()).unwrap();

    let database = open(&place.path()).unwrap();
    write_in_memory(&database, 7).unwrap();
    write_in_memory(&database, 8).unwrap();
    assert_eq!(read(&database).unwrap().len(), 5);
    drop(database);
    assert_eq!(fs::read(place.path()).unwrap(), before);
    assert_eq!(days(), 3);

    let database = open(&place.path()).unwrap();
    write_in_memory(&database, 7).unwrap();
    database.begin_writing().unwrap();
    drop(database);
    assert_eq!(days(), 4);

    let database = open(&place.path()).unwrap();
    write_in_memory(&database, 8).unwrap();
    write(&database, 9..10).unwrap();
    // What a kill would leave.
    let killed = Place::new();
    fs::copy(place.path(), killed.path()).unwrap();
    assert_eq!(read(&open(&killed.path()).unwrap()).unwrap().len(), 6);
}
