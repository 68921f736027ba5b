//! The records that facts are made from, in batches.

use std::collections::BTreeMap;

use dormouse_contracts::{Attribution, Audience, Seq, Timestamp, Trust};
use dormouse_text::beginning_bytes;

use super::{attempts::Attempts, settings::ExtractionSettings};
use crate::{
    memory::{Inner, Memory, MemoryError, blocking},
    record::{Collection, Derivation, Record, RecordId, RecordKind},
    store::{StoreError, tables},
};

/// The longest text of one source that a model is shown, in bytes.
const SHOWN: usize = 4_000;
/// How many records are looked at in one read of the file.
const PAGE: usize = 1_000;

/// A record that facts are made from, with its text as it is shown to a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    pub(super) id: RecordId,
    pub(super) shown: String,
    pub(super) at: Timestamp,
    pub(super) trust: Trust,
    pub(super) speaker: Attribution,
    pub(super) thread: Option<String>,
    pub(super) collection: Collection,
    /// Who perceived it.
    pub(super) audience: Audience,
}

impl Source {
    fn of(record: Record) -> Self {
        Self {
            id: record.id,
            audience: record.known_to(),
            shown: one_line(&record.text, SHOWN),
            at: record.at,
            trust: record.trust,
            speaker: record.speaker,
            thread: record.thread,
            collection: record.collection,
        }
    }

    /// The record.
    #[must_use]
    pub fn id(&self) -> RecordId {
        self.id
    }
}

impl Memory {
    /// Those of these records that [`Memory::unread_sources`] could return, in the given order.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn sources(
        &self,
        settings: &ExtractionSettings,
        records: &[RecordId],
    ) -> Result<Vec<Source>, MemoryError> {
        let inner = self.inner.clone();
        let records = records.to_vec();
        let min_trust = settings.admission.min_trust;
        blocking(move || Ok(inner.sources(min_trust, &records)?)).await
    }

    /// The event by which facts were made of each of these records, also if that was taken back; `None` if none were.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn read_by(&self, records: &[RecordId]) -> Result<Vec<Option<Seq>>, MemoryError> {
        let inner = self.inner.clone();
        let records = records.to_vec();
        blocking(move || {
            let read_by: Vec<u64> = inner.store.read(|reading| {
                let read_by = records.iter();
                let read_by = read_by.map(|id| reading.state(&tables::extracted(*id)));
                read_by.collect()
            })?;
            // The number of an event is never 0.
            let read_by = read_by.into_iter();
            Ok(read_by.map(|seq| (seq > 0).then_some(Seq(seq))).collect())
        })
        .await
    }

    /// At most `limit` sources in the order of their records: what others said, what was imported, and what the journal has of what
    /// happened, believed at least as far as a fact must be, and not read yet. The words of the assistant itself are left out: they repeat what it heard.
    ///
    /// Reads the records of the file until there are enough.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn unread_sources(
        &self,
        settings: &ExtractionSettings,
        limit: usize,
    ) -> Result<Vec<Source>, MemoryError> {
        let inner = self.inner.clone();
        let min_trust = settings.admission.min_trust;
        blocking(move || Ok(inner.unread_sources(min_trust, limit)?)).await
    }
}

impl Inner {
    fn sources(&self, min_trust: Trust, records: &[RecordId]) -> Result<Vec<Source>, StoreError> {
        self.store.read(|reading| {
            let mut sources = Vec::new();
            for record in reading.records(records)?.into_iter().flatten() {
                let is_read = reading.state(&tables::extracted(record.id))? > 0;
                if may_be_asked_about(&record, min_trust) && record.is_in_use() && !is_read {
                    sources.push(Source::of(record));
                }
            }
            Ok(sources)
        })
    }

    fn unread_sources(&self, min_trust: Trust, limit: usize) -> Result<Vec<Source>, StoreError> {
        let mut sources = Vec::new();
        let mut after = None;
        while sources.len() < limit {
            let page = self.store.read(|reading| reading.page(after, PAGE))?;
            let Some(last) = page.last() else { break };
            after = Some(last.id);
            let raw = page.into_iter();
            let raw = raw.filter(|record| may_be_asked_about(record, min_trust));
            let raw: Vec<RecordId> = raw.map(|record| record.id).collect();
            sources.extend(self.sources(min_trust, &raw)?);
        }
        sources.truncate(limit);
        Ok(sources)
    }
}

/// Whether facts may be made of a record: of what others said, what was imported, and what the journal has of what happened, if it
/// is believed far enough.
fn may_be_asked_about(record: &Record, min_trust: Trust) -> bool {
    let is_source = is_raw(record) || is_journal_entry(record);
    is_source && record.trust >= min_trust && record.speaker != Attribution::Myself
}

/// Whether a record is an entry of the journal about what happened. What was concluded is no source of facts.
fn is_journal_entry(record: &Record) -> bool {
    record.collection == Collection::Journal
        && record.provenance.derivation == Derivation::Stored
        && record.kind == RecordKind::Event
}

/// Whether a record holds what somebody said or what happened, word for word. It is evidence, which never becomes wrong.
pub(super) fn is_raw(record: &Record) -> bool {
    match record.provenance.derivation {
        Derivation::Heard => true,
        Derivation::Imported => record.kind == RecordKind::Event,
        Derivation::Stored | Derivation::Extracted | Derivation::Consolidated => false,
    }
}

/// A text in one line, so that no part of it looks like the line of another source.
pub(super) fn one_line(text: &str, limit: usize) -> String {
    dormouse_text::one_line(beginning_bytes(text, limit))
}

/// The sources of one request. All are of one conversation.
#[derive(Clone, Debug, PartialEq)]
pub struct Batch {
    pub(super) sources: Vec<Source>,
}

impl Batch {
    /// One batch of these sources.
    #[must_use]
    pub fn of(sources: Vec<Source>) -> Self {
        Self { sources }
    }

    /// Its records, in order.
    #[must_use]
    pub fn records(&self) -> Vec<RecordId> {
        self.sources.iter().map(Source::id).collect()
    }
}

/// Divides the sources into batches, leaving out those that were given up. A batch contains new sources of one
/// conversation only, so that no request mixes two conversations. Sources that failed before come last, one by one, so
/// that one
/// that always fails does not hold up the others.
#[must_use]
pub fn batches(
    sources: Vec<Source>,
    attempts: &Attempts,
    settings: &ExtractionSettings,
) -> Vec<Batch> {
    let left = sources
        .into_iter()
        .filter(|source| !attempts.gave_up(&source.id.to_string()));
    let failed = |source: &Source| attempts.failures(&source.id.to_string()) > 0;
    let (again, new): (Vec<_>, Vec<_>) = left.partition(failed);
    let mut threads: BTreeMap<(Collection, Option<String>), Vec<Source>> = BTreeMap::new();
    for source in new {
        let thread = (source.collection, source.thread.clone());
        threads.entry(thread).or_default().push(source);
    }
    let mut batches: Vec<Batch> = threads
        .into_values()
        .flat_map(|thread| cut(thread, settings))
        .collect();
    // The oldest first, whichever conversation it is of.
    batches.sort_by_key(|batch| batch.sources.first().map(Source::id));
    batches.extend(again.into_iter().map(|source| Batch::of(vec![source])));
    batches
}

fn cut(sources: Vec<Source>, settings: &ExtractionSettings) -> Vec<Batch> {
    let mut batches = Vec::new();
    let mut batch: Vec<Source> = Vec::new();
    let mut bytes = 0;
    for source in sources {
        let full = batch.len() >= settings.batch.max(1)
            || bytes + source.shown.len() > settings.prompt_bytes;
        if full && !batch.is_empty() {
            batches.push(Batch::of(std::mem::take(&mut batch)));
            bytes = 0;
        }
        bytes += source.shown.len();
        batch.push(source);
    }
    if !batch.is_empty() {
        batches.push(Batch::of(batch));
    }
    batches
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_source_is_shown_in_one_line_without_hidden_characters() {
        assert_eq!(
            one_line("tea\r\n\tis\u{202e} fine\u{200b}ly\u{2028}green", SHOWN),
            "tea is finely green"
        );
    }
}
