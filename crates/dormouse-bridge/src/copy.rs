//! A copy of a bridge's file as it was at one moment, or without some words.

use std::{fmt, io, path::Path};

use dormouse_contracts::BoxError;
use dormouse_database::DatabaseHandle;
use redb::{ReadTransaction, ReadableTable, WriteTransaction};

use crate::{
    file::{
        ACTORS, BridgeOpenError, DELIVERIES, IDENTITY, KIND, META, OBSERVERS, PEER_IDS, PEER_ORDER,
        POSITIONS, RECEIPTS,
    },
    queue::positions,
};

/// A bridge as it was at one moment. While this exists, the file keeps what it had then.
pub struct BridgeMoment(pub(crate) ReadTransaction);

impl fmt::Debug for BridgeMoment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BridgeMoment").finish_non_exhaustive()
    }
}

impl BridgeMoment {
    /// Copies the bridge into a new file at `into`. It keeps the id of its world, so it belongs to the same logs.
    ///
    /// Blocks until the new file is complete, on disk and closed.
    ///
    /// # Errors
    ///
    /// [`BridgeOpenError`]. What was written of the new file stays; remove it.
    pub fn write(&self, into: &Path) -> Result<(), BridgeOpenError> {
        write_copy(&self.0, into, &mut |_| Ok(None))
    }
}

/// A record with words of people, as JSON.
#[derive(Clone, Copy, Debug)]
pub enum BridgeRecord<'a> {
    /// A perception that waits for its observer.
    Delivery(&'a str),
    /// What became of an act; the field `outcome` has its outcome, if there is one.
    Receipt {
        /// The key of the act.
        key: &'a str,
        /// What became of it.
        row: &'a str,
    },
}

/// Returns the new form of a record, or `None` if it stays as it is. Any error ends the copying.
pub type ChangeRecord<'a> = dyn FnMut(BridgeRecord<'_>) -> Result<Option<String>, BoxError> + 'a;

/// Copies the file `from` into a new file at `into`, with the records that `change` returns, so that no byte of the new file
/// has the removed words. Nobody else may have `from` open. The world keeps its id and all numbers.
///
/// Blocks until the new file is complete, on disk and closed.
///
/// # Errors
///
/// [`BridgeOpenError`]. `from` is unchanged; what was written of the new file stays, so remove it.
pub fn rewrite_bridge(
    from: &Path,
    into: &Path,
    change: &mut ChangeRecord<'_>,
) -> Result<(), BridgeOpenError> {
    let old = DatabaseHandle::open_existing(from, &KIND)?;
    write_copy(&old.begin_read()?, into, change)
}

/// Counts the records of a file that `change` would change, as they were at its last commit. Writes and locks nothing, so
/// another process may have the file open.
///
/// # Errors
///
/// [`BridgeOpenError`].
pub fn count_changed(from: &Path, change: &mut ChangeRecord<'_>) -> Result<u64, BridgeOpenError> {
    let view = DatabaseHandle::open_view(from, &KIND)?;
    let reading = view.begin_read()?;
    let mut count = 0;
    let counted = for_each(&reading, change, |_, other| {
        count += u64::from(other.is_some());
        Ok(())
    });
    counted.map_err(|error| BridgeOpenError::Read(failed(error).into()))?;
    Ok(count)
}

fn failed(error: BoxError) -> redb::Error {
    redb::Error::Io(io::Error::other(error))
}

fn write_copy(
    reading: &ReadTransaction,
    into: &Path,
    change: &mut ChangeRecord<'_>,
) -> Result<(), BridgeOpenError> {
    let copied = |writing: &WriteTransaction| copy(reading, writing, change).map_err(failed);
    DatabaseHandle::open(into, &KIND, copied)?.close();
    Ok(())
}

/// The key of a record with words.
enum RecordKey<'a> {
    Delivery(&'a str, u64),
    Receipt(&'a str),
}

/// Calls `put` with each record that has words, and with its new form if it changes.
fn for_each(
    reading: &ReadTransaction,
    change: &mut ChangeRecord<'_>,
    mut put: impl FnMut((RecordKey<'_>, &str), Option<String>) -> Result<(), BoxError>,
) -> Result<(), BoxError> {
    for entry in reading.open_table(DELIVERIES)?.iter()? {
        let (key, value) = entry?;
        let ((observer, number), record) = (key.value(), value.value());
        let other = change(BridgeRecord::Delivery(record))?;
        put((RecordKey::Delivery(observer, number), record), other)?;
    }
    for entry in reading.open_table(RECEIPTS)?.iter()? {
        let (key, value) = entry?;
        let (key, row) = (key.value(), value.value());
        let other = change(BridgeRecord::Receipt { key, row })?;
        put((RecordKey::Receipt(key), row), other)?;
    }
    Ok(())
}

fn copy(
    reading: &ReadTransaction,
    writing: &WriteTransaction,
    change: &mut ChangeRecord<'_>,
) -> Result<(), BoxError> {
    macro_rules! copy {
        ($($table:ident),+) => {$(
            let mut table = writing.open_table($table)?;
            for entry in reading.open_table($table)?.iter()? {
                let (key, value) = entry?;
                table.insert(key.value(), value.value())?;
            }
        )+};
    }
    copy!(META, IDENTITY, OBSERVERS, PEER_IDS, PEER_ORDER, ACTORS);
    if let Some(all) = positions(reading)? {
        let mut table = writing.open_table(POSITIONS)?;
        for entry in all.iter()? {
            let (key, value) = entry?;
            table.insert(key.value(), value.value())?;
        }
    }
    let mut deliveries = writing.open_table(DELIVERIES)?;
    let mut receipts = writing.open_table(RECEIPTS)?;
    for_each(reading, change, |(key, record), other| {
        let record = other.as_deref().unwrap_or(record);
        match key {
            RecordKey::Delivery(observer, number) => {
                deliveries.insert((observer, number), record)?;
            }
            RecordKey::Receipt(key) => {
                receipts.insert(key, record)?;
            }
        }
        Ok(())
    })
}
