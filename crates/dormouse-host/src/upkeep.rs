//! Work on the memory of an assistant that a model does outside of ticks, because somebody asks for it: facts from what was heard,
//! conclusions from the journal, summaries of earlier turns, and a whole night.

use std::{sync::Arc, time::Duration};

use dormouse_contracts::{
    AssistantId, Author, ChatModel, Clock, LoadSnapshot, Random, ReadEvents, TokenCounter,
};
use dormouse_engine::{
    CompactError, Compacting, Compactor, ConsolidateError, ConsolidationEnd, ConsolidationSettings,
    Consolidator, JournalWork, LoggedChangeError, LoggedMemory, Night, NightWorker, ReflectionCall,
    ReplayError, SleepError, State, WakeCause, restore,
};
use dormouse_entities::ConsolidationPolicy;
use dormouse_memory::write::ExtractionSettings;
use dormouse_providers::token_counter_for;
use dormouse_resilience::RetryBudget;

use crate::{config::Config, host::OpenLog, provider::Models};

/// The model that does the work, and how it is asked.
#[derive(Clone)]
pub struct UpkeepModel {
    pub(crate) model: Arc<dyn ChatModel>,
    pub(crate) counter: Arc<dyn TokenCounter>,
    pub(crate) timeout: Duration,
    pub(crate) retry_budget: RetryBudget,
    pub(crate) clock: Arc<dyn Clock>,
    pub(crate) random: Arc<dyn Random>,
}

impl std::fmt::Debug for UpkeepModel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("UpkeepModel")
            .field("model", &self.model.identity())
            .finish_non_exhaustive()
    }
}

impl UpkeepModel {
    /// These models, for a program in which no assistant is awake.
    #[must_use]
    pub fn of(models: Models, clock: Arc<dyn Clock>, random: Arc<dyn Random>) -> Self {
        Self {
            model: Arc::new(models.model),
            counter: models.counter,
            timeout: models.timeout,
            retry_budget: models.retry_budget,
            clock,
            random,
        }
    }

    /// What asks this model for an assistant with this configuration: at most so many times, because somebody decided on it.
    #[must_use]
    pub fn consolidator(
        self,
        (key, config): (&AssistantId, &Config),
        most_requests: u64,
        author: Author,
    ) -> Consolidator {
        Consolidator {
            clock: self.clock,
            random: self.random,
            counter: self.counter,
            settings: ConsolidationSettings {
                extraction: ExtractionSettings {
                    names: vec![config.assistant.name(), key.to_string()],
                    ..ExtractionSettings::default()
                },
                people: ConsolidationPolicy::default(),
                max_requests: most_requests,
                author,
                timeout: self.timeout,
                retry_for: config.provider.retry_for.0,
                retry_budget: self.retry_budget,
            },
            model: self.model,
        }
    }
}

/// A night was not lived through.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WholeNightError {
    /// The log could not be folded.
    #[error("the log could not be replayed")]
    Replay(#[from] ReplayError),
    /// It is stopped or awake.
    #[error(transparent)]
    Sleep(#[from] SleepError),
    /// The outcome could not be written.
    #[error(transparent)]
    Change(#[from] LoggedChangeError),
}

/// What compaction would leave out of prompts. Changes nothing.
///
/// # Errors
///
/// [`CompactError`].
pub async fn forecast_compaction<L: ReadEvents + LoadSnapshot>(
    by: Consolidator,
    log: &L,
    key: &AssistantId,
) -> Result<Compacting, CompactError> {
    let state = restore(log, key).await?;
    let by = counting_as(by, &state);
    Compactor { by }.forecast(log, key).await
}

/// Leaves earlier turns out of prompts, as far as the window is full, and lets the model sum them up.
///
/// # Errors
///
/// [`CompactError`]. A failure of the model is not an error: it is in the report.
pub async fn compact(
    by: Consolidator,
    memory: &mut LoggedMemory<OpenLog>,
) -> Result<Compacting, CompactError> {
    let by = counting_as(by, &*memory.state().await?);
    Box::pin(Compactor { by }.run(memory)).await
}

/// Draws conclusions from the entries of the journal since the last reflection. Before that, a few entries get their importance from
/// the model if `scores`.
///
/// # Errors
///
/// [`ConsolidateError`] if log or memory fail.
pub async fn conclude(
    by: &Consolidator,
    memory: &mut LoggedMemory<OpenLog>,
    scores: EntryScoring,
) -> Result<JournalWork, ConsolidateError> {
    let mut work = JournalWork::default();
    if scores == EntryScoring::First {
        work = Box::pin(by.score_entries(memory)).await?;
    }
    if work.end != ConsolidationEnd::Done {
        return Ok(work);
    }
    let reflected = Box::pin(by.reflect(memory, ReflectionCall::Now)).await?;
    Ok(JournalWork {
        scored: work.scored,
        requests: work.requests + reflected.requests,
        resumed: work.resumed + reflected.resumed,
        refused: work.refused + reflected.refused,
        ..reflected
    })
}

/// Whether entries are scored before conclusions are drawn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryScoring {
    /// A few of them.
    First,
    /// None.
    Not,
}

/// Does all work of the night that has begun, without pauses, and wakes the assistant. Only for an assistant that is not awake in this
/// process: one that is does the work by itself.
///
/// # Errors
///
/// [`WholeNightError`]; what was done is kept, and the night goes on from there.
pub async fn whole_night(
    by: &Consolidator,
    memory: &mut LoggedMemory<OpenLog>,
) -> Result<Night, WholeNightError> {
    loop {
        let state = memory.state().await?;
        if state.stop.is_on() {
            return Err(SleepError::Stopped.into());
        }
        let Some(night) = state.sleep.tonight() else {
            return Err(SleepError::Awake.into());
        };
        let Some(step) = night.next_step() else {
            let woken = state.wake_up(WakeCause::AllDone)?;
            memory.note_waking(woken).await?;
            return Ok(night.clone());
        };
        let worker = NightWorker::new(counting_as(by.clone(), &state), night.number);
        worker.work(memory, step).await?;
    }
}

/// The same, which measures prompts with the assistant's own token counter, even if another model sums them up.
fn counting_as(by: Consolidator, state: &State) -> Consolidator {
    let model = state.configuration.model.as_ref();
    let counter = model.map(|model| token_counter_for(&model.provider, &model.name));
    Consolidator {
        counter: counter.unwrap_or_else(|| Arc::clone(&by.counter)),
        ..by
    }
}
