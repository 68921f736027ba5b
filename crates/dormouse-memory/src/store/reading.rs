//! One consistent state of the store.

use dormouse_contracts::Timestamp;
use dormouse_database::Database;
use redb::{ReadTransaction, ReadableTable};
use serde::de::DeserializeOwned;

use super::{
    fault::Fault,
    row,
    tables::{
        ASSISTANT, CHANGES, ENTITIES, FILE_ID, HISTORY, LABELS, NEXT_CHANGE, RECORDS, SPACES,
        STATE, VECTORS,
    },
};
use crate::{
    change::{ChangeSeq, StoredChange},
    record::{Record, RecordId},
};

/// About how much of the file is read for one page of records.
const PAGE_BYTES: usize = 16 << 20;

/// A read transaction.
pub(crate) struct Reading {
    transaction: ReadTransaction,
}

impl Reading {
    pub(crate) fn begin(database: &Database) -> Result<Self, Fault> {
        Ok(Self {
            transaction: database.begin_read()?,
        })
    }

    /// The id of the file.
    pub(crate) fn file_id(&self) -> Result<String, Fault> {
        let labels = self.transaction.open_table(LABELS)?;
        let found = labels.get(FILE_ID)?;
        Ok(found
            .ok_or(Fault::Inconsistent("the file has no id"))?
            .value()
            .to_owned())
    }

    /// The assistant whose memory it is.
    pub(crate) fn assistant(&self) -> Result<String, Fault> {
        let labels = self.transaction.open_table(LABELS)?;
        let found = labels.get(ASSISTANT)?;
        Ok(found
            .ok_or(Fault::Inconsistent(
                "the file does not say whose memory it is",
            ))?
            .value()
            .to_owned())
    }

    /// A counter or checkpoint; 0 if it was never set.
    pub(crate) fn state(&self, name: &str) -> Result<u64, Fault> {
        let state = self.transaction.open_table(STATE)?;
        Ok(state.get(name)?.map_or(0, |found| found.value()))
    }

    /// The newest change; 0 if there is none.
    pub(crate) fn last_change(&self) -> Result<ChangeSeq, Fault> {
        self.state(NEXT_CHANGE)
    }

    pub(crate) fn record(&self, id: RecordId) -> Result<Option<Record>, Fault> {
        let records = self.transaction.open_table(RECORDS)?;
        let found = records.get(id.to_number())?;
        found.map(|row| row::read(row.value())).transpose()
    }

    /// The records of these numbers, in that order; `None` for a number that does not exist.
    pub(crate) fn records(&self, ids: &[RecordId]) -> Result<Vec<Option<Record>>, Fault> {
        let records = self.transaction.open_table(RECORDS)?;
        ids.iter()
            .map(|id| {
                let found = records.get(id.to_number())?;
                found.map(|row| row::read(row.value())).transpose()
            })
            .collect()
    }

    /// At most `limit` records after `after`, by number; fewer if they are long, but at least one if there is one.
    pub(crate) fn page(&self, after: Option<RecordId>, limit: usize) -> Result<Vec<Record>, Fault> {
        let records = self.transaction.open_table(RECORDS)?;
        let from = after.map_or(0, |id| id.to_number().saturating_add(1));
        let mut found = Vec::new();
        let mut bytes = 0;
        for row in records.range(from..)?.take(limit) {
            let (_, row) = row?;
            found.push(row::read(row.value())?);
            bytes += row.value().len();
            if bytes >= PAGE_BYTES {
                break;
            }
        }
        Ok(found)
    }

    /// At most `limit` changes after the change `after`, in order.
    pub(crate) fn changes(
        &self,
        after: ChangeSeq,
        limit: usize,
    ) -> Result<Vec<StoredChange>, Fault> {
        let changes = self.transaction.open_table(CHANGES)?;
        let mut found = Vec::new();
        for row in changes.range(after.saturating_add(1)..)?.take(limit) {
            found.push(row::read(row?.1.value())?);
        }
        Ok(found)
    }

    /// When this change was made; `None` if it does not exist.
    pub(crate) fn changed_at(&self, seq: ChangeSeq) -> Result<Option<Timestamp>, Fault> {
        let changes = self.transaction.open_table(CHANGES)?;
        let Some(found) = changes.get(seq)? else {
            return Ok(None);
        };
        let stored: StoredChange = row::read(found.value())?;
        Ok(Some(stored.at))
    }

    /// The changes that touched a record, in order.
    pub(crate) fn history(&self, id: RecordId) -> Result<Vec<StoredChange>, Fault> {
        let history = self.transaction.open_table(HISTORY)?;
        let changes = self.transaction.open_table(CHANGES)?;
        row::history(&history, &changes, id)
    }

    /// Every row of the entities, by key.
    pub(crate) fn entities(&self) -> Result<Vec<(String, Vec<u8>)>, Fault> {
        let entities = self.transaction.open_table(ENTITIES)?;
        let mut found = Vec::new();
        for row in entities.iter()? {
            let (key, value) = row?;
            let row = row::read_bytes(value.value())?;
            found.push((key.value().to_owned(), row.to_vec()));
        }
        Ok(found)
    }

    /// Every embedding space, by number.
    pub(crate) fn spaces<T: DeserializeOwned>(&self) -> Result<Vec<(u32, T)>, Fault> {
        row::by_number(&self.transaction.open_table(SPACES)?)
    }

    /// The vector of a record in a space; `Some` and empty if the encoder returned no usable one.
    pub(crate) fn vector(&self, space: u32, id: RecordId) -> Result<Option<Vec<f32>>, Fault> {
        let vectors = self.transaction.open_table(VECTORS)?;
        let found = vectors.get((space, id.to_number()))?;
        found
            .map(|row| Ok(numbers(row::read_bytes(row.value())?)))
            .transpose()
    }

    /// The records that have a usable vector in a space.
    pub(crate) fn embedded(&self, space: u32) -> Result<Vec<RecordId>, Fault> {
        let vectors = self.transaction.open_table(VECTORS)?;
        let mut found = Vec::new();
        for row in vectors.range((space, 0)..=(space, u64::MAX))? {
            let (key, vector) = row?;
            if !row::read_bytes(vector.value())?.is_empty() {
                found.push(RecordId::from_number(key.value().1));
            }
        }
        Ok(found)
    }
}

fn numbers(bytes: &[u8]) -> Vec<f32> {
    bytes
        .as_chunks::<4>()
        .0
        .iter()
        .map(|number| f32::from_le_bytes(*number))
        .collect()
}
