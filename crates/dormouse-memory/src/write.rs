//! Writing with a model: from what was heard to facts.
//!
//! Remembering does not need this: what is heard becomes a record at once. A [`Writer`] makes facts from such records when
//! there is time, in three steps for each batch of sources:
//!
//! 1. **Extract**: one request for all sources of the batch. The model returns facts about the world and the people in it, in
//!    the third person and each with its sources; never about the assistant (persona protection).
//! 2. **Decide** for each fact: add, supersede, link or ignore. A pure rule decides. Only if a record is about the same subject
//!    and says something else, one more request asks the model about all such cases of the batch.
//! 3. **Commit**: all results of the batch, and the marks that its sources are done, in one transaction.
//!
//! So a crash, or dropping the future, loses at most one batch that was not written yet, and repeating the call writes
//! nothing twice. If the model fails or returns no list of facts, the sources stay as they are. [`Attempts`] counts the
//! failures; after three of them a source is skipped and reported. A call ends at the first failure, and the caller decides
//! when to try again. There is no timeout inside; pass a model that has one.
//!
//! A fact has the lowest trust of its sources, and never supersedes a record of higher trust.

mod ask;
mod attempts;
mod commit;
mod decide;
mod extract;
mod judge;
mod people;
mod reply;
mod settings;
mod source;

use std::{fmt, sync::Arc};

use dormouse_contracts::{ChatModel, Message};
use serde::{Deserialize, Serialize};

use crate::{
    memory::{Memory, MemoryError, blocking},
    record::{Derivation, RecordId},
};
pub use ask::Failure;
use ask::ask;
pub use attempts::Attempts;
use commit::Outcome;
pub use decide::{Decided, Decision, Extracted, decide};
pub use people::{ConsolidatedEntities, consolidate_entities};
pub use settings::WriterSettings;
use source::Source;
pub use source::{JournalEntry, SourceKey};

/// Writes the facts that a model makes from records and journal entries.
#[derive(Clone)]
pub struct Writer {
    model: Arc<dyn ChatModel>,
    settings: WriterSettings,
}

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Writer")
            .field("model", &self.model.identity())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// The result of writing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The new records, without those of journal entries.
    pub added: Vec<RecordId>,
    /// How many records were superseded.
    pub superseded: u64,
    /// How many links were made.
    pub linked: u64,
    /// How many facts were not kept, by the rule or by the model. Each is a change with its reason.
    pub ignored: u64,
    /// How many facts in replies were unusable: without text or source.
    pub unusable: u64,
    /// The sources that are done now.
    pub done: Vec<SourceKey>,
    /// The sources that were done before.
    pub done_before: Vec<SourceKey>,
    /// The sources that are not done yet: call again later.
    pub left: Vec<SourceKey>,
    /// The sources that failed too often and are skipped until the attempts are counted anew.
    pub gave_up: Vec<SourceKey>,
    /// Why the call ended early, if it did.
    pub failure: Option<Failure>,
}

impl Writer {
    /// A writer with this model.
    #[must_use]
    pub fn new(model: Arc<dyn ChatModel>) -> Self {
        Self {
            model,
            settings: WriterSettings::default(),
        }
    }

    /// The same writer with other settings.
    #[must_use]
    pub fn with_settings(mut self, settings: WriterSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Writes the facts in these records. Records that do not exist or are not in use are skipped.
    ///
    /// # Errors
    ///
    /// [`MemoryError`] if the memory fails. A failure of the model is part of the result.
    pub async fn extract(
        &self,
        memory: &Memory,
        records: &[RecordId],
        attempts: &mut Attempts,
    ) -> Result<Written, MemoryError> {
        let mut sources = Vec::with_capacity(records.len());
        for id in records {
            if let Some(record) = memory.record(*id).await?.filter(|found| found.is_in_use()) {
                sources.push(Source::of_record(&record));
            }
        }
        self.write(memory, sources, Derivation::Extracted, attempts)
            .await
    }

    /// Moves the facts in journal entries to long-term memory. Each entry becomes a record of the journal collection, so that
    /// its facts can be traced back to it.
    ///
    /// # Errors
    ///
    /// [`MemoryError`] if the memory fails. A failure of the model is part of the result.
    pub async fn consolidate(
        &self,
        memory: &Memory,
        entries: &[JournalEntry],
        attempts: &mut Attempts,
    ) -> Result<Written, MemoryError> {
        let readable = entries.iter().filter(|entry| !entry.text.trim().is_empty());
        let sources = readable.map(Source::of_entry).collect();
        self.write(memory, sources, Derivation::Consolidated, attempts)
            .await
    }

    async fn write(
        &self,
        memory: &Memory,
        sources: Vec<Source>,
        derivation: Derivation,
        attempts: &mut Attempts,
    ) -> Result<Written, MemoryError> {
        let mut written = Written::default();
        let todo = still_to_do(memory, sources, attempts, &mut written).await?;
        let mut batches = source::batches(todo, attempts, &self.settings).into_iter();
        for batch in batches.by_ref() {
            match self.write_batch(memory, &batch, derivation).await? {
                Ok(outcome) => written.take(outcome, batch, attempts),
                Err(failure) => {
                    written.failure = Some(failure);
                    written.fail(batch, attempts);
                    break;
                }
            }
        }
        let rest = batches.flatten().map(|source| source.key);
        written.left.extend(rest);
        Ok(written)
    }

    async fn write_batch(
        &self,
        memory: &Memory,
        batch: &[Source],
        derivation: Derivation,
    ) -> Result<Result<Outcome, Failure>, MemoryError> {
        let reply = match self.ask(extract::messages(batch)).await {
            Ok(reply) => reply,
            Err(failure) => return Ok(Err(failure)),
        };
        let Some(read) = extract::read(&reply, batch, self.settings.facts) else {
            return Ok(Err(Failure::Unreadable));
        };
        let mut plan = decide::plan(memory, read.facts, &self.settings).await?;
        let asked = judge::questions(&plan);
        if !asked.is_empty() {
            match self.ask(judge::messages(&asked)).await {
                Ok(reply) => judge::apply(&reply, &mut plan),
                Err(failure) => return Ok(Err(failure)),
            }
        }
        let unusable = read.unusable;
        let outcome = commit::commit(memory, batch.to_vec(), plan, derivation).await?;
        Ok(Ok(Outcome {
            unusable,
            ..outcome
        }))
    }

    async fn ask(&self, messages: Vec<Message>) -> Result<String, Failure> {
        ask(self.model.as_ref(), messages, self.settings.reply_tokens).await
    }
}

/// The sources that are neither done nor given up, without repetitions.
async fn still_to_do(
    memory: &Memory,
    sources: Vec<Source>,
    attempts: &Attempts,
    written: &mut Written,
) -> Result<Vec<Source>, MemoryError> {
    let inner = memory.inner.clone();
    let (sources, done) = blocking(move || {
        let done = inner.store.read(|reading| {
            let marks = sources
                .iter()
                .map(|source| reading.by_source(&source.mark()));
            marks.collect::<Result<Vec<_>, _>>()
        })?;
        Ok((sources, done))
    })
    .await?;
    let mut todo: Vec<Source> = Vec::new();
    for (source, done) in sources.into_iter().zip(done) {
        if done.is_some() {
            written.done_before.push(source.key);
        } else if attempts.gave_up(&source.key.to_string()) {
            written.gave_up.push(source.key);
        } else if todo.iter().all(|other| other.key != source.key) {
            todo.push(source);
        }
    }
    Ok(todo)
}

impl Written {
    fn take(&mut self, outcome: Outcome, batch: Vec<Source>, attempts: &mut Attempts) {
        self.added.extend(outcome.added);
        self.superseded += outcome.superseded;
        self.linked += outcome.linked;
        self.ignored += outcome.ignored;
        self.unusable += outcome.unusable;
        for source in batch {
            attempts.succeeded(&source.key.to_string());
            self.done.push(source.key);
        }
    }

    fn fail(&mut self, batch: Vec<Source>, attempts: &mut Attempts) {
        for source in batch {
            let key = source.key.to_string();
            attempts.failed(&key);
            if attempts.gave_up(&key) {
                self.gave_up.push(source.key);
            } else {
                self.left.push(source.key);
            }
        }
    }
}

#[cfg(test)]
mod tests;
