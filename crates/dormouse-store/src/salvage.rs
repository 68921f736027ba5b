//! Copies the readable events of a damaged log into a new one.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use dormouse_contracts::{AssistantId, Seq};
use dormouse_database::DatabaseHandle;

use crate::{
    events,
    fault::Fault,
    open::{self, Absence, LogOpenError},
    rewrite::BATCH_BYTES,
    rows::{EVENTS, HEADS, decode_event_at, encode_head, key},
    scan::{self, EventLocation, FoundEvents, LogPart, Readable},
    wal::write_ahead_file,
};

/// What was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SalvageReport {
    /// How many events of each assistant the new log contains, and why there are no more.
    pub assistants: Vec<Readable>,
}

/// Why nothing was salvaged.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SalvageError {
    /// The damaged file could not be read.
    #[error("the damaged log {} could not be read", path.display())]
    Read {
        /// The damaged file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The path of the new log exists already. Nothing is ever overwritten.
    #[error("{} exists already; choose another path for the new log", path.display())]
    Exists {
        /// The path of the new log.
        path: PathBuf,
    },
    /// No event was found in the damaged file. No new log was created.
    #[error("no event can be read from {}; restore it from a backup", path.display())]
    Nothing {
        /// The damaged file.
        path: PathBuf,
    },
    /// The new log could not be created.
    #[error("the new log could not be created")]
    Create(#[source] LogOpenError),
    /// The new log could not be written completely.
    #[error("the new log {} is incomplete, because it could not be written; salvage into another file", path.display())]
    Write {
        /// The new log.
        path: PathBuf,
        /// The cause.
        source: dormouse_contracts::BoxError,
    },
}

/// Copies the readable events of the file `from` and of its write-ahead file into a new log at `into`. The file need not be one
/// that can be opened. Each assistant's events are copied in order, up to the first one that is lost or has conflicting
/// versions in the file. `from` is only read. Snapshots are not copied, because they can be made again.
///
/// Blocks until the whole file is read and the events are written. Stop the program that has `from` open first: while a
/// file is being written, the copy could mix two of its states.
///
/// # Errors
///
/// [`SalvageError`]; `from` is unchanged.
pub fn salvage(from: &Path, into: &Path) -> Result<SalvageReport, SalvageError> {
    if fs::symlink_metadata(into).is_ok() {
        return Err(SalvageError::Exists { path: into.into() });
    }
    let unreadable = |source| SalvageError::Read {
        path: from.into(),
        source,
    };
    let found = scan::scan(from).map_err(unreadable)?;
    let assistants = found.readable();
    if assistants.iter().all(|log| log.events == 0) {
        return Err(SalvageError::Nothing { path: from.into() });
    }
    let mut source = Source {
        log: File::open(from).map_err(unreadable)?,
        ahead: File::open(write_ahead_file(from)).ok(),
    };
    let opened = open::open(into, Absence::Create).map_err(SalvageError::Create)?;
    let copied = assistants
        .iter()
        .try_for_each(|log| copy(&mut source, &found, &log.assistant, &opened.database));
    opened.database.close();
    copied.map_err(|fault| SalvageError::Write {
        path: into.into(),
        source: Box::new(fault),
    })?;
    Ok(SalvageReport { assistants })
}

/// The files of the damaged log.
struct Source {
    log: File,
    ahead: Option<File>,
}

/// Copies one assistant's readable events, byte by byte.
fn copy(
    source: &mut Source,
    found: &FoundEvents,
    assistant: &AssistantId,
    database: &DatabaseHandle,
) -> Result<(), Fault> {
    let locations = found.prefix(assistant);
    let mut rest = locations.as_slice();
    let mut end = Seq::ZERO;
    while !rest.is_empty() {
        let (batch, later) = rest.split_at(batch_length(rest));
        rest = later;
        database.write(|transaction| {
            {
                let mut events = transaction.open_table(EVENTS)?;
                for location in batch {
                    end = end.next();
                    let bytes = read_again(source, *location, assistant, end)?;
                    events.insert(key(assistant, end).as_slice(), bytes.as_slice())?;
                }
                // The head is written in the transaction of its events, so an interrupted copy opens as a shorter log.
                transaction.open_table(HEADS)?.insert(
                    assistant.as_str().as_bytes(),
                    encode_head(assistant, end).as_slice(),
                )?;
            }
            Ok::<_, Fault>(transaction.commit()?)
        })?;
    }
    Ok(())
}

/// How many of the next events share a transaction; at least one.
fn batch_length(events: &[EventLocation]) -> usize {
    let mut bytes = 0_usize;
    let fitting = events.iter().take_while(|event| {
        bytes = bytes.saturating_add(event.length);
        bytes <= BATCH_BYTES
    });
    // An event larger than a batch still needs a transaction.
    fitting.count().max(1)
}

/// Reads an event that was found before. It is checked again, because a failing disk may return other bytes this time.
fn read_again(
    source: &mut Source,
    location: EventLocation,
    assistant: &AssistantId,
    seq: Seq,
) -> Result<Vec<u8>, Fault> {
    let file = match location.file {
        LogPart::Log => Some(&mut source.log),
        LogPart::WriteAhead => source.ahead.as_mut(),
    };
    let file = file.ok_or(io::Error::from(io::ErrorKind::NotFound))?;
    let bytes = scan::read_at(file, location.offset, location.length)?
        .ok_or(io::Error::from(io::ErrorKind::UnexpectedEof))?;
    decode_event_at(assistant, seq, &bytes)
        .map_err(|fault| Fault::Unusable(events::unusable(fault, seq)))?;
    Ok(bytes)
}
