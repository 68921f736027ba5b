//! The index: the entries with each keyword, and the newest entries of each importance.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet, VecDeque};

use dormouse_contracts::Timestamp;
use dormouse_retrieval::{Index, Speaker, Unit, terms};

use super::{episodic::QueryKeywords, query::Bounds};
use crate::{
    change::JournalDelta,
    entry::{EntryId, Importance, JournalEntry},
    journal::Journal,
};

/// An index of a journal, built once and then kept up to date change by change. It can be deleted and rebuilt at any
/// time.
#[derive(Clone, Debug, Default)]
pub struct JournalIndex {
    /// For each base form of a keyword, the entries that have it, in the order of their numbers.
    postings: HashMap<String, VecDeque<EntryId>>,
    by_importance: BTreeMap<Importance, BTreeSet<(Timestamp, EntryId)>>,
    ranked: Index,
}

impl JournalIndex {
    /// The index of a journal. Takes time linear in its entries.
    #[must_use]
    pub fn of(journal: &Journal) -> Self {
        let mut index = Self::default();
        journal.entries().for_each(|entry| index.insert(entry));
        index
    }

    /// Applies the effect of a change. Call it right after each change. Takes time linear in the words of the entries
    /// that changed, independent of the size of the journal.
    pub fn follow(&mut self, journal: &Journal, delta: &JournalDelta) {
        delta.removed.iter().for_each(|entry| self.remove(entry));
        for score in &delta.rescored {
            if let Some(entry) = journal.entry(score.entry) {
                let place = (entry.timestamp, entry.id);
                self.importance_mut(score.importance).remove(&place);
                self.importance_mut(entry.importance).insert(place);
            }
        }
        let added = delta.added.iter().filter_map(|id| journal.entry(*id));
        added.for_each(|entry| self.insert(entry));
    }

    /// The index of the same journal without some of its entries.
    #[must_use]
    pub fn without<'a>(&self, entries: impl IntoIterator<Item = &'a JournalEntry>) -> Self {
        let mut index = self.clone();
        entries.into_iter().for_each(|entry| index.remove(entry));
        index
    }

    pub(super) fn ranked(&self) -> &Index {
        &self.ranked
    }

    /// The entries with at least one of these keywords, and how many each has.
    pub(super) fn keyword_counts(&self, keywords: &QueryKeywords) -> HashMap<EntryId, usize> {
        let mut counts = HashMap::new();
        for term in keywords.0.keys() {
            for id in self.postings.get(term).into_iter().flatten() {
                *counts.entry(*id).or_default() += 1;
            }
        }
        counts
    }

    /// Which of these keywords an entry has, as they are written in the query.
    pub(super) fn keywords_in(&self, keywords: &QueryKeywords, id: EntryId) -> Vec<String> {
        let has = |term: &String| {
            let ids = self.postings.get(term);
            ids.is_some_and(|ids| ids.binary_search(&id).is_ok())
        };
        let words = keywords.0.iter().filter(|(term, _)| has(term));
        words.map(|(_, word)| word.clone()).collect()
    }

    /// The newest entries of each importance without a keyword, from as many groups as `limit`.
    pub(super) fn newest_of_each_importance<'a>(
        &self,
        journal: &'a Journal,
        bounds: &Bounds<'_>,
        limit: usize,
        has_keyword: &dyn Fn(EntryId) -> bool,
    ) -> Vec<&'a JournalEntry> {
        let mut found = Vec::new();
        for newest in self.by_importance.values() {
            let mut groups = HashSet::new();
            let newest = newest.iter().rev();
            for (_, id) in newest.take_while(|(at, _)| bounds.reach(*at)) {
                if groups.len() >= limit {
                    break;
                }
                let entry = journal.entry(*id).filter(|entry| bounds.admit(entry));
                if let Some(entry) = entry.filter(|_| !has_keyword(*id)) {
                    groups.insert(entry.group());
                    found.push(entry);
                }
            }
        }
        found
    }

    fn insert(&mut self, entry: &JournalEntry) {
        for term in indexed_terms(entry) {
            let ids = self.postings.entry(term).or_default();
            // The place is nearly always at the end.
            if let Err(place) = ids.binary_search(&entry.id) {
                ids.insert(place, entry.id);
            }
        }
        let place = (entry.timestamp, entry.id);
        self.importance_mut(entry.importance).insert(place);
        self.ranked.insert(&Unit {
            id: entry.id.0,
            text: &entry.content,
            speaker: speaker(entry),
            thread: None,
            at: entry.timestamp,
        });
    }

    fn remove(&mut self, entry: &JournalEntry) {
        for term in indexed_terms(entry) {
            let Some(ids) = self.postings.get_mut(&term) else {
                continue;
            };
            if let Ok(place) = ids.binary_search(&entry.id) {
                ids.remove(place);
            }
            if ids.is_empty() {
                self.postings.remove(&term);
            }
        }
        let place = (entry.timestamp, entry.id);
        self.importance_mut(entry.importance).remove(&place);
        self.ranked.remove(entry.id.0);
    }

    fn importance_mut(&mut self, importance: Importance) -> &mut BTreeSet<(Timestamp, EntryId)> {
        self.by_importance.entry(importance).or_default()
    }
}

fn indexed_terms(entry: &JournalEntry) -> BTreeSet<String> {
    terms(&entry.content).into_iter().collect()
}

/// The speaker is indexed, so a question about a person also finds what that person said.
fn speaker(entry: &JournalEntry) -> Option<Speaker<'_>> {
    let name = entry.source_entity.name()?;
    let id = entry.source_entity.id().map(|id| id.as_str());
    Some(Speaker { name, id })
}
