//! The whole content of a memory, read at once.

use std::collections::BTreeMap;

use dormouse_entities::Entities;
use dormouse_memory::{Memory, Record, RecordId, Stats, StoredChange};

/// The whole content of a memory.
#[derive(Debug)]
pub(super) struct Held {
    pub(super) changes: Vec<StoredChange>,
    pub(super) records: BTreeMap<RecordId, Record>,
    pub(super) entities: Entities,
    pub(super) stats: Stats,
}

impl Held {
    pub(super) async fn by(memory: &Memory) -> Self {
        let changes = memory.changes(0, usize::MAX).await.unwrap();
        let records = memory.records(None, usize::MAX).await.unwrap();
        Self {
            changes,
            records: records.into_iter().map(|r| (r.id, r)).collect(),
            entities: memory.entities(),
            stats: memory.stats().await.unwrap(),
        }
    }

    pub(super) fn in_use(&self) -> impl Iterator<Item = &Record> {
        self.records.values().filter(|record| record.is_in_use())
    }

    /// Checks that the counters are what counting says.
    pub(super) fn is_counted(&self) {
        let stats = &self.stats;
        assert_eq!(stats.in_use, self.in_use().count() as u64);
        assert_eq!(stats.records, self.records.len() as u64);
        assert_eq!(stats.changes, self.changes.len() as u64);
        assert_eq!(stats.entities, self.entities.profiles().count() as u64);
        for (change, seq) in self.changes.iter().zip(1..) {
            assert_eq!(change.seq, seq, "a place in the order is empty");
        }
    }
}
