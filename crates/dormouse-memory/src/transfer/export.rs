//! Exporting records.

use std::io::{self, Write};

use serde::Serialize;

use super::line::Line;
use crate::{
    memory::{Memory, MemoryError},
    record::RecordId,
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

/// Some lines of an export.
#[derive(Clone, Debug)]
pub struct ExportPage {
    /// The lines; none if all records of the page are left out.
    pub lines: Vec<u8>,
    /// The last record that was read.
    pub last: RecordId,
    /// How many records were written.
    pub exported: Exported,
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
        while let Some(page) = self.export_page(after).await? {
            out.write_all(&page.lines)?;
            exported.records += page.exported.records;
            exported.left_out += page.exported.left_out;
            after = Some(page.last);
        }
        out.flush()?;
        Ok(exported)
    }

    /// The lines of a few records after this one, as [`Memory::export`] writes them; `None` if there are no more records.
    ///
    /// # Errors
    ///
    /// [`ExportError`] if the memory fails.
    pub async fn export_page(
        &self,
        after: Option<RecordId>,
    ) -> Result<Option<ExportPage>, ExportError> {
        let page = self.records(after, PAGE).await?;
        let Some(last) = page.last().map(|record| record.id) else {
            return Ok(None);
        };
        let (mut lines, mut exported) = (Vec::new(), Exported::default());
        for record in page {
            if record.is_in_use() {
                serde_json::to_writer(&mut lines, &Line::of(record, self.assistant()))?;
                lines.push(b'\n');
                exported.records += 1;
            } else {
                exported.left_out += 1;
            }
        }
        Ok(Some(ExportPage {
            lines,
            last,
            exported,
        }))
    }
}
