//! The journal of the assistant.

use std::{collections::BTreeMap, sync::OnceLock};

use dormouse_contracts::{FORGOTTEN, Hit, Origin, Seq, Timestamp};
use dormouse_journal::{
    EntryId, Journal, JournalChange, JournalDelta, JournalEntry, JournalIndex, JournalMatch,
    JournalQuery, PruneReason,
};
use serde::{Deserialize, Serialize};

use crate::event::{Event, JournalChanged, records_of};

/// The journal of an assistant, with the memory record of each entry.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct JournalBook {
    journal: Journal,
    /// The memory records of the entries in the journal.
    records: BTreeMap<EntryId, Origin>,
    #[serde(skip)]
    index: OwnIndex,
}

/// The search index of a journal: built on the first search and then updated with each entry. It is derived from the
/// journal, so it is neither stored nor compared.
#[derive(Debug, Default)]
struct OwnIndex(OnceLock<JournalIndex>);

impl Clone for OwnIndex {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for OwnIndex {
    fn eq(&self, _other: &Self) -> bool {
        true
    }
}

impl OwnIndex {
    fn follow(&mut self, journal: &Journal, delta: &JournalDelta) {
        if let Some(index) = self.0.get_mut() {
            index.follow(journal, delta);
        }
    }
}

impl JournalBook {
    pub(super) fn apply(&mut self, seq: Seq, at: Timestamp, event: &Event) {
        if let Event::JournalChanged(changed) = event {
            self.fold(seq, at, changed, |_| {});
        }
    }

    /// Folds an event in, and passes the entries that it removes to the caller. An inapplicable change changes nothing.
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
                    self.index.follow(&self.journal, &delta);
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

    /// Removes forgotten entries. Their numbers are not used again.
    fn drop_forgotten(&mut self, at: Timestamp, changed: &JournalChanged) {
        let forgotten = changed.entries().filter(|it| it.content == FORGOTTEN);
        let gone = JournalChange::Pruned {
            entries: forgotten.map(|entry| entry.id).collect(),
            reason: PruneReason::Faded,
        };
        // The journal never refuses a removal.
        let gone = self.journal.apply(&gone, at).unwrap_or_default();
        self.index.follow(&self.journal, &gone);
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

    /// The entries that match a query at this time, best first. The first search takes time linear in the entries.
    #[must_use]
    pub fn search(&self, query: &JournalQuery, now: Timestamp) -> Vec<JournalMatch<'_>> {
        self.index().search(&self.journal, query, now)
    }

    /// The same search in a part of the journal, as if there were nothing else.
    pub(crate) fn search_in<'a>(
        &self,
        part: &'a Journal,
        query: &JournalQuery,
        now: Timestamp,
    ) -> Vec<JournalMatch<'a>> {
        let hidden = self.journal.entries();
        let hidden = hidden.filter(|entry| part.entry(entry.id).is_none());
        self.index().without(hidden).search(part, query, now)
    }

    fn index(&self) -> &JournalIndex {
        self.index.0.get_or_init(|| JournalIndex::of(&self.journal))
    }

    /// Of these hits among memory records, those on entries, by the number of the entry: what a ranked search takes.
    #[must_use]
    pub fn hits_on_entries(&self, hits: &[Hit]) -> Vec<Hit> {
        let hits = hits.iter();
        let hits = hits.map(|hit| (Origin::from_number(hit.id), hit.score));
        let hits: BTreeMap<Origin, f32> = hits.collect();
        let found = self.records.iter().filter_map(|(entry, record)| {
            let score = *hits.get(record)?;
            Some(Hit { id: entry.0, score })
        });
        let mut found: Vec<Hit> = found.collect();
        found.sort_by(|one, other| other.score.total_cmp(&one.score));
        found
    }

    /// The memory record of an entry that is in the journal.
    #[must_use]
    pub fn record(&self, entry: EntryId) -> Option<Origin> {
        self.records.get(&entry).copied()
    }

    /// The entry with this memory record.
    pub(crate) fn entry_of(&self, record: Origin) -> Option<&JournalEntry> {
        let (id, _) = self.records.iter().find(|(_, its)| **its == record)?;
        self.journal.entry(*id)
    }

    /// The records of the entries that these changes remove.
    pub(crate) fn withdrawn(&self, changes: &[JournalChange]) -> Vec<Origin> {
        let gone = changes.iter().flat_map(|change| match change {
            JournalChange::Pruned { entries, .. } => entries.as_slice(),
            _ => &[],
        });
        gone.filter_map(|id| self.record(*id)).collect()
    }
}
