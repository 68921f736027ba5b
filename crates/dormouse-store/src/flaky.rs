//! Storage in memory that fails on request, and can lose unsynced writes.

use std::{
    io,
    path::Path,
    sync::{Arc, Mutex, MutexGuard},
};

use dormouse_database::{DatabaseHandle, DatabaseSource, PendingCommits};
use redb::StorageBackend;

use crate::{
    RedbLog,
    open::{self, LogOpenError, OpenedLog},
    signature::LogFile,
    wal::{PendingAppends, WalStore},
};

/// A disk in memory. Clones are the same disk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Flaky {
    disk: Arc<Mutex<Disk>>,
    /// The file of the disk that reads and writes reach.
    part: Part,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Part {
    #[default]
    Log,
    WriteAhead,
}

#[derive(Debug, Default)]
struct Disk {
    files: [Content; 2],
    plan: Plan,
    syncs: u32,
}

#[derive(Debug, Default)]
struct Content {
    /// What a reader sees: what was written, synced or not.
    seen: Vec<u8>,
    /// What is left after a power failure.
    kept: Vec<u8>,
    unsynced: Vec<Change>,
}

#[derive(Debug)]
enum Change {
    Write(usize, Vec<u8>),
    Resize(usize),
}

/// What will fail. Each call decrements its counter. A call that finds its counter at zero fails, and the next one succeeds
/// unless further failures are planned.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Plan {
    /// How many bytes fit on the disk.
    pub(crate) capacity: Option<usize>,
    pub(crate) syncs_before_failure: Option<u32>,
    pub(crate) writes_before_failure: Option<u32>,
    pub(crate) reads_before_failure: Option<u32>,
    /// How many of the calls after a failed one fail, too.
    pub(crate) further_failures: u32,
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

impl Plan {
    fn count_down(&mut self, of: impl Fn(&mut Self) -> &mut Option<u32>) -> io::Result<()> {
        match of(self) {
            Some(0) => {
                match self.further_failures.checked_sub(1) {
                    Some(left) => self.further_failures = left,
                    None => *of(self) = None,
                }
                Err(io::Error::other("fails on request"))
            }
            Some(left) => {
                *left -= 1;
                Ok(())
            }
            None => Ok(()),
        }
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

impl Content {
    fn of(bytes: Vec<u8>) -> Self {
        Self {
            seen: bytes.clone(),
            kept: bytes,
            unsynced: Vec::new(),
        }
    }

    fn change(&mut self, change: Change) {
        apply(&mut self.seen, &change);
        self.unsynced.push(change);
    }
}

impl Disk {
    fn file(&mut self, part: Part) -> &mut Content {
        &mut self.files[part as usize]
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

    /// How often a file was synced.
    pub(crate) fn syncs(&self) -> u32 {
        self.disk().syncs
    }

    pub(crate) fn length(&self) -> usize {
        self.disk().file(self.part).seen.len()
    }

    /// The other file of the same disk.
    pub(crate) fn part(&self, part: Part) -> Self {
        let disk = Arc::clone(&self.disk);
        Self { disk, part }
    }

    /// What this file holds now.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.disk().file(self.part).seen.clone()
    }

    /// Another disk with these two files.
    pub(crate) fn with(log: Vec<u8>, write_ahead: Vec<u8>) -> Self {
        let disk = Disk {
            files: [log, write_ahead].map(Content::of),
            ..Disk::default()
        };
        Self {
            disk: Arc::new(Mutex::new(disk)),
            part: Part::Log,
        }
    }

    /// The disk as it is found after a power failure at this moment.
    pub(crate) fn after_power_failure(&self) -> Self {
        let disk = self.disk();
        let [log, write_ahead] = &disk.files;
        Self::with(log.kept.clone(), write_ahead.kept.clone())
    }

    /// The disk as it is found after a power failure that interrupts the writing of what was not synced. Chance decides for
    /// each sector whether it was written.
    pub(crate) fn after_torn_writes(&self, seed: u64) -> Self {
        let mut state = seed;
        let mut is_written = || {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            state >> 63 == 1
        };
        let torn = self.after_power_failure();
        for (of, file) in self.disk().files.iter().zip(&mut torn.disk().files) {
            for change in &of.unsynced {
                match change {
                    Change::Resize(_) => apply(&mut file.seen, change),
                    Change::Write(offset, data) => {
                        for (number, sector) in data.chunks(SECTOR_BYTES).enumerate() {
                            if is_written() {
                                let at = offset + number * SECTOR_BYTES;
                                apply(&mut file.seen, &Change::Write(at, sector.to_vec()));
                            }
                        }
                    }
                }
            }
            file.kept = file.seen.clone();
        }
        torn
    }

    /// The disk as it is found after the process was killed at this moment: what was written is there, synced or not.
    pub(crate) fn after_kill(&self) -> Self {
        let disk = self.disk();
        let [log, write_ahead] = &disk.files;
        Self::with(log.seen.clone(), write_ahead.seen.clone())
    }
}

/// The smallest unit that a disk writes.
const SECTOR_BYTES: usize = 512;

/// A cache so small that reads really reach the disk.
const SMALL_CACHE: LogFile = LogFile { cache_bytes: 4096 };

impl Flaky {
    /// The log on this disk; an empty one on a disk without content.
    pub(crate) fn open(&self) -> Result<OpenedLog, LogOpenError> {
        let source = Box::new(self.clone());
        let opened = DatabaseHandle::on(source, &SMALL_CACHE, open::create_tables);
        let mut opened = open::check_opened(Path::new("disk"), opened)?;
        opened.ahead = Some(Box::new(self.part(Part::WriteAhead)));
        Ok(opened)
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

    fn pending_commits(&self) -> Option<Box<dyn PendingCommits>> {
        Some(Box::new(PendingAppends(self.part(Part::WriteAhead))))
    }
}

impl WalStore for Flaky {
    fn read(&self) -> io::Result<Option<Vec<u8>>> {
        let mut disk = self.disk();
        disk.plan
            .count_down(|plan| &mut plan.reads_before_failure)?;
        Ok(Some(disk.file(self.part).seen.clone()).filter(|bytes| !bytes.is_empty()))
    }

    /// As on a file system, a removed file is back after a power failure, unless its folder was synced.
    fn create(&self) -> io::Result<Box<dyn StorageBackend>> {
        let mut disk = self.disk();
        live(&mut disk.plan)?;
        *disk.file(self.part) = Content::default();
        Ok(Box::new(self.clone()))
    }

    fn remove(&self) -> io::Result<()> {
        let mut disk = self.disk();
        live(&mut disk.plan)?;
        let file = disk.file(self.part);
        file.seen.clear();
        file.unsynced.clear();
        Ok(())
    }
}

impl StorageBackend for Flaky {
    fn len(&self) -> io::Result<u64> {
        Ok(self.length() as u64)
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let mut disk = self.disk();
        disk.plan
            .count_down(|plan| &mut plan.reads_before_failure)?;
        let offset = usize::try_from(offset).unwrap();
        let found = disk.file(self.part).seen.get(offset..offset + out.len());
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
        disk.file(self.part).change(Change::Resize(length));
        Ok(())
    }

    fn sync_data(&self) -> io::Result<()> {
        let mut disk = self.disk();
        live(&mut disk.plan)?;
        disk.syncs += 1;
        let changes = std::mem::take(&mut disk.file(self.part).unsynced);
        // After a failed sync the kernel may forget what it could not write, and report no error again.
        disk.plan
            .count_down(|plan| &mut plan.syncs_before_failure)?;
        for change in &changes {
            apply(&mut disk.file(self.part).kept, change);
        }
        Ok(())
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        let mut disk = self.disk();
        live(&mut disk.plan)?;
        disk.plan
            .count_down(|plan| &mut plan.writes_before_failure)?;
        disk.file(self.part).change(Change::Write(
            usize::try_from(offset).unwrap(),
            data.to_vec(),
        ));
        Ok(())
    }
}
