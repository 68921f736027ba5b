//! The form of a row: a checksum of four bytes, least significant first, and the content. The rows have a checksum of their
//! own because the database checks the pages of small files only, see `check_up_to_bytes` of the file's kind.

use redb::ReadableTable;
use serde::{Serialize, de::DeserializeOwned};

use super::fault::Fault;
use crate::{change::StoredChange, record::RecordId};

/// Encodes a value as a row of JSON.
pub(super) fn write(what: &impl Serialize) -> Result<Vec<u8>, Fault> {
    let mut row = vec![0; 4];
    serde_json::to_writer(&mut row, what)?;
    Ok(sealed(row))
}

/// Reads a row of JSON.
pub(super) fn read<T: DeserializeOwned>(row: &[u8]) -> Result<T, Fault> {
    Ok(serde_json::from_slice(opened(row)?)?)
}

/// Reads every row of a table, by number.
pub(super) fn by_number<T: DeserializeOwned>(
    table: &impl ReadableTable<u32, &'static [u8]>,
) -> Result<Vec<(u32, T)>, Fault> {
    let mut found = Vec::new();
    for row in table.iter()? {
        let (number, value) = row?;
        found.push((number.value(), read(value.value())?));
    }
    Ok(found)
}

/// Reads the changes that touched a record, in order.
pub(super) fn history(
    history: &impl ReadableTable<(u64, u64), ()>,
    changes: &impl ReadableTable<u64, &'static [u8]>,
    id: RecordId,
) -> Result<Vec<StoredChange>, Fault> {
    let mut found = Vec::new();
    for row in history.range((id.to_number(), 0)..=(id.to_number(), u64::MAX))? {
        let seq = row?.0.value().1;
        let change = changes.get(seq)?.ok_or(Fault::Inconsistent(
            "a record's history names a change that is not there",
        ))?;
        found.push(read(change.value())?);
    }
    Ok(found)
}

/// Encodes bytes as a row.
pub(super) fn write_bytes(bytes: impl IntoIterator<Item = u8>) -> Vec<u8> {
    let mut row = vec![0; 4];
    row.extend(bytes);
    sealed(row)
}

/// Reads a row of bytes.
pub(super) fn read_bytes(row: &[u8]) -> Result<&[u8], Fault> {
    opened(row)
}

fn sealed(mut row: Vec<u8>) -> Vec<u8> {
    if let Some((sum, content)) = row.split_first_chunk_mut::<4>() {
        *sum = crc32fast::hash(content).to_le_bytes();
    }
    row
}

fn opened(row: &[u8]) -> Result<&[u8], Fault> {
    let (sum, content) = row.split_first_chunk::<4>().ok_or(Fault::Checksum)?;
    if crc32fast::hash(content) == u32::from_le_bytes(*sum) {
        Ok(content)
    } else {
        Err(Fault::Checksum)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn a_row_that_was_altered_is_never_read(
            text in ".{0,40}",
            place in any::<prop::sample::Index>(),
            bit in 0_u8..8,
        ) {
            let mut row = write(&text).unwrap();
            prop_assert_eq!(read::<String>(&row).unwrap(), text);
            let place = place.index(row.len());
            row[place] ^= 1 << bit;
            prop_assert!(read::<String>(&row).is_err());
        }
    }
}
