//! Extracts facts from what was heard, and attributes from observations about people, with a model.
//!
//! There are three parts that share only data: requests are planned from the memory (`dormouse_memory::write`,
//! `dormouse_entities::Consolidation`), each reply is an event, and its result is one more event. So a crash in between
//! loses nothing: the next run begins with the replies that have no result yet.

mod again;
mod asking;
mod reflecting;
mod report;
mod run;

use std::{fmt, sync::Arc, time::Duration};

use dormouse_contracts::{Author, ChatModel, ChatRequest, Clock, Message, Random, TokenCounter};
use dormouse_entities::{Consolidation, ConsolidationPolicy, Entities, consolidation_batch};
use dormouse_memory::{
    MemoryError,
    write::{Attempts, Batch, ExtractionSettings, batches, request_of},
};
use dormouse_resilience::RetryBudget;

use crate::{event::ConsolidationRules, remembering::LoggedChangeError, replay::ReplayError};
pub(crate) use again::NightAgain;
pub use again::NightError;
pub use reflecting::{JournalWork, ReflectionCall};
pub use report::{Consolidated, ConsolidationEnd, ConsolidationForecast};
pub(crate) use run::Tonight;

/// The most tokens of a reply about one entity.
const ENTITY_REPLY_TOKENS: u32 = 800;
/// How many sources are looked at in one round.
const ROUND: usize = 10_000;

/// How a memory is consolidated.
#[derive(Clone, Debug)]
pub struct ConsolidationSettings {
    /// How facts are made.
    pub extraction: ExtractionSettings,
    /// Which observations are consolidated. All due entities are consolidated, without a limit.
    pub people: ConsolidationPolicy,
    /// The most requests in one run.
    pub max_requests: u64,
    /// Who decided on it.
    pub author: Author,
    /// How long one attempt of a request may take.
    pub timeout: Duration,
    /// The longest time from the start of the first attempt to the start of the last.
    pub retry_for: Duration,
    /// Limits the retries of all callers together.
    pub retry_budget: RetryBudget,
}

impl ConsolidationSettings {
    /// The rules on which decisions depend.
    fn rules(&self) -> ConsolidationRules {
        ConsolidationRules {
            extraction: self.extraction.clone(),
            people: self.people,
        }
    }
}

/// Consolidates memories with a model.
#[derive(Clone)]
pub struct Consolidator {
    /// The model that is asked.
    pub model: Arc<dyn ChatModel>,
    /// The clock.
    pub clock: Arc<dyn Clock>,
    /// Spreads retries.
    pub random: Arc<dyn Random>,
    /// Counts the tokens of requests and replies.
    pub counter: Arc<dyn TokenCounter>,
    /// How it is done.
    pub settings: ConsolidationSettings,
}

impl fmt::Debug for Consolidator {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Consolidator")
            .field("model", &self.model.identity())
            .field("settings", &self.settings)
            .finish_non_exhaustive()
    }
}

/// A consolidation could not be completed. What was done before is in events, and is kept. A failure of the model is
/// not
/// an error: it is reported as [`ConsolidationEnd::ModelFailed`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ConsolidateError {
    /// The log could not be folded.
    #[error("the log could not be replayed")]
    Replay(#[from] ReplayError),
    /// An event could not be written or taken in.
    #[error(transparent)]
    Change(#[from] LoggedChangeError),
    /// The memory could not be read.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

impl Consolidator {
    /// The first requests of a run. Sends none of them and changes nothing.
    ///
    /// # Errors
    ///
    /// [`MemoryError`] if the memory cannot be read.
    pub async fn forecast(
        &self,
        memory: &dormouse_memory::Memory,
    ) -> Result<ConsolidationForecast, MemoryError> {
        let attempts = Attempts::default();
        let sources = memory.unread_sources(&self.settings.extraction, usize::MAX);
        let batches = batches(sources.await?, &attempts, &self.settings.extraction);
        let people = memory.with_entities(|known| self.due(known, &attempts));
        let records = batches.iter().map(|batch| batch.records().len() as u64);
        let mut forecast = ConsolidationForecast {
            records: records.sum(),
            people: people.len() as u64,
            ..ConsolidationForecast::default()
        };
        let extractions = batches.iter().map(|batch| self.extraction(batch));
        let requests = extractions.chain(people.iter().map(consolidation));
        let max_requests = usize::try_from(self.settings.max_requests).unwrap_or(usize::MAX);
        for request in requests.take(max_requests) {
            forecast.requests += 1;
            forecast.prompt_tokens += u64::from(self.tokens(&request));
        }
        Ok(forecast)
    }

    fn extraction(&self, batch: &Batch) -> ChatRequest {
        batch.request(&self.settings.extraction)
    }

    /// The entities whose observations are due, without those that were given up.
    fn due(&self, known: &Entities, attempts: &Attempts) -> Vec<Consolidation> {
        let policy = ConsolidationPolicy {
            max_entities: usize::MAX,
            ..self.settings.people
        };
        let batch = consolidation_batch(known, &policy).into_iter();
        let left = batch.filter(|entity| !attempts.gave_up(entity.as_str()));
        let profiles = left.filter_map(|entity| known.profile(entity));
        profiles
            .filter_map(|profile| Consolidation::of(profile, &policy))
            .collect()
    }

    fn tokens(&self, request: &ChatRequest) -> u32 {
        let texts = request.messages.iter().map(|message| match message {
            Message::System { content } | Message::User { content } => {
                self.counter.count(content).tokens
            }
            _ => 0,
        });
        texts.fold(0, u32::saturating_add)
    }
}

/// The request about the observations of one entity.
fn consolidation(due: &Consolidation) -> ChatRequest {
    request_of(
        due.messages().to_vec(),
        due.task().clone(),
        ENTITY_REPLY_TOKENS,
    )
}
