//! A handle on a disk that fails, and is opened again.

use std::{
    io,
    sync::{Arc, Mutex},
};

use dormouse_database::{
    DatabaseFault, DatabaseHandle, DatabaseOpenError, DatabaseSource, contained,
};
use redb::{ReadableTable, StorageBackend};

use crate::diary::{DAYS, DIARY, Place, lay_down};

/// A disk that refuses all changes while it is full. Its bytes outlive the handles.
#[derive(Clone, Debug, Default)]
struct Disk(Arc<Mutex<Platter>>);

#[derive(Clone, Debug, Default)]
struct Platter {
    bytes: Vec<u8>,
    is_full: bool,
    /// Whether not even a snapshot can be taken.
    is_unreadable: bool,
}

impl Disk {
    fn set(&self, is_full: bool, is_unreadable: bool) {
        let mut platter = self.0.lock().unwrap();
        (platter.is_full, platter.is_unreadable) = (is_full, is_unreadable);
    }

    fn change(&self, change: impl FnOnce(&mut Vec<u8>)) -> io::Result<()> {
        let mut platter = self.0.lock().unwrap();
        if platter.is_full {
            return Err(io::ErrorKind::StorageFull.into());
        }
        change(&mut platter.bytes);
        Ok(())
    }

    fn handle(&self) -> DatabaseHandle {
        DatabaseHandle::on(Box::new(self.clone()), &DIARY, lay_down).unwrap()
    }
}

impl DatabaseSource for Disk {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(self.clone()))
    }

    fn snapshot(&self) -> io::Result<Box<dyn StorageBackend>> {
        let platter = self.0.lock().unwrap();
        if platter.is_unreadable {
            return Err(io::ErrorKind::NotConnected.into());
        }
        let bytes = platter.bytes.clone();
        Ok(Box::new(Self(Arc::new(Mutex::new(Platter {
            bytes,
            ..Platter::default()
        })))))
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.0.lock().unwrap().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = offset as usize;
        let platter = self.0.lock().unwrap();
        out.copy_from_slice(&platter.bytes[start..start + out.len()]);
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

fn write(diary: &DatabaseHandle, day: u64) -> Result<(), DatabaseFault> {
    diary.write(|writing| {
        contained(|| {
            writing.open_table(DAYS)?.insert(day, "tea")?;
            Ok(writing.commit()?)
        })
    })
}

fn days(diary: &DatabaseHandle) -> Result<Vec<u64>, DatabaseFault> {
    let reading = diary.begin_read()?;
    contained(|| {
        let table = reading.open_table(DAYS)?;
        let days = table.iter()?.map(|row| Ok(row?.0.value()));
        days.collect()
    })
}

#[test]
fn a_file_on_a_full_disk_is_read_from_a_snapshot_and_writable_again_afterwards() {
    let disk = Disk::default();
    let diary = disk.handle();
    write(&diary, 1).unwrap();
    disk.set(true, false);
    assert!(write(&diary, 2).unwrap_err().is_disk());
    let refused = diary.reopen().unwrap_err();
    assert!(refused.is_disk(), "{refused:?}");
    assert_eq!(days(&diary).unwrap(), [0, 1]);
    let unavailable = write(&diary, 2).unwrap_err();
    assert!(
        matches!(unavailable, DatabaseFault::Unavailable(_)),
        "{unavailable:?}"
    );

    disk.set(false, false);
    diary.reopen().unwrap();
    write(&diary, 2).unwrap();
    assert_eq!(days(&diary).unwrap(), [0, 1, 2]);
    diary.close();
    assert_eq!(days(&disk.handle()).unwrap(), [0, 1, 2]);
}

#[test]
fn an_unreadable_disk_is_an_error_with_the_cause_of_the_failed_write() {
    let disk = Disk::default();
    let diary = disk.handle();
    disk.set(true, true);
    assert!(diary.reopen().is_err());
    let error = days(&diary).unwrap_err();
    match &error {
        DatabaseFault::Unavailable(cause) => {
            let DatabaseOpenError::Io { source, .. } = &**cause else {
                panic!("{cause:?}");
            };
            assert_eq!(source.kind(), io::ErrorKind::StorageFull);
        }
        other => panic!("{other:?}"),
    }
    disk.set(false, false);
    diary.reopen().unwrap();
    assert_eq!(days(&diary).unwrap(), [0]);
}

#[test]
fn a_reader_keeps_its_commit_while_the_file_is_opened_again_and_a_closed_file_is_free() {
    let place = Place::new();
    let diary = DatabaseHandle::open(&place.path(), &DIARY, lay_down).unwrap();
    let before = diary.begin_read().unwrap();
    diary.reopen().unwrap();
    write(&diary, 1).unwrap();
    assert!(before.open_table(DAYS).unwrap().get(1).unwrap().is_none());
    drop(before);
    assert_eq!(days(&diary).unwrap(), [0, 1]);

    let still_reading = diary.begin_read().unwrap();
    diary.close();
    assert!(matches!(days(&diary), Err(DatabaseFault::Closed)));
    assert!(matches!(diary.reopen(), Err(DatabaseFault::Closed)));
    DatabaseHandle::open_existing(&place.path(), &DIARY).unwrap();
    drop(still_reading);
}

#[test]
fn a_panic_in_a_transaction_is_an_error_and_rolls_it_back() {
    let diary = Disk::default().handle();
    let panicked = diary.write::<(), DatabaseFault>(|_| panic!("page 7 out of range"));
    assert!(panicked.unwrap_err().is_damage());
    diary.reopen().unwrap();
    write(&diary, 1).unwrap();
    assert_eq!(days(&diary).unwrap(), [0, 1]);
}

#[test]
fn a_view_that_is_opened_again_shows_the_newest_commit() {
    let place = Place::new();
    let diary = DatabaseHandle::open(&place.path(), &DIARY, lay_down).unwrap();
    let view = DatabaseHandle::open_view(&place.path(), &DIARY).unwrap();
    assert!(view.is_in_use());
    write(&diary, 1).unwrap();
    assert_eq!(days(&view).unwrap(), [0]);
    view.reopen().unwrap();
    assert_eq!(days(&view).unwrap(), [0, 1]);
}
