//! Importing records.

use std::io::{self, BufRead, Read};

use serde::Serialize;

use super::line::{ImportClaims, LINE_LIMIT, Line, LineError};
use crate::note::Note;

/// How many records are stored in one write.
const BATCH: usize = 512;
/// A batch ends with the line that reaches this many bytes. With that line, it still fits into one event of a log.
const BATCH_BYTES: usize = 1 << 20;

/// The counts of an import.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Imported {
    /// Lines that were read, except empty ones.
    pub lines: u64,
    /// New records.
    pub added: u64,
    /// Records that already existed, by their origin.
    pub known: u64,
    /// Lines that were refused.
    pub refused: u64,
}

/// Why an import stopped. What was stored stays; importing the same file again adds the rest.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ImportError {
    /// A line could not be read.
    #[error("line {line} could not be read")]
    Read {
        /// The number of the line, from 1.
        line: u64,
        /// The error of the operating system.
        source: io::Error,
    },
}

/// Lines that are being read.
#[derive(Debug)]
pub struct ImportLines<R> {
    lines: R,
    /// The last line that was read.
    number: u64,
    claims: ImportClaims,
}

/// Some lines, few enough for one write, or for one event of a log.
#[derive(Debug, Default)]
pub struct ImportBatch {
    /// The notes.
    pub notes: Vec<Note>,
    /// The lines that are not valid records, by number from 1.
    pub refused: Vec<(u64, LineError)>,
    /// How many lines were read, except empty ones.
    pub read: u64,
    /// Whether these were the last lines.
    pub ended: bool,
}

impl<R: BufRead> ImportLines<R> {
    /// The lines of a file, with what they may claim.
    pub fn new(lines: R, claims: ImportClaims) -> Self {
        Self {
            lines,
            number: 0,
            claims,
        }
    }

    /// The same lines, numbered as those after the first `read` lines of a file that comes in parts.
    #[must_use]
    pub fn after(self, read: u64) -> Self {
        Self {
            number: read,
            ..self
        }
    }

    /// How many lines were read, empty ones included.
    #[must_use]
    pub fn read(&self) -> u64 {
        self.number
    }

    /// Reads the next lines. Blocks while the file does.
    ///
    /// # Errors
    ///
    /// [`ImportError::Read`] if the file cannot be read.
    pub fn next_batch(&mut self) -> Result<ImportBatch, ImportError> {
        let mut batch = ImportBatch::default();
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
                // There is no such line.
                self.number -= 1;
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
                Whole::Line => Line::read(text, self.claims),
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
    /// Only its beginning was read; the rest was skipped.
    TooLong,
    /// There are no more lines.
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
    // The caller only checks that the line is not empty.
    line.truncate(64);
    Ok(Whole::TooLong)
}
