//! What each change does.

use dormouse_contracts::Timestamp;
use dormouse_retrieval::ComparableText;

use super::{Journal, RECENT};
use crate::{
    change::{JournalChange, JournalChangeError, JournalDelta},
    entry::{EntryId, ImportanceMethod, JournalEntry},
    importance::EntryScore,
    reflection::ReflectionUnderWay,
};

impl Journal {
    pub(super) fn fold(
        &mut self,
        change: &JournalChange,
        at: Timestamp,
    ) -> Result<JournalDelta, JournalChangeError> {
        let mut delta = JournalDelta::default();
        match change {
            JournalChange::Added { entry, points } => {
                self.check_new(entry.id)?;
                self.history.count(*points);
                self.reflection.experienced(entry);
                self.write(entry, &mut delta);
            }
            JournalChange::Linked { entry, to } => self.link(*entry, *to)?,
            JournalChange::Unlinked { entry } => self.unlink(*entry)?,
            JournalChange::Rescored { scores, unreadable } => {
                self.rescore(scores, &mut delta);
                for id in unreadable {
                    if let Some(entry) = self.entries.get_mut(id) {
                        let count = &mut entry.upkeep.unreadable_scores;
                        *count = count.saturating_add(1);
                    }
                }
            }
            JournalChange::Consolidated { entries } => self.mark(entries, true),
            JournalChange::Unconsolidated { entries } => self.mark(entries, false),
            JournalChange::Pruned { entries, .. } => {
                for id in entries {
                    self.reflection.left(*id);
                    self.recent.remove(id);
                    if let Some(gone) = self.entries.remove(id) {
                        self.repeated_once_less(gone.upkeep.near);
                        delta.removed.push(gone);
                    }
                }
            }
            JournalChange::Restored { entry } => self.restore(entry, at, &mut delta)?,
            JournalChange::ReflectionBegun {
                entries,
                through,
                known_to,
                left,
            } => self.reflection.begin(ReflectionUnderWay {
                entries: entries.clone(),
                through: *through,
                known_to: known_to.clone(),
                left: left.clone(),
                ..ReflectionUnderWay::default()
            })?,
            JournalChange::QuestionsRaised { questions, trust } => {
                self.reflection.asked(questions, trust)?;
            }
            JournalChange::EvidenceFound { evidence } => self.reflection.found(evidence)?,
            JournalChange::ReflectionFailed => self.reflection.failed()?,
            JournalChange::ReflectionGivenUp => self.reflection.given_up()?,
            JournalChange::Reflected { insights } => self.reflected(insights, at, &mut delta)?,
        }
        Ok(delta)
    }

    fn mark(&mut self, entries: &[EntryId], is_consolidated: bool) {
        for id in entries {
            if let Some(entry) = self.entries.get_mut(id) {
                entry.upkeep.consolidated = is_consolidated;
            }
        }
    }

    fn check_new(&self, id: EntryId) -> Result<(), JournalChangeError> {
        let last = self.last_id;
        match id > last {
            true => Ok(()),
            false => Err(JournalChangeError::NumberUsed { id, last }),
        }
    }

    /// Adds an entry with an unused number to the journal.
    fn write(&mut self, entry: &JournalEntry, delta: &mut JournalDelta) {
        self.last_id = entry.id;
        self.entries.insert(entry.id, entry.clone());
        let words = ComparableText::of(&entry.content);
        self.recent.insert(entry.id, words);
        // More than one entry may leave the window, because numbers can have gaps.
        let oldest = EntryId(entry.id.0.saturating_add(1).saturating_sub(RECENT));
        self.recent = self.recent.split_off(&oldest);
        delta.added.push(entry.id);
    }

    fn known(&mut self, id: EntryId) -> Result<&mut JournalEntry, JournalChangeError> {
        let entry = self.entries.get_mut(&id);
        entry.ok_or(JournalChangeError::Unknown { id })
    }

    fn link(&mut self, id: EntryId, to: EntryId) -> Result<(), JournalChangeError> {
        if id == to {
            return Err(JournalChangeError::LinkToItself { id });
        }
        self.known(to)?;
        self.unlink(id)?;
        self.known(id)?.upkeep.near = Some(to);
        let repeats = &mut self.known(to)?.upkeep.repeats;
        *repeats = repeats.saturating_add(1);
        Ok(())
    }

    fn unlink(&mut self, id: EntryId) -> Result<(), JournalChangeError> {
        let to = self.known(id)?.upkeep.near.take();
        self.repeated_once_less(to);
        Ok(())
    }

    fn repeated_once_less(&mut self, id: Option<EntryId>) {
        if let Some(earlier) = id.and_then(|id| self.entries.get_mut(&id)) {
            earlier.upkeep.repeats = earlier.upkeep.repeats.saturating_sub(1);
        }
    }

    fn rescore(&mut self, scores: &[EntryScore], delta: &mut JournalDelta) {
        for score in scores {
            let Some(entry) = self.entries.get_mut(&score.entry) else {
                continue;
            };
            if entry.importance_method != ImportanceMethod::Heuristic {
                continue;
            }
            let before = entry.importance;
            entry.importance = score.importance;
            entry.importance_method = ImportanceMethod::Llm;
            self.reflection.rescored(entry, before);
            if before != score.importance {
                delta.rescored.push(EntryScore {
                    entry: score.entry,
                    importance: before,
                });
            }
        }
    }

    fn restore(
        &mut self,
        entry: &JournalEntry,
        at: Timestamp,
        delta: &mut JournalDelta,
    ) -> Result<(), JournalChangeError> {
        let (id, last) = (entry.id, self.last_id);
        if self.entries.contains_key(&id) {
            return Err(JournalChangeError::AlreadyThere { id });
        }
        if id > last || id == EntryId::default() {
            return Err(JournalChangeError::NeverWritten { id, last });
        }
        let mut entry = entry.clone();
        entry.upkeep.restored_at = Some(at);
        // The count may have changed: since the entry was removed, entries that repeat it may have been removed, or
        // their links.
        let repeating = self.entries.values();
        let repeating = repeating.filter(|other| other.upkeep.near == Some(id));
        entry.upkeep.repeats = u32::try_from(repeating.count()).unwrap_or(u32::MAX);
        let earlier = entry.upkeep.near;
        if let Some(earlier) = earlier.and_then(|to| self.entries.get_mut(&to)) {
            earlier.upkeep.repeats = earlier.upkeep.repeats.saturating_add(1);
        }
        if self.is_recent(id) {
            self.recent.insert(id, ComparableText::of(&entry.content));
        }
        self.entries.insert(id, entry);
        delta.added.push(id);
        Ok(())
    }

    fn reflected(
        &mut self,
        insights: &[JournalEntry],
        at: Timestamp,
        delta: &mut JournalDelta,
    ) -> Result<(), JournalChangeError> {
        let mut last = self.last_id;
        for insight in insights {
            if insight.id <= last {
                let id = insight.id;
                return Err(JournalChangeError::NumberUsed { id, last });
            }
            last = insight.id;
        }
        self.reflection.end(at)?;
        let counted = self.reflection.entries_since_reflection.iter();
        let counted = counted.filter_map(|id| self.entries.get(id));
        let total = counted.map(|entry| u32::from(entry.importance.get()));
        self.reflection.cumulative_importance = total.sum();
        // Conclusions do not count towards the next reflection. Otherwise reflections would cause reflections.
        for insight in insights {
            self.write(insight, delta);
        }
        Ok(())
    }
}
