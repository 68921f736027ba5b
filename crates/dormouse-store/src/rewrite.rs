//! Copies a log into a new file with changed payloads, so that no byte of the new file holds removed words.

use std::{
    io,
    path::{Path, PathBuf},
};

use dormouse_contracts::{AssistantId, BoxError, NewEvent, ReadError, Seq, StoredEvent};
use dormouse_database::DatabaseHandle;
use redb::ReadableTable;

use crate::{
    events,
    fault::Fault,
    log::RedbLog,
    open::{self, Absence, LogOpenError},
    rows::{
        EVENTS, HEADS, MAX_PAYLOAD_BYTES, META, encode_event, encode_head, encode_stored,
        is_acceptable, key,
    },
    signature::is_copied,
};

/// How many events are read at a time.
const PAGE: usize = 1024;
/// Events are written in transactions of about this many bytes.
pub(crate) const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// Decides the new payload of each event while a log is rewritten.
pub trait RewriteEvents {
    /// The new payload of this event; `None` if the event stays as it is. Its number, time, kind and schema always stay.
    ///
    /// The events of one assistant come in order, one assistant after the other.
    ///
    /// # Errors
    ///
    /// Any error ends the rewriting.
    fn payload(
        &mut self,
        assistant: &AssistantId,
        event: &StoredEvent,
    ) -> Result<Option<Vec<u8>>, BoxError>;

    /// The events to append after the last one of this assistant.
    ///
    /// # Errors
    ///
    /// Any error ends the rewriting.
    fn appended(&mut self, assistant: &AssistantId) -> Result<Vec<NewEvent>, BoxError>;
}

/// What was written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct RewriteReport {
    /// How many events the new log has.
    pub events: u64,
    /// How many of them have a different payload in the old log.
    pub changed: u64,
}

/// A log was not rewritten. It is unchanged, and the new file is incomplete or missing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RewriteError {
    /// The log could not be read.
    #[error("the log could not be read")]
    Read(#[from] ReadError),
    /// The new file could not be created.
    #[error("the new log could not be created")]
    Create(#[source] LogOpenError),
    /// The new file could not be written.
    #[error("the new log {} could not be written", path.display())]
    Write {
        /// The new file.
        path: PathBuf,
        /// The cause.
        source: BoxError,
    },
    /// An event was not changed, because the change failed.
    #[error("event {seq} of {assistant} could not be rewritten")]
    Change {
        /// Whose log.
        assistant: AssistantId,
        /// The event, or the first number after the log's end if the appended events could not be made.
        seq: Seq,
        /// The cause.
        source: BoxError,
    },
}

impl RedbLog {
    /// Copies this log into a new file at `into`, with the payloads that `change` gives. Snapshots are not copied,
    /// because they can hold what was removed from the events. [`Creation`](crate::Creation) is copied.
    ///
    /// This log is only read. Blocks until the new file is complete, on disk and closed. Takes one page of events into
    /// memory at a time. Events that are appended to this log meanwhile may be missing in the copy.
    ///
    /// # Errors
    ///
    /// [`RewriteError`]. What was written of the new file stays; remove it.
    pub fn rewrite(
        &self,
        into: &Path,
        change: &mut dyn RewriteEvents,
    ) -> Result<RewriteReport, RewriteError> {
        let assistants = self.assistants()?;
        let opened = open::open(into, Absence::Create).map_err(RewriteError::Create)?;
        let mut copy = Copy {
            from: self.database(),
            database: &opened.database,
            into,
            report: RewriteReport::default(),
        };
        let copied = copy.facts().and_then(|()| {
            let mut all = assistants.iter();
            all.try_for_each(|(assistant, _)| copy.assistant(assistant, change))
        });
        let report = copy.report;
        opened.database.close();
        copied.map(|()| report)
    }
}

/// A log that is being copied.
struct Copy<'a> {
    from: &'a DatabaseHandle,
    database: &'a DatabaseHandle,
    into: &'a Path,
    report: RewriteReport,
}

/// The frames of events that are written together.
#[derive(Default)]
struct Batch {
    frames: Vec<(Seq, Vec<u8>)>,
    bytes: usize,
}

impl Batch {
    fn push(&mut self, seq: Seq, frame: Vec<u8>) {
        self.bytes += frame.len();
        self.frames.push((seq, frame));
    }
}

impl Copy<'_> {
    /// Copies when and by which program the file was created.
    fn facts(&self) -> Result<(), RewriteError> {
        let facts = || -> Result<Vec<[Vec<u8>; 2]>, Fault> {
            let table = self.from.begin_read()?.open_table(META)?;
            let mut facts = Vec::new();
            for entry in table.iter()? {
                let (name, fact) = entry?;
                if !is_copied(name.value()) {
                    continue;
                }
                facts.push([name.value().to_vec(), fact.value().to_vec()]);
            }
            Ok(facts)
        };
        let facts = facts().map_err(Fault::into_read_error)?;
        let written = self.database.write(|transaction| {
            {
                let mut table = transaction.open_table(META)?;
                for [name, fact] in &facts {
                    table.insert(name.as_slice(), fact.as_slice())?;
                }
            }
            Ok::<_, Fault>(transaction.commit()?)
        });
        written.map_err(|fault| self.unwritten(fault))
    }

    fn assistant(
        &mut self,
        assistant: &AssistantId,
        change: &mut dyn RewriteEvents,
    ) -> Result<(), RewriteError> {
        let failed = |seq: Seq| {
            move |source: BoxError| RewriteError::Change {
                assistant: assistant.clone(),
                seq,
                source,
            }
        };
        let mut end = Seq::ZERO;
        let mut batch = Batch::default();
        loop {
            let page = events::page(self.from, assistant, end, PAGE);
            let page = page.map_err(Fault::into_read_error)?;
            if page.is_empty() {
                break;
            }
            for mut event in page {
                end = event.seq;
                let payload = change.payload(assistant, &event).map_err(failed(end))?;
                if let Some(payload) = payload {
                    if payload.len() > MAX_PAYLOAD_BYTES {
                        let too_large = io::Error::from(io::ErrorKind::FileTooLarge);
                        return Err(failed(end)(too_large.into()));
                    }
                    event.payload = payload;
                    self.report.changed += 1;
                }
                batch.push(end, encode_stored(assistant, &event));
                if batch.bytes >= BATCH_BYTES {
                    self.write(assistant, &std::mem::take(&mut batch))?;
                }
            }
        }
        let appended = change.appended(assistant).map_err(failed(end.next()))?;
        for event in &appended {
            end = end.next();
            if !is_acceptable(event) {
                return Err(failed(end)(
                    io::Error::from(io::ErrorKind::InvalidData).into(),
                ));
            }
            batch.push(end, encode_event(assistant, end, event));
        }
        self.write(assistant, &batch)
    }

    fn write(&mut self, assistant: &AssistantId, batch: &Batch) -> Result<(), RewriteError> {
        let Some((end, _)) = batch.frames.last() else {
            return Ok(());
        };
        let written = self.database.write(|transaction| {
            {
                let mut events = transaction.open_table(EVENTS)?;
                for (seq, frame) in &batch.frames {
                    events.insert(key(assistant, *seq).as_slice(), frame.as_slice())?;
                }
                transaction.open_table(HEADS)?.insert(
                    assistant.as_str().as_bytes(),
                    encode_head(assistant, *end).as_slice(),
                )?;
            }
            Ok::<_, Fault>(transaction.commit()?)
        });
        self.report.events += batch.frames.len() as u64;
        written.map_err(|fault| self.unwritten(fault))
    }

    fn unwritten(&self, fault: Fault) -> RewriteError {
        RewriteError::Write {
            path: self.into.into(),
            source: Box::new(fault),
        }
    }
}
