//! Reads a log in a read-only folder, or while another process writes it.

use std::path::Path;

use dormouse_contracts::{
    AssistantId, BoxFuture, LoadSnapshot, ReadError, ReadEvents, Seq, Snapshot, StoredEvent,
};

use crate::{
    log::RedbLog,
    open::{self, LogOpenError},
    verify::VerifyReport,
};

/// A read-only view: of a file as it was when the view was opened, or of a log that is open in this process.
///
/// # Examples
///
/// ```
/// use dormouse_store::{LogView, RedbLog};
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let folder = tempfile::tempdir()?;
/// let path = folder.path().join("life.redb");
/// let _log = RedbLog::open(&path)?;
/// let view = LogView::open(&path)?;
/// assert!(view.is_in_use());
/// assert!(view.verify()?.is_intact());
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct LogView {
    log: RedbLog,
    is_in_use: bool,
}

impl LogView {
    /// Opens the newest commit of the log in the file `path`, which must exist. Writes and locks nothing, so this works
    /// in a read-only folder, and while another process has the log open.
    ///
    /// A log that another process uses is copied into memory if it is at most 1 GiB long. A longer log is read from the
    /// file, and reading fails once the other process has written to that file. Most appends do not write to it: they go to
    /// the write-ahead file, which is always copied. Blocks as [`RedbLog::open`] does.
    ///
    /// # Errors
    ///
    /// [`LogOpenError`], except [`LogOpenError::InUse`]. It is [`LogOpenError::Io`], among other reasons, if the other
    /// process writes faster than the log can be copied.
    pub fn open(path: &Path) -> Result<Self, LogOpenError> {
        let opened = open::view(path)?;
        let is_in_use = opened.database.is_in_use();
        let log = RedbLog::over(opened).map_err(|error| LogOpenError::io(path, error))?;
        Ok(Self { log, is_in_use })
    }

    /// A view of a log that is open in this process. It shows every event as soon as it is written, and needs no copy.
    #[must_use]
    pub fn of(log: &RedbLog) -> Self {
        Self {
            log: log.clone(),
            is_in_use: false,
        }
    }

    /// Whether another process had the log open when the view was opened, so that there may be more events by now.
    #[must_use]
    pub fn is_in_use(&self) -> bool {
        self.is_in_use
    }

    /// As [`RedbLog::assistants`].
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the table is damaged or the storage failed.
    pub fn assistants(&self) -> Result<Vec<(AssistantId, Seq)>, ReadError> {
        self.log.assistants()
    }

    /// As [`RedbLog::verify`]. If no other process had the log open, every page of the file is also compared with its
    /// checksum.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the storage failed, or if pages are damaged that contain no event.
    pub fn verify(&self) -> Result<VerifyReport, ReadError> {
        self.log.verify()
    }
}

impl ReadEvents for LogView {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        self.log.read(assistant, after, limit)
    }
}

impl LoadSnapshot for LogView {
    fn load_snapshot<'a>(
        &'a self,
        assistant: &'a AssistantId,
        up_to: Seq,
    ) -> BoxFuture<'a, Result<Option<Snapshot>, ReadError>> {
        self.log.load_snapshot(assistant, up_to)
    }
}
