//! Storage in memory that fails on request, and can lose unsynced writes.

use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
};

use dormouse_database::{DatabaseHandle, DatabaseSource};
use redb::StorageBackend;

use crate::{
    RedbLog,
    open::{self, LogOpenError, OpenedLog},
    signature::LogFile,
};

/// A disk in memory. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flaky {
    disk: Arc<Mutex<Disk>>,
}

#[derive(Debug, Default)]
struct Disk {
    /// What a reader sees: what was written, synced or not.
    seen: Vec<u8>,
    /// What is left after a power failure.
    kept: Vec<u8>,
    unsynced: Vec<Change>,
    plan: Plan,
}

#[derive(Debug)]
enum Change {
    Write(usize, Vec<u8>),
    Resize(usize),
}

/// What will fail. Each call decrements its counter. A call that finds its counter at zero fails, and the next
/// succeeds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan {
    /// How many bytes fit on the disk.
    pub(crate) capacity: Option<usize>,
    pub(crate) syncs_before_failure: Option<u32>,
    pub(crate) writes_before_failure: Option<u32>,
    pub(crate) reads_before_failure: Option<u32>,
    /// How many writes, resizes and syncs happen before the process dies; none happens after.
    pub(crate) changes_before_death: Option<u32>,
    /// The error number that the operating system returns after the process has died.
    pub(crate) last_words: Option<i32>,
}

/// Lets one more change happen, unless the process is dead.
fn live(plan: &mut Plan) -> io::Result<()> {
    match &mut plan.changes_before_death {
        Some(0) => Err(match plan.last_words {
            Some(number) => io::Error::from_raw_os_error(number),
            None => io::Error::other("dead"),
        }),
        Some(left) => {
            *left -= 1;
            Ok(())
        }
        None => Ok(()),
    }
}

fn count_down(counter: &mut Option<u32>) -> io::Result<()> {
    match counter {
        Some(0) => {
            *counter = None;
            Err(io::Error::other("fails on request"))
        }
        Some(left) => {
            *left -= 1;
            Ok(())
        }
        None => Ok(()),
    }
}

fn apply(bytes: &mut Vec<u8>, change: &Change) {
    match change {
        Change::Resize(length) => bytes.resize(*length, 0),
        Change::Write(offset, data) => {
            if bytes.len() < offset + data.len() {
                bytes.resize(offset + data.len(), 0);
            }
            bytes[*offset..offset + data.len()].copy_from_slice(data);
        }
    }
}

impl Disk {
    fn change(&mut self, change: Change) {
        apply(&mut self.seen, &change);
        self.unsynced.push(change);
    }
}

impl Flaky {
    fn disk(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().unwrap()
    }

    pub(crate) fn plan(&self, plan: Plan) {
        self.disk().plan = plan;
    }

    pub(crate) fn heal(&self) {
        self.plan(Plan::default());
    }

    pub(crate) fn length(&self) -> usize {
        self.disk().seen.len()
    }

    /// The disk as it is found after a power failure at this moment.
    pub(crate) fn after_power_failure(&self) -> Self {
        let kept = self.disk().kept.clone();
        Self::holding(kept)
    }

    /// The disk as it is found after the process was killed at this moment: what was written is there, synced or not.
    pub(crate) fn after_kill(&self) -> Self {
        let seen = self.disk().seen.clone();
        Self::holding(seen)
    }

    /// Whether the file is marked as closed but does not point at its newest commit. The offsets are those of redb's
    /// header.
    pub(crate) fn is_unsettled(&self) -> bool {
        const SECOND_IS_CURRENT: u8 = 1;
        const NOT_CLOSED: u8 = 2;
        let seen = &self.disk().seen;
        let transaction = |at: usize| u64::from_le_bytes(seen[at..at + 8].try_into().unwrap());
        let (first, second) = (transaction(64 + 104), transaction(192 + 104));
        let is_newest = if seen[9] & SECOND_IS_CURRENT == 0 {
            first >= second
        } else {
            second >= first
        };
        seen[9] & NOT_CLOSED == 0 && !is_newest
    }

    fn holding(bytes: Vec<u8>) -> Self {
        let disk = Disk {
            seen: bytes.clone(),
            kept: bytes,
            ..Disk::default()
        };
        Self {
            disk: Arc::new(Mutex::new(disk)),
        }
    }
}

/// A cache so small that reads really reach the disk.
const SMALL_CACHE: LogFile = LogFile { cache_bytes: 4096 };

impl Flaky {
    /// The log on this disk; an empty one on a disk without content.
    pub(crate) fn open(&self) -> Result<OpenedLog, LogOpenError> {
        let source = Box::new(self.clone());
        let opened = DatabaseHandle::on(source, &SMALL_CACHE, open::create_tables);
        open::check_opened(Path::new("disk"), opened)
    }

    /// Like [`Self::open`], with the threads of the log.
    pub(crate) fn log(&self) -> RedbLog {
        RedbLog::over(self.open().unwrap()).unwrap()
    }
}

impl DatabaseSource for Flaky {
    fn open(&self) -> io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(self.clone()))
    }

    fn snapshot(&self) -> io::Result<Box<dyn StorageBackend>> {
        Ok(Box::new(self.after_kill()))
    }
}

impl StorageBackend for Flaky {
    fn len(&self) -> io::Result<u64> {
        Ok(self.disk().seen.len() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut disk = self.disk();
        count_down(&mut disk.plan.reads_before_failure)?;
        let offset = usize::try_from(offset).unwrap();
        let found = disk.seen.get(offset..offset + out.len());
        out.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        let mut disk = self.disk();
        let length = usize::try_from(len).unwrap();
        live(&mut disk.plan)?;
        if disk.plan.capacity.is_some_and(|capacity| length > capacity) {
            return Err(io::ErrorKind::StorageFull.into());
        }
        disk.change(Change::Resize(length));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut disk = self.disk();
        live(&mut disk.plan)?;
        let changes = std::mem::take(&mut disk.unsynced);
        // After a failed sync the kernel may forget what it could not write, and report no error again.
        count_down(&mut disk.plan.syncs_before_failure)?;
        for change in &changes {
            apply(&mut disk.kept, change);
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut disk = self.disk();
        live(&mut disk.plan)?;
        count_down(&mut disk.plan.writes_before_failure)?;
        disk.change(Change::Write(
            usize::try_from(offset).unwrap(),
            data.to_vec(),
        ));
        Ok(())
    }
}
