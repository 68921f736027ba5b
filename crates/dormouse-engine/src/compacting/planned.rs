//! Showing earlier turns shorter while nobody waits for an answer.

use dormouse_contracts::{Append, AssistantId, LoadSnapshot, ReadEvents, Seq};
use dormouse_tools::RegistryError;
use serde::Serialize;

use super::{SummaryAsk, WindowLevel, failed, plan, summarized};
use crate::{
    consolidating::{ConsolidateError, ConsolidationEnd, Consolidator},
    decide::{Prepared, shortened_reply},
    event::{
        CallReserved, Compacted, CompactionMode, Event, FactsBefore, HistorySpan, SummaryFailure,
    },
    prompt::{Preamble, measure_all},
    remembering::LoggedMemory,
    replay::{ReplayError, restore},
    secrets::masked_reply,
    state::{State, Turns},
    work::Reply,
};

/// Shows earlier turns of an assistant that does not run shorter.
#[derive(Clone, Debug)]
pub struct Compactor {
    /// Extracts facts first, and its model makes the summaries. Its token counter must be the assistant's.
    pub by: Consolidator,
}

/// How much of the context window the history takes, and the result of shortening it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Compacting {
    /// How many tokens instructions, tools and all earlier turns took.
    pub before: u32,
    /// How many they take now, without summaries; unchanged if nothing was done.
    pub after: u32,
    /// The size of the context window, in tokens.
    pub window: u32,
    /// How full it was.
    pub level: WindowLevel,
    /// Turns whose results are one line each from now on.
    pub masked: usize,
    /// Turns that are left out from now on.
    pub dropped: usize,
    /// The result of extracting facts, if that was done.
    pub facts: Option<FactsBefore>,
    /// How many summaries were made.
    pub summaries: u64,
    /// How many summaries were not made. They are tried again.
    pub failed: u64,
    /// Why no more summaries were made, if the assistant is stopped or may spend no more. They are made later.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<ConsolidationEnd>,
}

/// Nothing could be shown shorter.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CompactError {
    /// The log could not be folded.
    #[error("the log could not be replayed")]
    Replay(#[from] ReplayError),
    /// The memory or the log failed.
    #[error(transparent)]
    Consolidate(#[from] ConsolidateError),
    /// The tools of the log cannot be prepared.
    #[error("the tools in the log cannot be used")]
    Tools(#[from] RegistryError),
    /// Compaction is turned off.
    #[error("compaction.enabled is false; set it to true to leave earlier turns out of prompts")]
    Off,
    /// A message is being answered.
    #[error("a message is being answered; earlier turns can be left out when nobody waits")]
    Busy,
}

impl Compactor {
    /// What would be done. Sends no request and changes nothing.
    ///
    /// # Errors
    ///
    /// [`CompactError`].
    pub async fn forecast<L: ReadEvents + LoadSnapshot>(
        &self,
        log: &L,
        key: &AssistantId,
    ) -> Result<Compacting, CompactError> {
        let state = restore(log, key).await?;
        let prepared = self.prepared(key, &state)?;
        Ok(report(&state, &prepared.preamble_within(&state, u32::MAX)).0)
    }

    /// If earlier turns fill the share of the context window that is set for sleep, extracts facts and then shows the
    /// turns shorter. Makes missing summaries.
    ///
    /// # Errors
    ///
    /// [`CompactError`]. A failure of the model is not an error: it is in the report.
    pub async fn run<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
    ) -> Result<Compacting, CompactError> {
        let key = memory.memory().assistant().clone();
        let state = memory.state().await?;
        let prepared = self.prepared(&key, &state)?;
        let (_, is_due) = report(&state, &prepared.preamble_within(&state, u32::MAX));
        let facts = match is_due.is_some() && state.configuration.settings.compaction.extracts_facts
        {
            true => Some(self.facts(memory).await?),
            false => None,
        };
        Box::pin(self.shorten(memory, facts)).await
    }

    /// The same after facts were extracted, with the result `facts`.
    ///
    /// # Errors
    ///
    /// [`CompactError`].
    pub(crate) async fn shorten<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        facts: Option<FactsBefore>,
    ) -> Result<Compacting, CompactError> {
        let key = memory.memory().assistant().clone();
        let state = memory.state().await?;
        let prepared = self.prepared(&key, &state)?;
        let (mut came_of_it, _) = report(&state, &prepared.preamble_within(&state, u32::MAX));
        came_of_it.facts = facts;
        let decide = |state: &State| {
            let (_, compacted) = report(state, &prepared.preamble_within(state, u32::MAX));
            let compacted = compacted.filter(|_| !is_busy(&state.turns))?;
            Some(Event::Compacted(Compacted {
                extraction: facts,
                ..compacted
            }))
        };
        append(memory, decide).await?;
        Box::pin(self.summarize(memory, &mut came_of_it)).await?;
        Ok(came_of_it)
    }

    fn prepared(&self, key: &AssistantId, state: &State) -> Result<Prepared, CompactError> {
        if !state.configuration.settings.compaction.is_on {
            return Err(CompactError::Off);
        }
        if is_busy(&state.turns) {
            return Err(CompactError::Busy);
        }
        let counter = self.by.counter.clone();
        Ok(Prepared::of(key, &state.configuration, counter)?)
    }

    async fn facts<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
    ) -> Result<FactsBefore, CompactError> {
        let found = self.by.facts(memory).await?;
        Ok(match found.end {
            ConsolidationEnd::Done => FactsBefore::Added(found.added),
            ConsolidationEnd::MaxRequests
            | ConsolidationEnd::Stopped
            | ConsolidationEnd::BudgetSpent => FactsBefore::Partly(found.added),
            ConsolidationEnd::ModelFailed { .. } => FactsBefore::Failed,
        })
    }

    /// Makes the summaries that are missing, each tried once.
    async fn summarize<L: Append + ReadEvents + LoadSnapshot>(
        &self,
        memory: &mut LoggedMemory<L>,
        came_of_it: &mut Compacting,
    ) -> Result<(), CompactError> {
        let mut tried: Vec<Seq> = Vec::new();
        loop {
            let state = memory.state().await?;
            let mut open = state.compactions.open();
            let Some(open) = open.find(|open| !tried.contains(&open.span.from)) else {
                return Ok(());
            };
            tried.push(open.span.from);
            let span = &open.span;
            let asked = match SummaryAsk::of(&state, &*self.by.counter, span) {
                Some(ask) => match self.by.reserved(memory, &ask.request).await? {
                    Ok(reserved) => Some((self.reply(memory, &ask, reserved).await?, ask)),
                    Err(end) => {
                        came_of_it.end = Some(end);
                        return Ok(());
                    }
                },
                None => None,
            };
            let decide = |state: &State| Some(self.follows(state, span, asked.as_ref()));
            match append(memory, decide).await? {
                Some(Event::HistorySummarized(_)) => came_of_it.summaries += 1,
                _ => came_of_it.failed += 1,
            }
        }
    }

    async fn reply<L: Append + ReadEvents>(
        &self,
        memory: &mut LoggedMemory<L>,
        ask: &SummaryAsk,
        reserved: Option<CallReserved>,
    ) -> Result<Reply, ConsolidateError> {
        let (request, retry_for) = self.by.bounded(&ask.request, reserved.as_ref());
        if let Some(reserved) = reserved {
            memory.append(&Event::CallReserved(reserved)).await?;
        }
        Ok(self.by.caller(retry_for).reply(&request).await)
    }

    /// The event for a reply, or for a request that could not be sent.
    fn follows(
        &self,
        state: &State,
        span: &HistorySpan,
        asked: Option<&(Reply, SummaryAsk)>,
    ) -> Event {
        let (now, counter) = (self.by.clock.now(), &*self.by.counter);
        match asked {
            Some((asked, ask)) => match &asked.outcome {
                Ok((model, reply)) => {
                    let reply = masked_reply(shortened_reply(reply.clone()));
                    let (model, took) = (model.clone(), asked.duration_ms);
                    summarized(state, counter, now, ask, model, reply, took)
                }
                Err(error) => {
                    let kind = error.error.kind();
                    failed(state, now, span, SummaryFailure::Model(kind))
                }
            },
            None => failed(state, now, span, SummaryFailure::NothingToShow),
        }
    }
}

/// Whether a turn is under way. A command must not change its prompts.
fn is_busy(turns: &Turns) -> bool {
    turns.open().next().is_some()
}

/// How full the window is, and what to do about it.
fn report(state: &State, preamble: &Preamble) -> (Compacting, Option<Compacted>) {
    let found = measure_all(state, preamble);
    let planned = plan(state, &found, CompactionMode::Planned);
    let masked = planned.as_ref().map_or(0, |planned| planned.masked.len());
    let dropped = planned.iter().flat_map(|planned| &planned.dropped);
    let dropped = dropped.map(|span| span.turns.len()).sum();
    let report = Compacting {
        before: found.tokens(),
        after: planned
            .as_ref()
            .map_or(found.tokens(), |planned| planned.after),
        window: found.window,
        level: WindowLevel::of(found.tokens(), found.window),
        masked,
        dropped,
        ..Compacting::default()
    };
    (report, planned)
}

/// Decides a recorded decision of a command again. Pure.
pub(crate) fn planned_again(
    state: &State,
    preamble: &Preamble,
    recorded: &Compacted,
) -> Vec<Event> {
    let (_, planned) = report(state, preamble);
    let planned = planned.map(|planned| Compacted {
        extraction: recorded.extraction,
        ..planned
    });
    planned.map(Event::Compacted).into_iter().collect()
}

async fn append<L: Append + ReadEvents + LoadSnapshot>(
    memory: &mut LoggedMemory<L>,
    decide: impl Fn(&State) -> Option<Event>,
) -> Result<Option<Event>, CompactError> {
    let appended = memory.append_decided(decide).await;
    Ok(appended.map_err(ConsolidateError::from)?)
}
