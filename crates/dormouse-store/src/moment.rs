//! The whole log as it was at one moment, copied into a new file while appends go on.

use std::{fmt, path::Path};

use dormouse_contracts::ReadError;
use dormouse_database::DatabaseHandle;
use redb::{ReadTransaction, ReadableTable, TableDefinition, TableError, TableHandle};

use crate::{
    fault::{Fault, contained},
    log::RedbLog,
    open::{self, Absence},
    rewrite::{BATCH_BYTES, RewriteError},
    rows::{EVENTS, HEADS, META, SNAPSHOTS},
    signature::is_copied,
};

/// The log of all assistants as it was at one moment. While this exists, the file keeps the pages of that moment, even if
/// later commits no longer need them.
pub struct LogMoment(ReadTransaction);

impl fmt::Debug for LogMoment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogMoment").finish_non_exhaustive()
    }
}

impl RedbLog {
    /// The log as it is now: every append that was confirmed before this call, and none that begins after it. Takes no time.
    ///
    /// # Errors
    ///
    /// [`ReadError`] if the storage failed or the log is closed.
    pub fn moment(&self) -> Result<LogMoment, ReadError> {
        let begun = contained(|| Ok(self.database().begin_read()?));
        Ok(LogMoment(begun.map_err(Fault::into_read_error)?))
    }
}

impl LogMoment {
    /// Copies events, snapshots and [`Creation`](crate::Creation) into a new file at `into`.
    ///
    /// Blocks until the new file is complete, on disk and closed. Takes about 8 MiB into memory at a time. Nothing is checked:
    /// use [`LogView::verify`](crate::LogView::verify) on the new file.
    ///
    /// # Errors
    ///
    /// [`RewriteError`]. What was written of the new file stays; remove it.
    pub fn write(&self, into: &Path) -> Result<(), RewriteError> {
        let opened = open::open(into, Absence::Create).map_err(RewriteError::Create)?;
        let copied = [META, EVENTS, SNAPSHOTS, HEADS]
            .into_iter()
            .try_for_each(|table| self.copy(table, &opened.database));
        opened.database.close();
        copied.map_err(|fault| RewriteError::Write {
            path: into.into(),
            source: Box::new(fault),
        })
    }

    fn copy(
        &self,
        table: TableDefinition<'static, &'static [u8], &'static [u8]>,
        into: &DatabaseHandle,
    ) -> Result<(), Fault> {
        contained(|| {
            let rows = match self.0.open_table(table) {
                Ok(rows) => rows,
                Err(TableError::TableDoesNotExist(_)) => return Ok(()),
                Err(error) => return Err(error.into()),
            };
            let mut rows = rows.iter()?;
            let mut is_more = true;
            while is_more {
                is_more = into.write(|transaction| {
                    let mut bytes = 0;
                    let mut copy = transaction.open_table(table)?;
                    while bytes < BATCH_BYTES {
                        let Some(row) = rows.next() else {
                            break;
                        };
                        let (key, value) = row?;
                        if table.name() == META.name() && !is_copied(key.value()) {
                            continue;
                        }
                        bytes += key.value().len() + value.value().len();
                        copy.insert(key.value(), value.value())?;
                    }
                    drop(copy);
                    transaction.commit()?;
                    Ok::<_, Fault>(bytes >= BATCH_BYTES)
                })?;
            }
            Ok(())
        })
    }
}
