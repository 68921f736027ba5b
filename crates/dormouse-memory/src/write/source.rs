//! The sources of facts.

use std::{collections::VecDeque, fmt};

use dormouse_contracts::{Attribution, Timestamp, Trust};
use dormouse_redact::{RedactionProfile, mask};
use dormouse_text::beginning_bytes;
use serde::{Deserialize, Serialize};

use super::{attempts::Attempts, settings::WriterSettings};
use crate::{
    note::{LABEL_LIMIT, Note, TEXT_LIMIT},
    record::{Collection, Derivation, Record, RecordId},
};

/// The longest text of one source that a model is shown, in bytes.
const SHOWN: usize = 4_000;

/// The key of a source.
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

/// A journal entry, with the fields that long-term memory needs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct JournalEntry {
    /// Its id, which is never reused.
    pub id: u64,
    /// What it says.
    pub text: String,
    /// When it was written.
    pub at: Timestamp,
    /// The trust of its source.
    pub trust: Trust,
    /// Who said it.
    #[serde(default)]
    pub speaker: Attribution,
}

/// A source and the text that a model is shown.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Source {
    pub(super) key: SourceKey,
    pub(super) shown: String,
    pub(super) at: Timestamp,
    pub(super) trust: Trust,
    pub(super) speaker: Attribution,
    /// The note that a journal entry becomes; `None` for a record.
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
        // A text or name that does not fit into a record would fail the whole batch, so it is cut or left out.
        let text = beginning_bytes(&text, TEXT_LIMIT);
        let fits = |name: &str| !name.trim().is_empty() && name.len() <= LABEL_LIMIT;
        let speaker = if entry.speaker.name().is_none_or(fits) {
            entry.speaker.clone()
        } else {
            Attribution::Unknown
        };
        let note = Note::new(text)
            .in_collection(Collection::Journal)
            .at(entry.at)
            .trusted(entry.trust)
            .derivation(Derivation::Imported)
            .from_source(format!("journal:{}", entry.id));
        Self {
            key: SourceKey::Entry(entry.id),
            shown: shown(text),
            at: entry.at,
            trust: entry.trust,
            speaker: speaker.clone(),
            note: Some(Note { speaker, ..note }),
        }
    }

    /// The number of the record; `None` for a journal entry.
    pub(super) fn record(&self) -> Option<RecordId> {
        match self.key {
            SourceKey::Record(id) => Some(id),
            SourceKey::Entry(_) => None,
        }
    }

    /// The origin that marks the source as done in the store.
    pub(super) fn mark(&self) -> String {
        match self.key {
            SourceKey::Record(id) => format!("extracted:{id}"),
            SourceKey::Entry(id) => format!("consolidated:{id}"),
        }
    }
}

/// A text in one line, so that no part of it looks like the line of another source.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    dormouse_text::one_line(beginning_bytes(text, limit))
}

fn shown(text: &str) -> String {
    one_line(text, SHOWN)
}

/// Divides the sources into batches. New sources come together. Sources that failed before come last, one by one, so that one
/// that always fails does not hold up the others.
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
    fn a_source_is_shown_in_one_line_without_hidden_characters() {
        assert_eq!(
            shown("tea\r\n\tis\u{202e} fine\u{200b}ly\u{2028}green"),
            "tea is finely green"
        );
    }
}
