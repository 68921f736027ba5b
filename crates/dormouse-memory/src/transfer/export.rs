//! Exporting records.

use std::io::{self, Write};

use dormouse_contracts::AssistantId;
use serde::Serialize;

use super::line::Line;
use crate::{
    memory::{Memory, MemoryError},
    record::Record,
};

/// How many records are read at a time.
const PAGE: usize = 64;

/// The result of an export.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Exported {
    /// Records that were written.
    pub records: u64,
    /// Records that were left out because they are withdrawn or folded.
    pub left_out: u64,
}

/// Why an export stopped. The lines that were written are valid, but some are missing.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExportError {
    /// The lines could not be written.
    #[error("the records could not be written")]
    Write(#[from] io::Error),
    /// A record could not be put into a line.
    #[error("a record could not be put into JSON")]
    Json(#[from] serde_json::Error),
    /// The memory failed.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Memory {
    /// Writes every record that is in use as one JSON line, in the order of their ids, and flushes. Records that are
    /// added meanwhile are written too. [`ImportLines`](super::ImportLines) reads the lines.
    ///
    /// # Errors
    ///
    /// [`ExportError`] if `out` or the memory fails.
    pub async fn export(&self, mut out: impl Write + Send) -> Result<Exported, ExportError> {
        let mut exported = Exported::default();
        let mut after = None;
        loop {
            let page = self.records(after, PAGE).await?;
            let Some(last) = page.last().map(|record| record.id) else {
                break;
            };
            for record in page {
                if record.is_in_use() {
                    write(&mut out, record, self.assistant())?;
                    exported.records += 1;
                } else {
                    exported.left_out += 1;
                }
            }
            after = Some(last);
        }
        out.flush()?;
        Ok(exported)
    }
}

fn write(out: &mut impl Write, record: Record, assistant: &AssistantId) -> Result<(), ExportError> {
    let mut line = serde_json::to_vec(&Line::of(record, assistant))?;
    line.push(b'\n');
    Ok(out.write_all(&line)?)
}
