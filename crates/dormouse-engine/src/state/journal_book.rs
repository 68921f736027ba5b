//! What the assistant wrote down.

use std::collections::BTreeMap;

use dormouse_contracts::{FORGOTTEN, Origin, Seq, Timestamp};
use dormouse_journal::{EntryId, Journal, JournalChange, JournalEntry, PruneReason};
use serde::{Deserialize, Serialize};

use crate::event::{Event, JournalChanged, records_of};

/// The journal of an assistant, and which memory record each entry is.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JournalBook {
    journal: Journal,
    /// Of entries that are in the journal.
    records: BTreeMap<EntryId, Origin>,
}

impl JournalBook {
    pub(super) fn apply(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        if let Event::JournalChanged(changed) = event {
            self.fold(seq, at, changed, |_| {});
        }
    }

    /// Folds an event in, and passes on the entries that leave the journal by it. A change that makes no sense here changes nothing.
    pub(crate) fn fold(
        &mut self,
        seq: Seq,
        at: Timestamp,
        changed: &JournalChanged,
        mut left: impl FnMut(JournalEntry),
    ) {
        let records = records_of(Origin::event(seq), changed.entries().count());
        let records: Vec<_> = changed
            .entries()
            .map(|entry| entry.id)
            .zip(records)
            .collect();
        for change in &changed.changes {
            if matches!(change, JournalChange::Restored { entry } if entry.content == FORGOTTEN) {
                continue;
            }
            match self.journal.apply(change, at) {
                Ok(delta) => {
                    let added = records.iter().filter(|(id, _)| delta.added.contains(id));
                    let added = added.filter_map(|(id, record)| Some((*id, (*record)?)));
                    self.records.extend(added);
                    for entry in delta.removed {
                        self.records.remove(&entry.id);
                        left(entry);
                    }
                }
                Err(error) => tracing::debug!(%seq, %error, "a change of the journal does not fit"),
            }
        }
        self.drop_forgotten(at, changed);
    }

    /// The numbers of forgotten entries stay used.
    fn drop_forgotten(&mut self, at: Timestamp, changed: &JournalChanged) {
        let forgotten = changed.entries().filter(|it| it.content == FORGOTTEN);
        let gone = JournalChange::Pruned {
            entries: forgotten.map(|entry| entry.id).collect(),
            reason: PruneReason::Faded,
        };
        // It is never refused.
        let gone = self.journal.apply(&gone, at).unwrap_or_default();
        for entry in gone.removed {
            self.records.remove(&entry.id);
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.journal.entry_count() == 0
    }

    /// The entries.
    #[must_use]
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The memory record of an entry that is in the journal.
    #[must_use]
    pub fn record(&self, entry: EntryId) -> Option<Origin> {
        self.records.get(&entry).copied()
    }

    /// The entry that is this memory record.
    pub(crate) fn entry_of(&self, record: Origin) -> Option<&JournalEntry> {
        let (id, _) = self.records.iter().find(|(_, its)| **its == record)?;
        self.journal.entry(*id)
    }

    /// The records of the entries that these changes take out.
    pub(crate) fn withdrawn(&self, changes: &[JournalChange]) -> Vec<Origin> {
        let gone = changes.iter().flat_map(|change| match change {
            JournalChange::Pruned { entries, .. } => entries.as_slice(),
            _ => &[],
        });
        gone.filter_map(|id| self.record(*id)).collect()
    }
}
