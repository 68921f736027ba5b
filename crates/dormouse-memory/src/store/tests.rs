//! A disk that fails under an open memory.

use std::{
    fs::File,
    io,
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use dormouse_database::FileStorage;
use redb::StorageBackend;

use super::{KIND, Place, Slot, Store, StoreErrorKind, WriteError, initialise};

/// A file whose changes fail by this error once so many have succeeded.
#[derive(Debug)]
struct FailingFile {
    file: FileStorage,
    left: Arc<AtomicU64>,
    errno: i32,
}

impl FailingFile {
    fn change(&self) -> io::Result<()> {
        let spend = |left: u64| left.checked_sub(1);
        let spent = self.left.fetch_update(Relaxed, Relaxed, spend);
        spent.map_or_else(
            |_| Err(io::Error::from_raw_os_error(self.errno)),
            |_| Ok(()),
        )
    }
}

impl StorageBackend for FailingFile {
    fn len(&self) -> io::Result<u64> {
        self.file.len()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        self.file.read(offset, out)
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        self.change()?;
        self.file.set_len(len)
    }

    fn sync_data(&self) -> io::Result<()> {
        self.change()?;
        self.file.sync_data()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.change()?;
        self.file.write(offset, data)
    }
}

fn alice() -> dormouse_contracts::AssistantId {
    dormouse_contracts::AssistantId::try_new("alice").unwrap()
}

/// The memory at `path`, on a disk that fails after a given number of changes.
fn on_failing_disk(path: &Path, errno: i32) -> (Store, Arc<AtomicU64>) {
    let left = Arc::new(AtomicU64::new(u64::MAX));
    let file = File::options().read(true).write(true).open(path).unwrap();
    let failing = FailingFile {
        file: FileStorage::new(path, file).unwrap(),
        left: Arc::clone(&left),
        errno,
    };
    let database =
        dormouse_database::Database::on(failing, &KIND, |writing| initialise(writing, &alice()));
    let store = Store::of(Place::File(path.to_owned()), Slot::Open(database.unwrap()));
    (store, left)
}

fn set(store: &Store, value: u64) -> Result<(), WriteError<()>> {
    store.write(|writing| {
        writing.set_state("first", value)?;
        writing.set_state("second", value)?;
        Ok(())
    })
}

fn both(store: &Store) -> (u64, u64) {
    let read = store.read(|reading| Ok((reading.state("first")?, reading.state("second")?)));
    read.unwrap()
}

#[test]
fn any_failed_write_keeps_acknowledged_records_and_leaves_nothing_half_done() {
    for (errno, said) in [
        (5, "Input/output error"),
        (28, "No space left on device"),
        (30, "Read-only file system"),
    ] {
        let mut refused = 0;
        for changes in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("memory.redb");
            drop(Store::open(&path, &alice()).unwrap());
            let (store, left) = on_failing_disk(&path, errno);
            set(&store, 1).unwrap();
            left.store(changes, Relaxed);
            let during = set(&store, 2);
            // From here on the disk is well again.
            left.store(u64::MAX, Relaxed);
            let there = both(&store);
            match during {
                Ok(()) => assert_eq!(there, (2, 2), "{errno}, {changes} changes"),
                Err(WriteError::Store(error)) => {
                    refused += 1;
                    assert_eq!(error.kind(), StoreErrorKind::Disk, "{error:?}");
                    assert!(format!("{error:?}").contains(said), "{error:?}");
                    assert!([(1, 1), (2, 2)].contains(&there), "{errno}, {changes}");
                }
                Err(WriteError::Refused(())) => unreachable!("nothing was refused"),
            }
            set(&store, 3).unwrap();
            assert_eq!(both(&store), (3, 3));
        }
        assert!(refused > 0, "no refused change made a write fail");
    }
}
