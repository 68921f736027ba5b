//! What facts are made of.

use std::{collections::VecDeque, fmt};

use dormouse_contracts::{Timestamp, Trust};
use dormouse_redact::{RedactionProfile, mask};
use dormouse_text::beginning_bytes;
use serde::{Deserialize, Serialize};

use super::{Attempts, WriterSettings};
use crate::{
    note::{LABEL_LIMIT, Note, TEXT_LIMIT},
    record::{Derivation, Record, RecordId, Shelf, Speaker},
};

/// The longest text of one source that a model is shown, in bytes.
const SHOWN: usize = 4_000;

/// What a fact can be made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SourceKey {
    /// A record.
    Record(RecordId),
    /// A journal entry, by its id.
    Entry(u64),
}

/// `m12` for a record, `j7` for a journal entry.
impl fmt::Display for SourceKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Record(id) => id.fmt(f),
            Self::Entry(id) => write!(f, "j{id}"),
        }
    }
}

/// A journal entry, as far as long-term memory is concerned.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Its id, which is never used for another one.
    pub id: u64,
    /// What it says.
    pub text: String,
    /// When it was written.
    pub at: Timestamp,
    /// How far its source is believed.
    pub trust: Trust,
    /// Who it is from, where somebody said it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub speaker: Option<Speaker>,
}

/// A source with what a model is shown of it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Source {
    pub(super) key: SourceKey,
    pub(super) shown: String,
    pub(super) at: Timestamp,
    pub(super) trust: Trust,
    pub(super) speaker: Option<Speaker>,
    /// The note an entry becomes; a record is one already.
    pub(super) note: Option<Note>,
}

impl Source {
    pub(super) fn of_record(record: &Record) -> Self {
        Self {
            key: SourceKey::Record(record.id),
            shown: shown(&record.text),
            at: record.at,
            trust: record.trust,
            speaker: record.speaker.clone(),
            note: None,
        }
    }

    pub(super) fn of_entry(entry: &JournalEntry) -> Self {
        let text = mask(&entry.text, RedactionProfile::Memory);
        // What does not fit into a record would stop the others, too.
        let text = beginning_bytes(&text, TEXT_LIMIT);
        let names = |speaker: &&Speaker| {
            !speaker.name.trim().is_empty() && speaker.name.len() <= LABEL_LIMIT
        };
        let speaker = entry.speaker.as_ref().filter(names).cloned();
        let note = Note::new(text)
            .on_shelf(Shelf::Journal)
            .at(entry.at)
            .trusted(entry.trust)
            .derived(Derivation::Imported)
            .from_origin(format!("journal:{}", entry.id));
        Self {
            key: SourceKey::Entry(entry.id),
            shown: shown(text),
            at: entry.at,
            trust: entry.trust,
            speaker: speaker.clone(),
            note: Some(Note { speaker, ..note }),
        }
    }

    /// The record it is, if it is one already.
    pub(super) fn record(&self) -> Option<RecordId> {
        match self.key {
            SourceKey::Record(id) => Some(id),
            SourceKey::Entry(_) => None,
        }
    }

    /// The origin by which the store knows that the source is done.
    pub(super) fn mark(&self) -> String {
        match self.key {
            SourceKey::Record(id) => format!("extracted:{id}"),
            SourceKey::Entry(id) => format!("consolidated:{id}"),
        }
    }
}

/// A text in one line, so that nothing in it passes for a line of another source.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    dormouse_text::one_line(beginning_bytes(text, limit))
}

fn shown(text: &str) -> String {
    one_line(text, SHOWN)
}

/// The sources in the batches of their requests: new ones together, then one by one those that failed before, so that
/// one that no model will take does not hold up the others.
pub(super) fn batches(
    sources: Vec<Source>,
    attempts: &Attempts,
    settings: &WriterSettings,
) -> VecDeque<Vec<Source>> {
    let failed = |source: &Source| attempts.failures(&source.key.to_string()) > 0;
    let (again, new): (Vec<_>, Vec<_>) = sources.into_iter().partition(failed);
    let mut batches = VecDeque::new();
    let mut batch: Vec<Source> = Vec::new();
    let mut bytes = 0;
    for source in new {
        let full = batch.len() >= settings.batch.max(1)
            || bytes + source.shown.len() > settings.prompt_bytes;
        if full && !batch.is_empty() {
            batches.push_back(std::mem::take(&mut batch));
            bytes = 0;
        }
        bytes += source.shown.len();
        batch.push(source);
    }
    if !batch.is_empty() {
        batches.push_back(batch);
    }
    batches.extend(again.into_iter().map(|source| vec![source]));
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_shown_in_one_line_without_what_people_do_not_see() {
        assert_eq!(
            shown("tea\r\n\tis\u{202e} fine\u{200b}ly\u{2028}green"),
            "tea is finely green"
        );
    }
}
