//! One write transaction.

use dormouse_contracts::{Author, Seq, Timestamp};
use redb::{ReadableTable, Table, WriteTransaction};
use serde::{Serialize, de::DeserializeOwned};

use super::{
    fault::{Abort, Fault},
    row,
    tables::{
        ASSISTANT, BY_EVENT, CHANGES, ENTITIES, HISTORY, IN_USE, LABELS, NEXT_CHANGE, RECORD_COUNT,
        RECORDS, REVERTED, SOURCES, SPACES, STATE, VECTORS,
    },
};
use crate::{
    change::{Change, ChangeSeq, StoredChange},
    record::{Record, RecordId},
};

/// Where the changes of a part of a transaction come from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Cause {
    pub(crate) event: Option<Seq>,
    pub(crate) author: Option<Author>,
}

/// A write transaction with its tables open.
pub(crate) struct Writing<'t> {
    assistant: String,
    /// Where the next changes come from.
    pub(crate) cause: Cause,
    state: Table<'t, &'static str, u64>,
    changes: Table<'t, u64, &'static [u8]>,
    records: Table<'t, u64, &'static [u8]>,
    history: Table<'t, (u64, u64), ()>,
    by_event: Table<'t, u64, u64>,
    reverted: Table<'t, u64, u64>,
    sources: Table<'t, &'static str, u64>,
    entities: Table<'t, &'static str, &'static [u8]>,
    spaces: Table<'t, u32, &'static [u8]>,
    vectors: Table<'t, (u32, u64), &'static [u8]>,
}

impl<'t> Writing<'t> {
    pub(crate) fn begin(transaction: &'t WriteTransaction) -> Result<Self, Fault> {
        let labels = transaction.open_table(LABELS)?;
        let assistant = labels.get(ASSISTANT)?.map(|label| label.value().to_owned());
        drop(labels);
        Ok(Self {
            cause: Cause::default(),
            assistant: assistant.ok_or(Fault::Inconsistent(
                "the file does not say whose memory it is",
            ))?,
            state: transaction.open_table(STATE)?,
            changes: transaction.open_table(CHANGES)?,
            records: transaction.open_table(RECORDS)?,
            history: transaction.open_table(HISTORY)?,
            by_event: transaction.open_table(BY_EVENT)?,
            reverted: transaction.open_table(REVERTED)?,
            sources: transaction.open_table(SOURCES)?,
            entities: transaction.open_table(ENTITIES)?,
            spaces: transaction.open_table(SPACES)?,
            vectors: transaction.open_table(VECTORS)?,
        })
    }

    /// The assistant whose memory it is.
    pub(crate) fn assistant(&self) -> &str {
        &self.assistant
    }

    pub(crate) fn state(&self, name: &str) -> Result<u64, Fault> {
        Ok(self.state.get(name)?.map_or(0, |found| found.value()))
    }

    pub(crate) fn set_state(&mut self, name: &str, value: u64) -> Result<(), Fault> {
        self.state.insert(name, value)?;
        Ok(())
    }

    pub(crate) fn remove_state(&mut self, name: &str) -> Result<(), Fault> {
        self.state.remove(name)?;
        Ok(())
    }

    /// The id of a new record of a memory that follows no log.
    pub(crate) fn next_record(&self) -> Result<RecordId, Fault> {
        let last = self.records.last()?.map(|(id, _)| id.value());
        let last = last.map_or(Seq::ZERO, |last| RecordId::from_number(last).seq());
        Ok(RecordId::event(last.next()))
    }

    /// Stores a change and the records that it touches.
    pub(crate) fn append(
        &mut self,
        at: Timestamp,
        reason: &str,
        change: Change,
        touches: &[RecordId],
    ) -> Result<StoredChange, Fault> {
        let seq = self.state(NEXT_CHANGE)? + 1;
        self.set_state(NEXT_CHANGE, seq)?;
        if let Some(event) = self.cause.event
            && self.by_event.get(event.0)?.is_none()
        {
            self.by_event.insert(event.0, seq)?;
        }
        let stored = StoredChange {
            seq,
            at,
            event: self.cause.event,
            author: self.cause.author.clone(),
            reason: reason.to_owned(),
            change,
        };
        self.changes.insert(seq, row::write(&stored)?.as_slice())?;
        for record in touches {
            self.history.insert((record.to_number(), seq), ())?;
        }
        Ok(stored)
    }

    /// The changes that touched a record, in order.
    pub(crate) fn history(&self, id: RecordId) -> Result<Vec<StoredChange>, Fault> {
        row::history(&self.history, &self.changes, id)
    }

    /// Replaces a stored change, to erase text from it.
    pub(crate) fn put_change(&mut self, stored: &StoredChange) -> Result<(), Fault> {
        let row = row::write(stored)?;
        self.changes.insert(stored.seq, row.as_slice())?;
        Ok(())
    }

    pub(crate) fn change(&self, seq: ChangeSeq) -> Result<Option<StoredChange>, Fault> {
        let found = self.changes.get(seq)?;
        found.map(|row| row::read(row.value())).transpose()
    }

    /// The changes that an event of the log led to, in order.
    pub(crate) fn of_event(&self, event: Seq) -> Result<Vec<StoredChange>, Fault> {
        let Some(first) = self.by_event.get(event.0)?.map(|found| found.value()) else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for row in self.changes.range(first..)? {
            let stored: StoredChange = row::read(row?.1.value())?;
            if stored.event != Some(event) {
                break;
            }
            found.push(stored);
        }
        Ok(found)
    }

    /// Visits the changes before this one, in order.
    pub(crate) fn each_change_before<E>(
        &self,
        seq: ChangeSeq,
        mut visit: impl FnMut(StoredChange) -> Result<(), Abort<E>>,
    ) -> Result<(), Abort<E>> {
        for row in self.changes.range(..seq)? {
            let (_, row) = row?;
            visit(row::read(row.value())?)?;
        }
        Ok(())
    }

    pub(crate) fn reverted_by(&self, seq: ChangeSeq) -> Result<Option<ChangeSeq>, Fault> {
        Ok(self.reverted.get(seq)?.map(|found| found.value()))
    }

    pub(crate) fn set_reverted(&mut self, seq: ChangeSeq, by: ChangeSeq) -> Result<(), Fault> {
        self.reverted.insert(seq, by)?;
        Ok(())
    }

    pub(crate) fn record(&self, id: RecordId) -> Result<Option<Record>, Fault> {
        let found = self.records.get(id.to_number())?;
        found.map(|row| row::read(row.value())).transpose()
    }

    /// Stores a record in its new state and keeps the counts of records.
    pub(crate) fn put(&mut self, record: &Record) -> Result<(), Fault> {
        let old = self.record(record.id)?;
        if old.is_none() {
            let count = self.state(RECORD_COUNT)? + 1;
            self.set_state(RECORD_COUNT, count)?;
        }
        let was = old.is_some_and(|old| old.is_in_use());
        self.records
            .insert(record.id.to_number(), row::write(record)?.as_slice())?;
        let now = record.is_in_use();
        if was != now {
            let count = self.state(IN_USE)?;
            let count = if now {
                count + 1
            } else {
                count.saturating_sub(1)
            };
            self.set_state(IN_USE, count)?;
        }
        Ok(())
    }

    pub(crate) fn by_source(&self, key: &str) -> Result<Option<RecordId>, Fault> {
        Ok(self
            .sources
            .get(key)?
            .map(|found| RecordId::from_number(found.value())))
    }

    pub(crate) fn set_source(&mut self, key: &str, record: RecordId) -> Result<(), Fault> {
        self.sources.insert(key, record.to_number())?;
        Ok(())
    }

    /// Writes a row of the entities; `None` removes it.
    pub(crate) fn put_entity(&mut self, key: &str, bytes: Option<&[u8]>) -> Result<(), Fault> {
        match bytes {
            Some(bytes) => {
                let row = row::write_bytes(bytes.iter().copied());
                self.entities.insert(key, row.as_slice())?;
            }
            None => drop(self.entities.remove(key)?),
        }
        Ok(())
    }

    /// Every embedding space, by number.
    pub(crate) fn spaces<T: DeserializeOwned>(&self) -> Result<Vec<(u32, T)>, Fault> {
        row::by_number(&self.spaces)
    }

    pub(crate) fn put_space(&mut self, number: u32, space: &impl Serialize) -> Result<(), Fault> {
        self.spaces.insert(number, row::write(space)?.as_slice())?;
        Ok(())
    }

    /// Removes a space with its vectors.
    pub(crate) fn remove_space(&mut self, number: u32) -> Result<(), Fault> {
        self.spaces.remove(number)?;
        self.vectors
            .retain_in((number, 0)..=(number, u64::MAX), |_, _| false)?;
        Ok(())
    }

    /// Stores the vector of a record in a space; an empty one says that the encoder returned no usable vector.
    pub(crate) fn put_vector(
        &mut self,
        space: u32,
        record: RecordId,
        vector: &[f32],
    ) -> Result<(), Fault> {
        let row = row::write_bytes(vector.iter().flat_map(|n| n.to_le_bytes()));
        self.vectors
            .insert((space, record.to_number()), row.as_slice())?;
        Ok(())
    }

    /// Removes a record's vectors from every space.
    pub(crate) fn remove_vectors(&mut self, record: RecordId) -> Result<(), Fault> {
        for space in self.spaces.iter()? {
            let number = space?.0.value();
            self.vectors.remove((number, record.to_number()))?;
        }
        Ok(())
    }
}
