//! A copy of a bridge's file as it was at one moment.

use std::{fmt, io, path::Path};

use dormouse_database::DatabaseHandle;
use redb::{ReadTransaction, ReadableTable, WriteTransaction};

use crate::{
    file::{
        ACTORS, BridgeOpenError, DELIVERIES, IDENTITY, KIND, META, OBSERVERS, PEER_IDS, PEER_ORDER,
        POSITIONS, RECEIPTS,
    },
    queue::positions,
    store_error::StoreError,
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
        let failed = |error| redb::Error::Io(io::Error::other(error));
        let copied = |writing: &WriteTransaction| copy(&self.0, writing).map_err(failed);
        DatabaseHandle::open(into, &KIND, copied)?.close();
        Ok(())
    }
}

fn copy(reading: &ReadTransaction, writing: &WriteTransaction) -> Result<(), StoreError> {
    macro_rules! copy {
        ($($table:ident),+) => {$(
            let mut table = writing.open_table($table)?;
            for entry in reading.open_table($table)?.iter()? {
                let (key, value) = entry?;
                table.insert(key.value(), value.value())?;
            }
        )+};
    }
    copy!(
        META, IDENTITY, OBSERVERS, DELIVERIES, PEER_IDS, PEER_ORDER, RECEIPTS, ACTORS
    );
    if let Some(all) = positions(reading)? {
        let mut table = writing.open_table(POSITIONS)?;
        for entry in all.iter()? {
            let (key, value) = entry?;
            table.insert(key.value(), value.value())?;
        }
    }
    Ok(())
}
