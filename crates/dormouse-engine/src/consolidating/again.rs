//! The requests of a recorded consolidation, made again from the log.

use dormouse_contracts::{
    AssistantId, BoxFuture, ReadError, ReadEvents, Seq, StoredEvent, Timestamp,
};
use dormouse_entities::{Consolidation, EntityChange, read_consolidation};
use dormouse_memory::{
    ExtractedFact, Memory, MemoryChange, MemoryError, MemoryOpenError, RecordId,
    write::{Batch, Decision},
};

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

/// What was remembered, as far as a log was read, and the last replies.
pub(crate) struct NightAgain {
    memory: Memory,
    /// What was asked about records, and the reply.
    extraction: Option<(Batch, String)>,
    /// What was asked about somebody, and the reply.
    person: Option<(Consolidation, String)>,
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
        let memory = Memory::builder(key.clone(), || Timestamp::EPOCH).ephemeral()?;
        Ok(Self {
            memory,
            extraction: None,
            person: None,
        })
    }

    /// What is asked in place of a request of this event, with the hash of its prompt. `None` if the request follows from more than the
    /// log: a verdict on facts is asked for by what the memory finds alike, with vectors.
    pub(crate) async fn asked<L: ReadEvents + ?Sized>(
        &mut self,
        log: &L,
        at: Seq,
        rules: &ConsolidationRules,
        recorded: &Consulted,
    ) -> Result<Option<(Consultation, String)>, NightError> {
        let made_from = recorded.made_from.unwrap_or(Seq(at.0.saturating_sub(1)));
        self.follow(log, made_from).await?;
        Ok(match &recorded.about {
            Consultation::Extraction { records } => {
                let batch = Batch::of(self.memory.sources(records).await?);
                let hash = prompt::hash(&batch.request(&rules.extraction));
                let records = batch.records();
                self.extraction = Some((batch, recorded.reply.content.clone()));
                Some((Consultation::Extraction { records }, hash))
            }
            Consultation::Judgement { .. } => None,
            Consultation::EntityConsolidation { entity, .. } => {
                let due = self.memory.with_entities(|known| {
                    Consolidation::of(known.profile(entity)?, &rules.people)
                });
                let about = due.as_ref().map(|due| {
                    let about = Consultation::EntityConsolidation {
                        entity: due.entity().clone(),
                        observations: due.observations().to_vec(),
                    };
                    (about, prompt::hash(&consolidation(due)))
                });
                self.person = due.map(|due| (due, recorded.reply.content.clone()));
                // Nobody is asked about somebody of whom nothing is due.
                Some(about.unwrap_or_else(|| (recorded.about.clone(), String::new())))
            }
        })
    }

    /// What follows from the last reply about records, in place of this. What becomes of each fact is taken from what was
    /// recorded: it follows from what the memory finds alike, with vectors.
    pub(crate) async fn made_of_records<L: ReadEvents + ?Sized>(
        &self,
        log: &L,
        at: Seq,
        rules: &ConsolidationRules,
        (facts, records): (&[ExtractedFact], &[RecordId]),
    ) -> Result<Option<MemoryChange>, NightError> {
        let Some((batch, reply)) = &self.extraction else {
            return Ok(None);
        };
        let again = |batch: &Batch| {
            let notes = batch.read(reply, &rules.extraction)?.into_notes();
            let as_recorded = |(place, note)| {
                let recorded: Option<&ExtractedFact> = facts.get(place);
                ExtractedFact {
                    note,
                    decision: recorded.map_or(Decision::Add, |fact| fact.decision),
                    reason: recorded.map_or(String::new(), |fact| fact.reason.clone()),
                }
            };
            Some(MemoryChange::Extracted {
                facts: notes.into_iter().enumerate().map(as_recorded).collect(),
                records: batch.records(),
            })
        };
        let made = again(batch);
        let is_recorded = |made: &MemoryChange| match made {
            MemoryChange::Extracted {
                facts: again,
                records: read,
            } => again == facts && read == records,
            _ => false,
        };
        if made.as_ref().is_some_and(is_recorded) {
            return Ok(made);
        }
        // A run that was killed reads its records again when it goes on.
        self.follow(log, Seq(at.0.saturating_sub(1))).await?;
        Ok(again(&Batch::of(self.memory.sources(records).await?)))
    }

    /// What follows from the last reply about somebody.
    pub(crate) async fn made_of_person<L: ReadEvents + ?Sized>(
        &self,
        log: &L,
        at: Seq,
        recorded: &EntityChange,
    ) -> Result<Option<EntityChange>, NightError> {
        let Some((due, reply)) = &self.person else {
            return Ok(None);
        };
        let Ok(read) = read_consolidation(reply) else {
            return Ok(None);
        };
        let made = due.change(read.update.clone());
        if made == *recorded {
            return Ok(Some(made));
        }
        self.follow(log, Seq(at.0.saturating_sub(1))).await?;
        let again = self.memory.with_entities(|known| {
            Consolidation::again(known.profile(due.entity())?, due.observations())
        });
        Ok(again.map(|due| due.change(read.update)))
    }

    /// Takes in the log up to this event.
    async fn follow<L: ReadEvents + ?Sized>(&self, log: &L, until: Seq) -> Result<(), NightError> {
        let until = Until(log, until);
        catch_up(&until, self.memory.assistant(), &self.memory).await?;
        Ok(())
    }
}
