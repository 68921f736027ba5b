//! What can still be read of a damaged file.

use std::{io, path::Path};

use dormouse_contracts::{AssistantId, Seq};
use dormouse_database::open_damaged;
use redb::ReadTransaction;

use crate::{
    fault::{Fault, contained},
    meta::LOG_FILE,
    scan::{self, Found},
    tables::{EVENTS, key},
};

/// Searches the file for records; where two different ones claim a place, asks the file's tables, if they can
/// still be read, which of them was committed. The file is only read.
pub(crate) fn survey(path: &Path) -> io::Result<Found> {
    let mut found = scan::scan(path)?;
    if found.has_contested()
        && let Err(fault) = settle(path, &mut found)
    {
        tracing::info!(%fault, "the tables of the damaged log could not settle what is contested");
    }
    Ok(found)
}

fn settle(path: &Path, found: &mut Found) -> Result<(), Fault> {
    let database = open_damaged(path, &LOG_FILE)?;
    // The closure takes the database, because dropping it can panic too.
    contained(move || {
        let transaction = database.begin_read()?;
        for (assistant, seq) in found.contested() {
            // One that cannot be read stays contested; the next may be on another page.
            if let Ok(Some(bytes)) = contained(|| committed(&transaction, &assistant, seq)) {
                found.believe(&assistant, seq, &bytes);
            }
        }
        Ok(())
    })
}

fn committed(
    transaction: &ReadTransaction,
    assistant: &AssistantId,
    seq: Seq,
) -> Result<Option<Vec<u8>>, Fault> {
    let events = transaction.open_table(EVENTS)?;
    let record = events.get(key(assistant, seq).as_slice())?;
    Ok(record.map(|record| record.value().to_vec()))
}

#[cfg(test)]
mod tests;
