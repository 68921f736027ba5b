//! `review_journal`: the assistant looks back and writes a conclusion.

use std::collections::BTreeSet;

use dormouse_contracts::Timestamp;
use dormouse_redact::is_about_itself;

use crate::{
    change::JournalChange,
    entry::{
        EntryError, EntryId, EntryLabel, EntryProvenance, Importance, JournalEntry, NewEntry,
        SourceType,
    },
    journal::Journal,
    reflection::{SYNTHESIS_MARK, synthesis_tags},
    settings::{JournalSettings, days_before},
};

/// The parameters of `review_journal`.
#[derive(Clone, Debug, PartialEq)]
pub struct ReviewRequest {
    /// What the assistant concludes.
    pub synthesis: NewEntry,
    /// How many days it looks back, 1 to [`ReviewRequest::MOST_DAYS`].
    pub days_back: u32,
    /// Only entries with all of these tags.
    pub tags: BTreeSet<EntryLabel>,
    /// Whether the conclusion becomes an entry.
    pub save: SaveSynthesis,
}

/// Whether a conclusion becomes an entry: the documented `save_as_entry`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SaveSynthesis {
    /// It does.
    #[default]
    AsEntry,
    /// It does not.
    No,
}

impl ReviewRequest {
    /// The most days.
    pub const MOST_DAYS: u32 = 3_650;

    /// A review of the last seven days, whose conclusion is saved.
    #[must_use]
    pub fn new(synthesis: impl Into<String>) -> Self {
        Self {
            synthesis: NewEntry::new(synthesis, SourceType::Inference),
            days_back: 7,
            tags: BTreeSet::new(),
            save: SaveSynthesis::AsEntry,
        }
    }
}

/// The result of a review: the entries, and the changes.
#[derive(Clone, Debug, PartialEq)]
pub struct Review {
    /// The entries in the period, newest first.
    pub reviewed: Vec<EntryId>,
    /// The changes that save the conclusion; empty if it is not saved.
    pub changes: Vec<JournalChange>,
}

/// Why a review is refused. The journal is unchanged.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ReviewError {
    /// The number of days is out of range.
    #[error("days_back is {days}; expected 1 to {}", ReviewRequest::MOST_DAYS)]
    Days {
        /// The number.
        days: u32,
    },
    /// The conclusion is about the assistant itself.
    #[error("synthesis is about yourself; say what you learnt about the world or the people in it")]
    AboutItself,
    /// The conclusion is not allowed as an entry.
    #[error("synthesis is not a valid entry")]
    Entry(#[from] EntryError),
}

impl Journal {
    /// Finds the entries of the period, and plans the changes that save the conclusion. It becomes an entry that begins
    /// with [`SYNTHESIS_MARK`], has the documented tags in addition to its own, and has importance 8 unless another is
    /// given.
    ///
    /// # Errors
    ///
    /// [`ReviewError`] if a parameter is not allowed.
    pub fn plan_review(
        &self,
        request: ReviewRequest,
        now: Timestamp,
        settings: &JournalSettings,
    ) -> Result<Review, ReviewError> {
        let days = request.days_back;
        if !(1..=ReviewRequest::MOST_DAYS).contains(&days) {
            return Err(ReviewError::Days { days });
        }
        let mut synthesis = request.synthesis;
        synthesis.check()?;
        let text = synthesis.content.trim();
        let text = text.strip_prefix(SYNTHESIS_MARK).unwrap_or(text).trim();
        let names: Vec<&str> = settings.names.iter().map(String::as_str).collect();
        if is_about_itself(text, &names) {
            return Err(ReviewError::AboutItself);
        }
        let from = days_before(now, days);
        let is_reviewed = |entry: &&JournalEntry| {
            entry.timestamp >= from
                && request.tags.is_subset(&entry.tags)
                && entry.may_be_reflected_on()
        };
        let mut reviewed: Vec<&JournalEntry> = self.entries().filter(is_reviewed).collect();
        reviewed.sort_by_key(|entry| std::cmp::Reverse((entry.timestamp, entry.id)));
        if request.save == SaveSynthesis::No {
            let reviewed = reviewed.iter().map(|entry| entry.id).collect();
            let changes = Vec::new();
            return Ok(Review { reviewed, changes });
        }
        synthesis.content = format!("{SYNTHESIS_MARK} {text}");
        synthesis.tags.extend(synthesis_tags());
        synthesis.importance.get_or_insert(Importance::OF_SYNTHESIS);
        let depth = reviewed.iter().map(|entry| entry.provenance.depth).max();
        let depth = depth.unwrap_or(0).saturating_add(1);
        let depth = depth.max(synthesis.provenance.depth);
        synthesis.provenance.depth = depth.min(EntryProvenance::DEEPEST);
        let changes = self.plan_entry(synthesis, now, settings)?;
        let reviewed = reviewed.iter().map(|entry| entry.id).collect();
        Ok(Review { reviewed, changes })
    }
}

#[cfg(test)]
mod tests;
