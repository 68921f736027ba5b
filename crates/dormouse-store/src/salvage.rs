//! Copying what is still readable of a damaged log into a new one.

use std::{
    fs::{self, File},
    io,
    path::{Path, PathBuf},
};

use dormouse_contracts::{AssistantId, Seq};
use dormouse_database::DatabaseHandle;

use crate::{
    fault::Fault,
    head,
    open::{self, Absence, LogOpenError},
    record,
    scan::{self, Found, Located, Readable},
    survey::survey,
    tables::{EVENTS, HEADS, key},
};

/// Events are copied in transactions of about this many bytes.
const BATCH_BYTES: usize = 8 * 1024 * 1024;

/// What was copied.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SalvageReport {
    /// For each assistant, how many events the new log holds, and why no more.
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
        /// What the operating system said.
        source: io::Error,
    },
    /// There is something at the place of the new log already; nothing is ever written over.
    #[error("{} exists already; choose another place for what is salvaged", path.display())]
    Exists {
        /// The place for the new log.
        path: PathBuf,
    },
    /// No event was found in the damaged file. No new log was made.
    #[error("no event can be read from {}; restore it from a backup", path.display())]
    Nothing {
        /// The damaged file.
        path: PathBuf,
    },
    /// The new log could not be made.
    #[error("the new log could not be made")]
    Create(#[source] LogOpenError),
    /// The new log could not be written. What there is of it is incomplete.
    #[error("the new log {} could not be written to its end and is incomplete; salvage into another file", path.display())]
    Write {
        /// The new log.
        path: PathBuf,
        /// Why.
        source: dormouse_contracts::BoxError,
    },
}

/// Searches `from` for events, whether or not it can be opened, and writes each assistant's events from the
/// first up to the first that is lost or contested into a new log at `into`. `from` is only read. Snapshots are
/// not copied; they are made again in time.
///
/// Blocks for as long as reading the whole file and writing as much takes. Stop the program that has `from` open
/// first: of a file that is being written, a moment's mixture would be copied.
///
/// # Errors
///
/// [`SalvageError`]; `from` is as it was.
pub fn salvage(from: &Path, into: &Path) -> Result<SalvageReport, SalvageError> {
    if fs::symlink_metadata(into).is_ok() {
        return Err(SalvageError::Exists { path: into.into() });
    }
    let unreadable = |source| SalvageError::Read {
        path: from.into(),
        source,
    };
    let found = survey(from).map_err(unreadable)?;
    let assistants = found.readable();
    if assistants.iter().all(|log| log.events == 0) {
        return Err(SalvageError::Nothing { path: from.into() });
    }
    let mut source = File::open(from).map_err(unreadable)?;
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

/// Copies one assistant's believable events, record by record, byte by byte.
fn copy(
    source: &mut File,
    found: &Found,
    assistant: &AssistantId,
    database: &DatabaseHandle,
) -> Result<(), Fault> {
    let located = found.prefix(assistant);
    let mut rest = located.as_slice();
    let mut end = Seq::ZERO;
    while !rest.is_empty() {
        let (batch, later) = rest.split_at(batch_length(rest));
        rest = later;
        database.write(|transaction| {
            {
                let mut events = transaction.open_table(EVENTS)?;
                for place in batch {
                    end = end.next();
                    let bytes = record_again(source, *place, assistant, end)?;
                    events.insert(key(assistant, end).as_slice(), bytes.as_slice())?;
                }
                transaction.open_table(HEADS)?.insert(
                    assistant.as_str().as_bytes(),
                    head::encode(assistant, end).as_slice(),
                )?;
            }
            Ok::<_, Fault>(transaction.commit()?)
        })?;
    }
    Ok(())
}

/// How many of the next records share a transaction; at least one.
fn batch_length(records: &[Located]) -> usize {
    let mut bytes = 0_usize;
    let fitting = records.iter().take_while(|record| {
        bytes = bytes.saturating_add(record.length);
        bytes <= BATCH_BYTES
    });
    fitting.count().max(1)
}

/// Reads a record that was found before; a failing disk may answer differently the second time.
fn record_again(
    source: &mut File,
    place: Located,
    assistant: &AssistantId,
    seq: Seq,
) -> Result<Vec<u8>, Fault> {
    let bytes = scan::read_at(source, place.offset, place.length)
        .map_err(Fault::Io)?
        .ok_or(Fault::Io(io::ErrorKind::UnexpectedEof.into()))?;
    record::decode_at(assistant, seq, &bytes)
        .map_err(|fault| Fault::Unusable(crate::reading::unusable(fault, seq)))?;
    Ok(bytes)
}
