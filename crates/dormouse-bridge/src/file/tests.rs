//! What those who wait and those who read see when a caller leaves or the disk fails.

use std::{
    io,
    pin::pin,
    sync::Barrier,
    task::{Context, Waker},
    thread,
};

use dormouse_contracts::{
    EffectKey, Outcome, Receipt, Sender, SenseErrorKind, Senses, SourceKind, Timestamp, Words,
};
use dormouse_database::DatabaseSource;
use redb::StorageBackend;
use serde_json::Value;

use super::*;
use crate::{QueueErrorKind, Report};

/// A disk that can fail. Its bytes outlive its handles.
#[derive(Clone, Debug, Default)]
struct Disk(Arc<Mutex<Platter>>);

#[derive(Debug, Default)]
struct Platter {
    bytes: Vec<u8>,
    /// How many operations still succeed before one fails; without end if absent.
    left: Option<u64>,
    /// Whether all the following ones fail, too.
    lasting: bool,
    /// How often it was opened.
    opened: u32,
}

impl Disk {
    fn platter(&self) -> MutexGuard<'_, Platter> {
        self.0.lock().unwrap()
    }

    fn fail_after(&self, operations: u64, lasting: bool) {
        let mut platter = self.platter();
        (platter.left, platter.lasting) = (Some(operations), lasting);
    }

    fn mend(&self) {
        self.platter().left = None;
    }

    /// A bridge on this disk, in which Alice is.
    async fn bridge(&self) -> BridgeFile {
        let world = WorldId::try_new("disk").unwrap();
        let create = |writing: &_| create(writing, &world);
        let database = DatabaseHandle::on(Box::new(self.clone()), &KIND, create).unwrap();
        let file = BridgeFile::on(database).unwrap();
        file.queue().enter(&alice()).await.unwrap();
        file
    }
}

impl Platter {
    fn operate(&mut self) -> io::Result<()> {
        match &mut self.left {
            Some(0) => {
                self.left = self.left.filter(|_| self.lasting);
                Err(io::ErrorKind::NotConnected.into())
            }
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
    }
}

impl DatabaseSource for Disk {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        self.platter().opened += 1;
        Ok(Box::new(self.clone()))
    }

    fn snapshot(&self) -> io::Result<Box<dyn StorageBackend>> {
        let mut platter = self.platter();
        platter.operate()?;
        let bytes = platter.bytes.clone();
        Ok(Box::new(Self(Arc::new(Mutex::new(Platter {
            bytes,
            ..Platter::default()
        })))))
    }
}

impl StorageBackend for Disk {
    fn len(&self) -> io::Result<u64> {
        Ok(self.platter().bytes.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let start = offset as usize;
        let mut platter = self.platter();
        platter.operate()?;
        let found = platter.bytes.get(start..start + out.len());
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut platter = self.platter();
        platter.operate()?;
        platter.bytes.resize(len as usize, 0);
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        self.platter().operate()
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut platter = self.platter();
        platter.operate()?;
        let start = offset as usize;
        platter.bytes[start..start + data.len()].copy_from_slice(data);
        Ok(())
    }
}

fn alice() -> EntityId {
    EntityId::try_new("player:alice").unwrap()
}

fn report(words: &str) -> Report {
    let words = Words::try_new(words).unwrap();
    Report::new(
        SourceKind::Page,
        Sender::Unattributed,
        Timestamp::EPOCH,
        words,
    )
}

#[tokio::test]
async fn a_file_of_an_earlier_version_has_no_positions_until_one_is_stored() {
    let file = Disk::default().bridge().await;
    let without = |writing: &WriteTransaction| {
        writing.delete_table(POSITIONS)?;
        Ok(Changed::Yes((), Vec::new()))
    };
    file.write(without).await.unwrap();
    let queue = file.queue();
    assert_eq!(queue.position(&alice()).await.unwrap(), None);
    let (moment, ()) = file.moment(|| ()).await.unwrap();
    let folder = tempfile::tempdir().unwrap();
    moment.write(&folder.path().join("copy.redb")).unwrap();
    queue.push_at(&alice(), "1", None).await.unwrap();
    let position = queue.position(&alice()).await.unwrap();
    assert_eq!(position.as_deref(), Some("1"));
}

/// Polls a future once, which starts its write, and drops it.
fn begin_and_leave(future: impl Future) {
    let _left = pin!(future).poll(&mut Context::from_waker(Waker::noop()));
}

/// Waits until a feed is this long, and until the write that made it so is over.
async fn delivered(file: &BridgeFile, number: u64) {
    while file.queue().last_delivery(&alice()).await.unwrap() < number {
        tokio::task::yield_now().await;
    }
    file.write(|_| Ok(Changed::No(()))).await.unwrap();
}

#[tokio::test]
async fn those_who_wait_are_woken_also_if_the_one_who_reports_has_left() {
    let file = Disk::default().bridge().await;
    let (queue, receipts) = (file.queue(), file.receipts());
    let mut followed = file.feeds().follow(&alice());

    begin_and_leave(queue.push(&alice(), report("hello")));
    delivered(&file, 1).await;
    assert!(followed.has_changed().unwrap(), "pushed");
    followed.mark_unchanged();

    let key = EffectKey::try_new("k").unwrap();
    let done = Outcome::Done(Receipt::new(Value::Null));
    begin_and_leave(receipts.finish(&key, done, vec![(alice(), report("hello"))]));
    delivered(&file, 2).await;
    assert!(followed.has_changed().unwrap(), "perceived of an act");
}

#[tokio::test]
async fn those_who_wait_are_woken_for_all_that_may_be_written_when_the_disk_fails() {
    let (mut written, mut unknown) = (0, 0);
    for lasting in [false, true] {
        for operations in 0.. {
            let disk = Disk::default();
            let file = disk.bridge().await;
            let followed = file.feeds().follow(&alice());
            disk.fail_after(operations, lasting);
            let pushed = file.queue().push(&alice(), report("hello")).await;
            let was_reached = disk.platter().left.is_none_or(|left| left == 0);
            disk.mend();
            let found = file.queue().last_delivery(&alice()).await.unwrap();
            match pushed.map_err(|error| error.kind()) {
                Ok(_) => assert_eq!(found, 1),
                Err(QueueErrorKind::Unknown) => unknown += 1,
                Err(kind) => {
                    assert_eq!((kind, found), (QueueErrorKind::Unavailable, 0));
                }
            }
            written += found;
            assert!(
                found == 0 || followed.has_changed().unwrap(),
                "after {operations} operations, lasting: {lasting}"
            );
            if !was_reached {
                break;
            }
        }
    }
    assert!(written > 2 && unknown > 0, "{written}, {unknown}");
}

#[tokio::test]
async fn a_read_that_failed_succeeds_once_the_disk_is_mended() {
    for panics in [false, true] {
        let disk = Disk::default();
        let file = disk.bridge().await;
        let queue = file.queue();
        queue.push(&alice(), report("hello")).await.unwrap();
        // Nothing is in the cache of a database that was opened just now.
        file.0.database.reopen().unwrap();
        if panics {
            let read = file.read::<()>(|_| panic!("a damaged page")).await;
            assert!(matches!(read, Err(StoreError::File(_))), "{read:?}");
            assert!(file.0.has_failed.load(SeqCst));
        } else {
            disk.fail_after(0, false);
            let read = queue.perceptions(&alice(), 0, 10).await;
            assert_eq!(read.unwrap_err().kind(), SenseErrorKind::Unavailable);
        }
        let read = queue.perceptions(&alice(), 0, 10).await.unwrap();
        assert_eq!(read.len(), 1);
        assert!(!file.0.has_failed.load(SeqCst));
        queue.push(&alice(), report("hello again")).await.unwrap();
    }
}

#[tokio::test]
async fn all_who_meet_a_failure_together_open_the_file_again_once() {
    const READERS: usize = 8;
    let disk = Disk::default();
    let file = disk.bridge().await;
    for round in 2..20 {
        file.0.has_failed.store(true, SeqCst);
        let start = Barrier::new(READERS);
        thread::scope(|scope| {
            for reader in 0..READERS {
                let (start, inner) = (&start, &file.0);
                scope.spawn(move || {
                    start.wait();
                    match reader % 2 {
                        0 => inner.read(|_| Ok(())).unwrap(),
                        _ => inner.write(|_| Ok(Changed::No(()))).unwrap(),
                    }
                });
            }
        });
        assert_eq!(disk.platter().opened, round);
    }
}
