//! What is searched for.

use std::collections::BTreeSet;

use dormouse_contracts::{Audience, Hit, Timestamp, Trust};
use dormouse_text::is_blank;

use super::EpisodicScore;
use crate::{
    entry::{EntryLabel, Importance, JournalEntry},
    journal::Journal,
    settings::days_before,
};

/// A query to a journal.
#[derive(Clone, Debug, PartialEq)]
pub struct JournalQuery {
    /// The words. If it is empty, the newest entries within the bounds are found. An episodic search then finds the
    /// most recent and important ones.
    pub query: String,
    /// Only entries with all of these tags.
    pub tags: BTreeSet<EntryLabel>,
    /// Only entries of the last `days_back` days, including entries with a time in the future.
    pub days_back: Option<u32>,
    /// Only entries of this project.
    pub related_to_project: Option<EntryLabel>,
    /// Only entries of at least this importance.
    pub min_importance: Importance,
    /// Only entries that are believed at least this far.
    pub min_trust: Trust,
    /// Only entries that all of these people perceived.
    pub listeners: Option<Audience>,
    /// The most matches.
    pub limit: usize,
    /// How entries are found and ordered.
    pub mode: JournalSearch,
}

/// How entries are found and ordered.
#[derive(Clone, Debug, PartialEq)]
pub enum JournalSearch {
    /// All entries within the bounds, by recency, importance and relevance.
    Episodic(EpisodicScore),
    /// Entries about the words, by relevance; among equals the newest first.
    Ranked {
        /// Entries whose vectors are similar to that of the query, by number, if there is an encoder.
        dense: Vec<Hit>,
    },
    /// Entries that contain the words as they are, in any case, the newest first.
    Text,
}

impl JournalQuery {
    /// The documented helper `search_episodic_memory`: 30 days back, importance 1 and more, equal weights, 5 matches.
    #[must_use]
    pub fn episodic(query: impl Into<String>) -> Self {
        Self {
            days_back: Some(30),
            limit: 5,
            mode: JournalSearch::Episodic(EpisodicScore::default()),
            ..Self::ranked(query)
        }
    }

    /// The documented tool `search_journal`: 10 matches of any age, by relevance.
    #[must_use]
    pub fn ranked(query: impl Into<String>) -> Self {
        Self {
            query: query.into(),
            tags: BTreeSet::new(),
            days_back: None,
            related_to_project: None,
            min_importance: Importance::LEAST,
            min_trust: Trust::NONE,
            listeners: None,
            limit: 10,
            mode: JournalSearch::Ranked { dense: Vec::new() },
        }
    }

    /// The entries within its bounds at a time, oldest first. Ignores the words of the query, and returns repetitions
    /// as separate entries.
    pub fn within<'j>(
        &self,
        journal: &'j Journal,
        now: Timestamp,
    ) -> impl Iterator<Item = &'j JournalEntry> {
        let bounds = self.bounds(now);
        journal.entries().filter(move |entry| bounds.admit(entry))
    }

    pub(super) fn is_blank(&self) -> bool {
        is_blank(&self.query)
    }

    pub(super) fn bounds(&self, now: Timestamp) -> Bounds<'_> {
        Bounds {
            query: self,
            from: self.days_back.map(|days| days_before(now, days)),
        }
    }
}

/// The bounds of a query at one time.
pub(super) struct Bounds<'a> {
    query: &'a JournalQuery,
    from: Option<Timestamp>,
}

impl Bounds<'_> {
    pub(super) fn admit(&self, entry: &JournalEntry) -> bool {
        let query = self.query;
        let project = query.related_to_project.as_ref();
        let listeners = query.listeners.as_ref();
        self.reach(entry.timestamp)
            && entry.importance >= query.min_importance
            && entry.source_trust >= query.min_trust
            && query.tags.is_subset(&entry.tags)
            && project.is_none_or(|project| entry.related_projects.contains(project))
            && listeners.is_none_or(|listeners| entry.provenance.audience.covers(listeners))
    }

    /// Whether this time is within the last `days_back` days.
    pub(super) fn reach(&self, at: Timestamp) -> bool {
        self.from.is_none_or(|from| at >= from)
    }
}
