//! Bringing records in.

use std::io::{self, BufRead, Read};

use serde::Serialize;

use super::line::{LINE_LIMIT, Line, LineError};
use crate::{
    memory::{Memory, MemoryError},
    note::Note,
    ops::Added,
};

/// How many records are stored in one write.
const BATCH: usize = 512;
/// From how many bytes of lines on they are stored, so that large records do not pile up.
const BATCH_BYTES: usize = 4 << 20;

/// What came of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Lines that were read, but for empty ones.
    pub lines: u64,
    /// Records that are new.
    pub added: u64,
    /// Records that were there already, by their origin.
    pub known: u64,
    /// Lines that were not taken in.
    pub refused: u64,
}

/// How far an import has come.
#[derive(Debug)]
#[non_exhaustive]
pub enum ImportStep {
    /// A line was not taken in; the rest goes on.
    Refused {
        /// Which, counted from 1, empty ones included.
        line: u64,
        /// Why.
        error: LineError,
    },
    /// So much is on disk.
    Stored(Imported),
}

/// Why an import stopped. What was told as stored is on disk; importing the same again goes on from there.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// The lines could not be read any further.
    #[error("line {line} could not be read")]
    Read {
        /// Which, counted from 1.
        line: u64,
        /// What the operating system said.
        source: io::Error,
    },
    /// The memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Memory {
    /// Adds the records of a file of JSON lines, in writes of some hundred. A line that is none is told and passed over;
    /// one that is there already, by its origin, changes nothing. Needs memory for one such write, however long the file.
    ///
    /// Dropping the future stops it after a write.
    ///
    /// # Errors
    ///
    /// [`ImportError`] if the file or the memory fails.
    pub async fn import(
        &self,
        lines: impl BufRead + Send + 'static,
        reason: &str,
        mut tell: impl FnMut(ImportStep),
    ) -> Result<Imported, ImportError> {
        let mut lines = Lines { lines, number: 0 };
        let mut imported = Imported::default();
        loop {
            let (back, batch) = tokio::task::spawn_blocking(move || {
                let batch = lines.batch();
                (lines, batch)
            })
            .await
            .map_err(|_stopped| MemoryError::Stopped)?;
            lines = back;
            let batch = batch?;
            imported.lines += batch.read;
            for (line, error) in batch.refused {
                imported.refused += 1;
                tell(ImportStep::Refused { line, error });
            }
            for added in self.add_all(batch.notes, reason).await? {
                match added {
                    Added::New(_) => imported.added += 1,
                    Added::AlreadyThere(_) => imported.known += 1,
                }
            }
            tell(ImportStep::Stored(imported));
            if batch.ended {
                return Ok(imported);
            }
        }
    }
}

/// Lines that are being read.
struct Lines<R> {
    lines: R,
    /// The last line that was read.
    number: u64,
}

/// Some lines.
#[derive(Default)]
struct Batch {
    notes: Vec<Note>,
    refused: Vec<(u64, LineError)>,
    read: u64,
    ended: bool,
}

impl<R: BufRead> Lines<R> {
    fn batch(&mut self) -> Result<Batch, ImportError> {
        let mut batch = Batch::default();
        let mut bytes = 0;
        let mut line = Vec::new();
        while (batch.read as usize) < BATCH && bytes < BATCH_BYTES {
            self.number += 1;
            let whole =
                read_line(&mut self.lines, &mut line).map_err(|source| ImportError::Read {
                    line: self.number,
                    source,
                })?;
            if matches!(whole, Whole::End) {
                batch.ended = true;
                break;
            }
            let text = match self.number {
                1 => line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&line),
                _ => &line,
            };
            if text.trim_ascii().is_empty() {
                continue;
            }
            batch.read += 1;
            bytes += text.len();
            let note = match whole {
                Whole::Line => Line::read(text),
                Whole::TooLong | Whole::End => Err(LineError::TooLong),
            };
            match note {
                Ok(note) => batch.notes.push(note),
                Err(error) => batch.refused.push((self.number, error)),
            }
        }
        Ok(batch)
    }
}

/// How a line was read.
enum Whole {
    Line,
    /// Only its beginning; the rest was passed over.
    TooLong,
    /// There was none.
    End,
}

fn read_line(lines: &mut impl BufRead, line: &mut Vec<u8>) -> io::Result<Whole> {
    line.clear();
    let most = LINE_LIMIT as u64 + 1;
    if lines.by_ref().take(most).read_until(b'\n', line)? == 0 {
        return Ok(Whole::End);
    }
    if line.len() <= LINE_LIMIT || line.ends_with(b"\n") {
        return Ok(Whole::Line);
    }
    lines.skip_until(b'\n')?;
    // What is kept of it is for nothing but to see that it is not empty.
    line.truncate(64);
    Ok(Whole::TooLong)
}
