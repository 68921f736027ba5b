//! Searching a journal.
//!
//! Three ways, as documented: by [recency, importance and relevance](JournalSearch::Episodic) together, by
//! [relevance](JournalSearch::Ranked), and by [text](JournalSearch::Text). Each match says why it was found ([`WhyMatched`]).

mod episodic;
mod index;
mod query;

use std::{cmp::Reverse, collections::HashSet, fmt};

use dormouse_contracts::Timestamp;
use dormouse_retrieval::{ScoreParts, SearchQuery};

use crate::{
    entry::{EntryId, JournalEntry},
    journal::Journal,
};
pub use episodic::{EpisodicParts, EpisodicScore, EpisodicScoreError, Recency};
pub use index::JournalIndex;
pub use query::{JournalQuery, JournalSearch};

/// By what factor more matches are read than requested, because entries that say nearly the same are shown as one.
const SPARE: usize = 3;

/// An entry that a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalMatch<'a> {
    /// The entry.
    pub entry: &'a JournalEntry,
    /// Its score, which is meaningful only within one answer. 0 for [`JournalSearch::Text`].
    pub score: f64,
    /// How many other entries say nearly the same and are therefore not shown.
    pub repeats: u32,
    /// Why it was found.
    pub why: WhyMatched,
}

/// Why an entry was found. `Display` renders it in a few words.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum WhyMatched {
    /// By recency, importance and relevance.
    Episodic(EpisodicParts),
    /// By relevance. Holds the contribution of each feature.
    Ranked(ScoreParts),
    /// The text contains the query, or the query is empty.
    Text,
}

impl fmt::Display for WhyMatched {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Episodic(parts) => parts.fmt(f),
            Self::Ranked(parts) => {
                let parts = parts.iter();
                let parts = parts.map(|(feature, part)| format!("{} {part:.2}", feature.name()));
                f.write_str(&parts.collect::<Vec<_>>().join(", "))
            }
            Self::Text => f.write_str("contains the text"),
        }
    }
}

impl JournalIndex {
    /// The entries that match a query at this time, best first, at most [`JournalQuery::limit`]. Among equal scores the
    /// newest comes first. Of entries that say nearly the same, only the best is returned.
    ///
    /// The index must have [followed](Self::follow) all changes of the journal.
    #[must_use]
    pub fn search<'a>(
        &self,
        journal: &'a Journal,
        query: &JournalQuery,
        now: Timestamp,
    ) -> Vec<JournalMatch<'a>> {
        let bounds = query.bounds(now);
        let found = match &query.mode {
            JournalSearch::Episodic(score) => self.episodic(journal, query, &bounds, score, now),
            JournalSearch::Ranked { .. } | JournalSearch::Text if query.is_blank() => {
                by_text(journal, "", &bounds)
            }
            JournalSearch::Ranked { dense } => {
                let admit = |id: u64| {
                    let entry = journal.entry(EntryId(id));
                    entry.is_some_and(|entry| bounds.admit(entry))
                };
                let asked = SearchQuery::new(&query.query).asked_at(now);
                let asked = asked.dense(dense).admit(&admit);
                let limit = query.limit.saturating_mul(SPARE);
                let matches = self.ranked().search(&asked, limit).into_iter();
                let matches = matches.filter_map(|found| {
                    let entry = journal.entry(EntryId(found.id))?;
                    let why = WhyMatched::Ranked(found.parts);
                    Some(found_by(entry, found.score.into(), why))
                });
                matches.collect()
            }
            JournalSearch::Text => by_text(journal, &query.query, &bounds),
        };
        one_of_each_group(found, journal, query.limit)
    }
}

/// The entries that contain a text in any case, newest first. Reads all entries.
fn by_text<'a>(
    journal: &'a Journal,
    text: &str,
    bounds: &query::Bounds<'_>,
) -> Vec<JournalMatch<'a>> {
    let text = text.trim().to_lowercase();
    let entries = journal.entries().filter(|entry| bounds.admit(entry));
    let has =
        |entry: &&JournalEntry| text.is_empty() || entry.content.to_lowercase().contains(&text);
    let mut found: Vec<&JournalEntry> = entries.filter(has).collect();
    found.sort_by_key(|entry| Reverse((entry.timestamp, entry.id)));
    let found = found.into_iter();
    found
        .map(|entry| found_by(entry, 0.0, WhyMatched::Text))
        .collect()
}

fn found_by(entry: &JournalEntry, score: f64, why: WhyMatched) -> JournalMatch<'_> {
    JournalMatch {
        entry,
        score,
        repeats: 0,
        why,
    }
}

/// The first of each group of entries that say nearly the same.
fn one_of_each_group<'a>(
    mut found: Vec<JournalMatch<'a>>,
    journal: &Journal,
    limit: usize,
) -> Vec<JournalMatch<'a>> {
    let mut seen = HashSet::new();
    found.retain(|found| seen.insert(found.entry.group()));
    found.truncate(limit);
    for found in &mut found {
        let first = journal.entry(found.entry.group());
        found.repeats = first.map_or(0, |first| first.upkeep.repeats);
    }
    found
}

#[cfg(test)]
mod tests;
