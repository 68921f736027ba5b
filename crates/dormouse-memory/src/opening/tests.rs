//! A disk that refuses the copy of the search index. The memory's own file is on a disk that is well.

use std::{
    fs, io,
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering::Relaxed},
    },
};

use dormouse_contracts::{AssistantId, Timestamp};

use crate::{
    Memory, MemoryError, Note,
    builder::{MemoryBuilder, MemoryOpenError},
    index_copy::{CopyDisk, Files, IndexCopy},
    record::RecordId,
    store::{Store, StoreErrorKind},
};

/// EIO, ENOSPC and EROFS.
const ERRORS: [(i32, &str); 3] = [
    (5, "Input/output error"),
    (28, "No space left on device"),
    (30, "Read-only file system"),
];

/// A disk on which everything fails by this error once so much has succeeded. What fails while it writes leaves half.
#[derive(Clone, Debug)]
struct FailingDisk {
    left: Arc<AtomicU64>,
    errno: i32,
}

impl FailingDisk {
    fn after(left: u64, errno: i32) -> Self {
        let left = Arc::new(AtomicU64::new(left));
        Self { left, errno }
    }

    fn spend(&self) -> io::Result<()> {
        let spent = self
            .left
            .fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        spent.map_or_else(
            |_| Err(io::Error::from_raw_os_error(self.errno)),
            |_| Ok(()),
        )
    }
}

impl CopyDisk for FailingDisk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        self.spend()?;
        Files.read(path)
    }

    fn head(&self, path: &Path, most: usize) -> io::Result<(Vec<u8>, u64)> {
        // It only tells when to read the copy, so this disk does not count it.
        Files.head(path, most)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        if let Err(error) = self.spend() {
            Files.write(path, &bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        Files.write(path, bytes)
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.spend()?;
        Files.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.spend()?;
        Files.remove(path)
    }
}

/// A memory's folder.
struct Home {
    folder: tempfile::TempDir,
    clock: Arc<AtomicU64>,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let clock = Arc::default();
        Self { folder, clock }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("m.redb")
    }

    fn copy(&self) -> Vec<u8> {
        fs::read(self.path().with_extension("redb.index")).unwrap_or_default()
    }

    fn builder(&self) -> MemoryBuilder {
        let clock = Arc::clone(&self.clock);
        let now = move || Timestamp::from_micros(clock.fetch_add(1, Relaxed).cast_signed());
        Memory::builder(alice(), now)
    }

    /// The memory, with the copy of its index on this disk.
    fn open_on(&self, disk: &FailingDisk) -> Result<Memory, MemoryOpenError> {
        let path = self.path();
        let store = Store::open(&path, &alice())?;
        let copy = IndexCopy::on(&path, Box::new(disk.clone()));
        Memory::over(self.builder(), store, Some(copy))
    }

    async fn open(&self) -> Memory {
        self.builder().open(self.path()).await.unwrap()
    }
}

fn alice() -> AssistantId {
    AssistantId::try_new("alice").unwrap()
}

async fn add(memory: &Memory, text: &str) -> RecordId {
    memory.add(Note::new(text), "heard").await.unwrap().id()
}

async fn finds(memory: &Memory, word: &str) -> usize {
    memory.recall(word).await.unwrap().items.len()
}

fn has(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|part| part == word)
}

#[tokio::test]
async fn a_failure_to_write_the_index_copy_loses_nothing_and_the_copy_is_made_later() {
    for (errno, said) in ERRORS {
        let mut refused = 0;
        for changes in 0..12 {
            let home = Home::new();
            let disk = FailingDisk::after(changes, errno);
            let memory = home.open_on(&disk).unwrap();
            add(&memory, "peppermint tea").await;
            if let Err(error) = memory.checkpoint().await {
                refused += 1;
                assert!(format!("{error:?}").contains(said), "{error:?}");
            }
            add(&memory, "the boat leaks").await;
            // What is erased while the copy cannot be touched stays, and can be erased later.
            let zeppelin = add(&memory, "a zeppelin").await;
            let erased = memory.erase(zeppelin, "asked to").await;
            for (word, there) in [("peppermint", 1), ("boat", 1)] {
                assert_eq!(finds(&memory, word).await, there, "{errno}, {changes}");
            }
            let left = usize::from(erased.is_err());
            assert_eq!(finds(&memory, "zeppelin").await, left, "{erased:?}");
            drop(memory);

            let memory = home.open().await;
            assert_eq!(finds(&memory, "peppermint").await, 1);
            assert_eq!(finds(&memory, "boat").await, 1);
            assert_eq!(finds(&memory, "zeppelin").await, left);
            memory.checkpoint().await.unwrap();
            assert!(has(&home.copy(), b"peppermint"));
        }
        assert!(refused > 0, "nothing made saving the copy fail");
    }
}

#[tokio::test]
async fn a_copy_of_a_newer_file_that_cannot_be_removed_is_never_used_and_does_not_prevent_opening()
{
    for (errno, _) in ERRORS {
        let home = Home::new();
        let backup = home.folder.path().join("backup.redb");
        let memory = home.open().await;
        add(&memory, "peppermint tea").await;
        drop(memory);
        fs::copy(home.path(), &backup).unwrap();
        let memory = home.open().await;
        add(&memory, "a zeppelin").await;
        memory.checkpoint().await.unwrap();
        drop(memory);
        fs::copy(&backup, home.path()).unwrap();

        // It can be read, and nothing after that.
        let memory = home.open_on(&FailingDisk::after(2, errno)).unwrap();
        assert_eq!(finds(&memory, "peppermint").await, 1);
        // The memory grows to the length of the file from which the copy was made.
        add(&memory, "the boat leaks").await;
        drop(memory);
        let memory = home.open().await;
        assert_eq!(finds(&memory, "zeppelin").await, 0, "{errno}");
        assert_eq!(finds(&memory, "boat").await, 1);
    }
}

#[tokio::test]
async fn a_record_is_not_erased_if_its_words_stay_in_the_index_copy_and_the_error_names_the_copy() {
    for (errno, said) in ERRORS {
        let home = Home::new();
        let memory = home.open().await;
        let zeppelin = add(&memory, "a zeppelin").await;
        memory.checkpoint().await.unwrap();
        drop(memory);

        let disk = FailingDisk::after(2, errno);
        let memory = home.open_on(&disk).unwrap();
        let refused = memory.erase(zeppelin, "asked to").await.unwrap_err();
        let MemoryError::Store(error) = &refused else {
            panic!("{refused:?}");
        };
        assert_eq!(error.kind(), StoreErrorKind::Disk);
        let message = format!("{refused:?}");
        assert!(
            message.contains(said) && message.contains("redb.index"),
            "{message}"
        );
        assert_eq!(finds(&memory, "zeppelin").await, 1);

        // The disk is well again.
        disk.left.store(u64::MAX, Relaxed);
        memory.erase(zeppelin, "asked to").await.unwrap();
        assert_eq!(finds(&memory, "zeppelin").await, 0);
        assert!(!has(&home.copy(), b"zeppelin"));
    }
}

#[tokio::test]
async fn a_copy_that_cannot_be_saved_at_the_end_is_saved_at_the_next() {
    for (errno, _) in ERRORS {
        let home = Home::new();
        let memory = home.open_on(&FailingDisk::after(2, errno)).unwrap();
        let many = (0..1_000).map(|number| Note::new(format!("peppermint {number}")));
        memory.add_all(many.collect(), "heard").await.unwrap();
        drop(memory);
        assert!(home.copy().is_empty(), "the disk took it");

        drop(home.open().await);
        assert!(has(&home.copy(), b"peppermint"));
        assert_eq!(finds(&home.open().await, "999").await, 1, "{errno}");
    }
}
