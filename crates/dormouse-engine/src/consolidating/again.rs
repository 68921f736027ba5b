//! The requests of a recorded consolidation, made again from the log.

use std::sync::Arc;

use dormouse_contracts::{
    AssistantId, BoxFuture, Clock, ReadError, ReadEvents, Seq, StoredEvent, Timestamp,
};
use dormouse_entities::Consolidation;
use dormouse_memory::{Memory, MemoryError, MemoryOpenError, write::Batch};

use super::consolidation;
use crate::{
    event::{ConsolidationRules, Consultation, Consulted},
    prompt,
    remembering::{CatchUpError, catch_up},
};

/// What is remembered cannot be made again from the log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NightError {
    /// There is no room for it.
    #[error("there is no room for a memory")]
    Open(#[from] MemoryOpenError),
    /// The log cannot be taken in.
    #[error(transparent)]
    CatchUp(#[from] CatchUpError),
    /// The memory cannot be read.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// What was remembered, as far as a log was read.
pub(crate) struct NightAgain {
    memory: Memory,
}

struct NoClock;

impl Clock for NoClock {
    fn now(&self) -> Timestamp {
        Timestamp::EPOCH
    }
}

/// A log that ends after this event.
struct Until<'l, L: ?Sized>(&'l L, Seq);

impl<L: ReadEvents + ?Sized> ReadEvents for Until<'_, L> {
    fn read<'a>(
        &'a self,
        assistant: &'a AssistantId,
        after: Seq,
        limit: usize,
    ) -> BoxFuture<'a, Result<Vec<StoredEvent>, ReadError>> {
        Box::pin(async move {
            let mut events = self.0.read(assistant, after, limit).await?;
            events.retain(|event| event.seq <= self.1);
            Ok(events)
        })
    }
}

impl NightAgain {
    /// An empty memory of this assistant.
    pub(crate) fn new(key: &AssistantId) -> Result<Self, NightError> {
        let clock: Arc<dyn Clock> = Arc::new(NoClock);
        let memory = Memory::builder(key.clone(), move || clock.now()).ephemeral()?;
        Ok(Self { memory })
    }

    /// What is asked in place of a request of this event, with the hash of its prompt. `None` if the request follows from more than the
    /// log: a verdict on facts is asked for by what the memory finds alike, with vectors.
    pub(crate) async fn asked<L: ReadEvents + ?Sized>(
        &self,
        log: &L,
        at: Seq,
        rules: &ConsolidationRules,
        recorded: &Consulted,
    ) -> Result<Option<(Consultation, String)>, NightError> {
        let made_from = recorded.made_from.unwrap_or(Seq(at.0.saturating_sub(1)));
        let until = Until(log, made_from);
        catch_up(&until, self.memory.assistant(), &self.memory).await?;
        Ok(match &recorded.about {
            Consultation::Extraction { records } => {
                let batch = Batch::of(self.memory.sources(records).await?);
                let hash = prompt::hash(&batch.request(&rules.extraction));
                let records = batch.records();
                Some((Consultation::Extraction { records }, hash))
            }
            Consultation::Judgement { .. } => None,
            Consultation::EntityConsolidation { entity, .. } => {
                let due = self.memory.with_entities(|known| {
                    Consolidation::of(known.profile(entity)?, &rules.people)
                });
                let due = due.map(|due| {
                    let about = Consultation::EntityConsolidation {
                        entity: due.entity().clone(),
                        observations: due.observations().to_vec(),
                    };
                    (about, prompt::hash(&consolidation(&due)))
                });
                // Nobody is asked about somebody of whom nothing is due.
                Some(due.unwrap_or_else(|| (recorded.about.clone(), String::new())))
            }
        })
    }
}
