//! The journal: a value, folded from changes.

mod folding;
mod rows;
mod writing;

use std::collections::BTreeMap;

use dormouse_contracts::Timestamp;
use dormouse_retrieval::ComparableText;
use serde::{Deserialize, Serialize};

use crate::{
    change::{JournalChange, JournalChangeError, JournalDelta, PruneReason},
    entry::{EntryId, JournalEntry},
    importance::ImportanceHistory,
    reflection::ReflectionState,
    settings::{PruningRule, days_before},
};
use rows::JournalRows;

/// With how many of the last numbers a new entry is compared.
const RECENT: u64 = 20;

/// What an assistant wrote down.
///
/// It is a value: it starts empty, and only [`apply`](Self::apply) changes it. The same changes at the same times give
/// the same state on every machine. For each entry that a change names, it takes time logarithmic in the number of
/// entries.
///
/// In JSON it has the documented fields: `entries`, `entry_count`, `reflection_state`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "JournalRows", into = "JournalRows")]
pub struct Journal {
    entries: BTreeMap<EntryId, JournalEntry>,
    last_id: EntryId,
    history: ImportanceHistory,
    reflection: ReflectionState,
    /// Derived: the words of the entries among the last [`RECENT`] numbers.
    recent: BTreeMap<EntryId, ComparableText>,
}

impl Journal {
    /// An empty journal.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies a change that happens at `at`, and returns its effect.
    ///
    /// # Errors
    ///
    /// [`JournalChangeError`] if the change is refused; the journal is then unchanged.
    pub fn apply(
        &mut self,
        change: &JournalChange,
        at: Timestamp,
    ) -> Result<JournalDelta, JournalChangeError> {
        self.fold(change, at)
    }

    /// An entry.
    #[must_use]
    pub fn entry(&self, id: EntryId) -> Option<&JournalEntry> {
        self.entries.get(&id)
    }

    /// All entries, in the order of their numbers.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = &JournalEntry> + ExactSizeIterator {
        self.entries.values()
    }

    /// How many entries were ever written: the documented `entry_count`.
    #[must_use]
    pub fn entry_count(&self) -> u64 {
        self.last_id.0
    }

    /// The number of the next entry.
    #[must_use]
    pub fn next_id(&self) -> EntryId {
        EntryId(self.last_id.0.saturating_add(1))
    }

    /// The points of the entries so far.
    #[must_use]
    pub fn history(&self) -> &ImportanceHistory {
        &self.history
    }

    /// The entries that wait for a reflection, and the reflection under way.
    #[must_use]
    pub fn reflection(&self) -> &ReflectionState {
        &self.reflection
    }

    /// The entries that are not in long-term memory yet, oldest first.
    pub fn unconsolidated(&self) -> impl Iterator<Item = &JournalEntry> {
        self.entries().filter(|entry| !entry.upkeep.consolidated)
    }

    /// The change that takes out the oldest of the entries that are old and unimportant; `None` if no entry is.
    /// Entries with a time in the future are not old, and restored entries stay.
    #[must_use]
    pub fn plan_pruning(&self, now: Timestamp, rule: &PruningRule) -> Option<JournalChange> {
        let before = days_before(now, rule.age_days);
        let is_faded = |entry: &&JournalEntry| {
            entry.importance <= rule.importance
                && entry.timestamp < before
                && entry.upkeep.restored_at.is_none()
                && !(entry.upkeep.consolidated && rule.preserve_consolidated)
        };
        let mut faded: Vec<_> = self.entries().filter(is_faded).collect();
        faded.sort_by_key(|entry| (entry.timestamp, entry.id));
        let entries: Vec<EntryId> = faded
            .iter()
            .take(rule.limit)
            .map(|entry| entry.id)
            .collect();
        (!entries.is_empty()).then_some(JournalChange::Pruned {
            entries,
            reason: PruneReason::Faded,
        })
    }

    /// The change that makes room for `new` entries; `None` if there is room. The entries with the lowest numbers go,
    /// so the clock has no influence; restored entries stay.
    #[must_use]
    pub(crate) fn plan_room(&self, new: usize, max_entries: usize) -> Option<JournalChange> {
        // The new entries stay, even if the limit is 0.
        let room = max_entries.saturating_sub(new);
        let surplus = self.entries.len().saturating_sub(room);
        let oldest = self
            .entries()
            .filter(|entry| entry.upkeep.restored_at.is_none());
        let entries: Vec<EntryId> = oldest.take(surplus).map(|entry| entry.id).collect();
        (!entries.is_empty()).then_some(JournalChange::Pruned {
            entries,
            reason: PruneReason::Overflow,
        })
    }

    fn is_recent(&self, id: EntryId) -> bool {
        id.0.saturating_add(RECENT) > self.last_id.0
    }
}

#[cfg(test)]
mod tests;
