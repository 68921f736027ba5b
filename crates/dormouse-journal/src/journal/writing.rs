//! Plans the changes that write a new entry.

use dormouse_contracts::{Attribution, Timestamp};
use dormouse_retrieval::ComparableText;

use super::Journal;
use crate::{
    change::JournalChange,
    entry::{EntryError, EntryId, EntryUpkeep, ImportanceMethod, JournalEntry, NewEntry},
    settings::{JournalSettings, NearRule},
};

impl Journal {
    /// The changes that write an entry at this time: first the entry, with its importance and trust. Then the link to a
    /// recent entry that says nearly the same, if there is one. Last, if there are too many entries, the pruning of the
    /// oldest.
    ///
    /// A recent entry is one of the last twenty.
    ///
    /// # Errors
    ///
    /// [`EntryError`] if the entry is not allowed.
    pub fn plan_entry(
        &self,
        new: NewEntry,
        at: Timestamp,
        settings: &JournalSettings,
    ) -> Result<Vec<JournalChange>, EntryError> {
        new.check()?;
        let rule = &settings.importance;
        let points = rule.points(&new.content, new.source_type);
        let by_formula = rule.importance(points, &self.history);
        let importance_method = match new.importance {
            Some(_) => ImportanceMethod::Manual,
            None => ImportanceMethod::Heuristic,
        };
        let id = self.next_id();
        let room = self.plan_room(1, settings.max_entries);
        let near = self.near(&new, at, &settings.near);
        let near = near.filter(|near| !is_taken_by(room.as_ref(), *near));
        let entry = JournalEntry {
            id,
            timestamp: at,
            source_type: new.source_type,
            source_trust: new.trust(),
            importance: new.importance.unwrap_or(by_formula),
            importance_method,
            content: new.content,
            source_entity: new.source_entity,
            tags: new.tags,
            related_projects: new.related_projects,
            provenance: new.provenance,
            upkeep: EntryUpkeep::default(),
        };
        let entry = Box::new(entry);
        let mut changes = vec![JournalChange::Added { entry, points }];
        changes.extend(near.map(|to| JournalChange::Linked { entry: id, to }));
        changes.extend(room);
        Ok(changes)
    }

    /// The entry that a new one repeats: finds the latest recent entry that says nearly the same, and returns the first
    /// entry of its group.
    fn near(&self, new: &NewEntry, at: Timestamp, rule: &NearRule) -> Option<EntryId> {
        let words = ComparableText::of(&new.content);
        let mut recent = self.recent.iter().rev();
        let latest = recent.find_map(|(id, known)| {
            let entry = self.entry(*id)?;
            let apart = at.since(entry.timestamp).max(entry.timestamp.since(at));
            let is_near = apart <= rule.within
                && is_same_source(&new.source_entity, &entry.source_entity)
                && words.says_the_same(known, rule.similarity);
            is_near.then_some(entry)
        })?;
        let group = latest.group();
        Some(if self.entry(group).is_some() {
            group
        } else {
            latest.id
        })
    }

    /// Whether one of the recent entries says the same as this text.
    pub(crate) fn says_already(&self, text: &str, rule: &NearRule) -> bool {
        let words = ComparableText::of(text);
        let mut recent = self.recent.values();
        recent.any(|known| words.says_the_same(known, rule.similarity))
    }
}

fn is_taken_by(room: Option<&JournalChange>, id: EntryId) -> bool {
    matches!(room, Some(JournalChange::Pruned { entries, .. }) if entries.contains(&id))
}

/// Two people who say the same give two accounts, so their entries are not linked. If nothing is known about both
/// sources, only the words decide.
fn is_same_source(one: &Attribution, other: &Attribution) -> bool {
    one == other || one.is_same_as(other)
}
