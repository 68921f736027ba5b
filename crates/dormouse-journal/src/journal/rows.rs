//! The stored form of a journal.

use dormouse_retrieval::ComparableText;
use serde::{Deserialize, Serialize};

use super::Journal;
use crate::{
    entry::{EntryId, JournalEntry},
    importance::ImportanceHistory,
    reflection::ReflectionState,
};

/// The JSON form of a journal.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct JournalRows {
    entries: Vec<JournalEntry>,
    entry_count: u64,
    importance_history: ImportanceHistory,
    reflection_state: ReflectionState,
}

impl From<Journal> for JournalRows {
    fn from(journal: Journal) -> Self {
        Self {
            entries: journal.entries.into_values().collect(),
            entry_count: journal.last_id.0,
            importance_history: journal.history,
            reflection_state: journal.reflection,
        }
    }
}

impl From<JournalRows> for Journal {
    fn from(rows: JournalRows) -> Self {
        let entries = rows.entries.into_iter().map(|entry| (entry.id, entry));
        let mut journal = Self {
            entries: entries.collect(),
            last_id: EntryId(rows.entry_count),
            history: rows.importance_history,
            reflection: rows.reflection_state,
            ..Self::default()
        };
        // No number is used twice, even if the count was lost.
        let last = journal.entries.last_key_value().map(|(id, _)| *id);
        journal.last_id = journal.last_id.max(last.unwrap_or_default());
        let recent = journal
            .entries()
            .filter(|entry| journal.is_recent(entry.id));
        let recent = recent.map(|entry| (entry.id, ComparableText::of(&entry.content)));
        journal.recent = recent.collect();
        journal
    }
}
