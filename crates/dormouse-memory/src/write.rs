//! Writing with a model: from what was heard to what is known.
//!
//! Nothing of this is needed to remember: what is heard is a record at once. A [`Writer`] makes more of it while there is
//! time, in three steps for each batch of sources:
//!
//! 1. **Extract**: one request for all sources of the batch; the model answers facts about the world and the people in it,
//!    in the third person and each with its sources. Never about the assistant (persona protection).
//! 2. **Decide** for each: add, supersede, link or ignore. A pure rule does; only where a record is about the same and
//!    says something else, one more request asks the model about all such cases of the batch.
//! 3. **Commit**: everything the batch led to, and the mark that it is done, in one transaction.
//!
//! So a crash, or dropping the future, loses at most a batch that has not been written, and going the same way again writes
//! nothing twice. A model that fails or talks nonsense leaves the sources untouched; [`Attempts`] counts how often, and
//! after three failures a source is passed over and reported. Waiting between calls is the caller's: a call ends at the
//! first failure. There is no timeout inside; give it a model that has one.
//!
//! Trust travels: a fact has the lowest trust of its sources, and supersedes nothing that is believed more.

mod attempts;
mod commit;
mod decide;
mod extract;
mod judge;
mod people;
mod reply;
mod source;

use std::{fmt, sync::Arc};

use dormouse_contracts::{ChatModel, ChatRequest, Message, ModelErrorKind, complete};
use serde::{Deserialize, Serialize};

use crate::{
    admission::AdmissionPolicy,
    memory::{Memory, MemoryError, blocking},
    record::{Derivation, RecordId},
};
pub use attempts::Attempts;
use commit::Outcome;
pub use decide::{Decided, Decision, Extracted, decide};
pub use people::{SummedUp, consolidate_entities};
use source::Source;
pub use source::{JournalEntry, SourceKey};

/// The bounds of a writer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WriterSettings {
    /// The most sources of one request: 10. At least one is taken.
    pub batch: usize,
    /// The most bytes of sources in one request: 24,000, about 6,000 tokens. At least one source is taken, cut to 4,000.
    pub prompt_bytes: usize,
    /// The most facts taken from one reply: 24. The rest is cut.
    pub facts: usize,
    /// The most tokens of a reply: 2,000.
    pub reply_tokens: u32,
    /// What may become a record.
    pub admission: AdmissionPolicy,
    /// The names the assistant goes by; facts about them are not kept.
    pub names: Vec<String>,
}

impl Default for WriterSettings {
    fn default() -> Self {
        Self {
            batch: 10,
            prompt_bytes: 24_000,
            facts: 24,
            reply_tokens: 2_000,
            admission: AdmissionPolicy::default(),
            names: Vec::new(),
        }
    }
}

/// Writes down what a model makes of records and journal entries.
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

/// Why a batch was not written. Its sources are untouched.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Failure {
    /// The model failed.
    #[error("the model failed: {0}")]
    Model(ModelErrorKind),
    /// What it answered is no list of facts.
    #[error("the model's answer could not be read")]
    Unreadable,
}

/// What came of writing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Written {
    /// The new records, without those that stand for journal entries.
    pub added: Vec<RecordId>,
    /// How many records were superseded.
    pub superseded: u64,
    /// How many links were made.
    pub linked: u64,
    /// How many facts were not kept because of the rule or the model; each is a change with its reason.
    pub ignored: u64,
    /// How many facts of replies were of no use: without text or source.
    pub unusable: u64,
    /// The sources that are done now.
    pub done: Vec<SourceKey>,
    /// The sources that had been done before.
    pub done_before: Vec<SourceKey>,
    /// The sources that are still to do: call again later.
    pub left: Vec<SourceKey>,
    /// The sources that failed too often and are passed over, until the attempts are counted anew.
    pub gave_up: Vec<SourceKey>,
    /// Why the call ended before all was done, if it did.
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

    /// The same writer with other bounds.
    #[must_use]
    pub fn with_settings(mut self, settings: WriterSettings) -> Self {
        self.settings = settings;
        self
    }

    /// Writes down what these records say. Records that are not there, or not in use, are passed over as done.
    ///
    /// # Errors
    ///
    /// [`MemoryError`] if the memory fails. What a model gets wrong is in the answer.
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

    /// Moves what journal entries say to long-term memory. Each entry becomes a record of its own on the journal's shelf,
    /// so that the facts made of it can be followed back to it.
    ///
    /// # Errors
    ///
    /// [`MemoryError`] if the memory fails. What a model gets wrong is in the answer.
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
                Ok(reply) => judge::take(&reply, &mut plan),
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

/// Asks a model for one reply, as soberly as it can.
async fn ask(
    model: &dyn ChatModel,
    messages: Vec<Message>,
    reply_tokens: u32,
) -> Result<String, Failure> {
    let request = ChatRequest {
        messages,
        temperature: Some(0.0),
        max_tokens: Some(reply_tokens),
        ..ChatRequest::default()
    };
    let reply = complete(model, &request).await;
    reply
        .map(|reply| reply.content)
        .map_err(|error| Failure::Model(error.kind()))
}

/// The sources that are neither done nor given up, each once.
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
                .map(|source| reading.by_origin(&source.mark()));
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
