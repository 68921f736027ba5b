//! Repeats the requests of a recorded consolidation, and the results of its replies, from the log.

use dormouse_contracts::{
    AssistantId, BoxFuture, ReadError, ReadEvents, Seq, StoredEvent, Timestamp,
};
use dormouse_entities::{Consolidation, EntityChange, read_consolidation};
use dormouse_memory::{
    Comparison, ExtractedFact, Memory, MemoryChange, MemoryError, MemoryOpenError, RecordId,
    write::{Batch, Decision, ExtractionPlan, ExtractionSettings, batches},
};

use super::consolidation;
use crate::{
    event::{Consultation, ConsultationFailed, ConsultationFailure, Consulted},
    prompt,
    remembering::{CatchUpError, catch_up},
    state::Consultations,
};

/// The memory cannot be rebuilt from the log.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NightError {
    /// A temporary memory cannot be created.
    #[error("there is no room for a memory")]
    Open(#[from] MemoryOpenError),
    /// The memory cannot read the log.
    #[error(transparent)]
    CatchUp(#[from] CatchUpError),
    /// The memory cannot be read.
    #[error(transparent)]
    Memory(#[from] MemoryError),
}

/// The memory as of the last event that was read, and the last replies.
pub(crate) struct NightAgain {
    memory: Memory,
    extraction: Option<Extraction>,
    /// The request about a person, and the reply.
    person: Option<(Consolidation, String)>,
}

/// The request about records, and the replies.
struct Extraction {
    /// The event with the reply.
    seq: Seq,
    batch: Batch,
    reply: String,
    /// The reply about its doubtful facts, if there was one.
    verdict: Option<String>,
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

    /// The request that would be made in place of the recorded one, with the hash of its prompt. `None` if the log is
    /// too old to say what the request was made from.
    pub(crate) async fn asked<L: ReadEvents + ?Sized>(
        &mut self,
        log: &L,
        at: Seq,
        open: &Consultations,
        recorded: &Consulted,
    ) -> Result<Option<(Consultation, String)>, NightError> {
        let Some(rules) = &open.under_way else {
            return Ok(None);
        };
        let made_from = recorded.made_from.unwrap_or(Seq(at.0.saturating_sub(1)));
        self.follow(log, made_from).await?;
        let reply = recorded.reply.content.clone();
        // If nothing is due, nothing is requested, and the empty hash never equals a recorded one.
        let nothing = || (recorded.about.clone(), String::new());
        Ok(match &recorded.about {
            Consultation::Extraction { records } => {
                let settings = &rules.extraction;
                let due = self.memory.sources(settings, records).await?;
                let mut due = batches(due, &open.attempts, settings).into_iter();
                let (Some(batch), None) = (due.next(), due.next()) else {
                    return Ok(Some(nothing()));
                };
                let hash = prompt::hash(&batch.request(settings));
                let records = batch.records();
                self.extraction = Some(Extraction {
                    seq: at,
                    batch,
                    reply,
                    verdict: None,
                });
                Some((Consultation::Extraction { records }, hash))
            }
            Consultation::Judgement { compared, .. } => {
                if let Some(extraction) = &mut self.extraction {
                    extraction.verdict = Some(reply);
                }
                let Some(compared) = compared else {
                    return Ok(None);
                };
                let mut asked = nothing();
                for plan in self.plans(&rules.extraction, compared).await? {
                    let question = plan.question(&rules.extraction);
                    let about = Consultation::Judgement {
                        extraction: self.extraction.as_ref().map_or(at, |it| it.seq),
                        compared: Some(plan.compared().clone()),
                    };
                    asked = (
                        about,
                        question.as_ref().map(prompt::hash).unwrap_or_default(),
                    );
                    if asked == (recorded.about.clone(), recorded.prompt_hash.clone()) {
                        break;
                    }
                }
                Some(asked)
            }
            // Requests about the journal are not repeated: they may be older than changes that came meanwhile.
            Consultation::Scoring { .. }
            | Consultation::Questions { .. }
            | Consultation::Insights { .. } => None,
            Consultation::EntityConsolidation { entity, .. } => {
                let due = self.memory.with_entities(|known| {
                    Consolidation::of(known.profile(entity)?, &rules.people)
                });
                let due = due.filter(|_| !open.attempts.gave_up(entity.as_str()));
                let about = due.as_ref().map(|due| {
                    let about = Consultation::EntityConsolidation {
                        entity: due.entity().clone(),
                        observations: due.observations().to_vec(),
                    };
                    (about, prompt::hash(&consolidation(due)))
                });
                self.person = due.map(|due| (due, reply));
                Some(about.unwrap_or_else(nothing))
            }
        })
    }

    /// Whether the last reply about the same records or person can be parsed, although the log says that it cannot.
    pub(crate) fn is_readable(&self, failed: &ConsultationFailed, open: &Consultations) -> bool {
        let Some(rules) = &open.under_way else {
            return false;
        };
        match (&failed.about, failed.cause) {
            (_, ConsultationFailure::Refused(_) | ConsultationFailure::Unanswered(_))
            | (Consultation::Judgement { .. }, _)
            | (Consultation::Scoring { .. }, _)
            | (Consultation::Questions { .. }, _)
            | (Consultation::Insights { .. }, _) => false,
            (Consultation::Extraction { records }, ConsultationFailure::Unreadable) => {
                self.extraction.as_ref().is_some_and(|it| {
                    let is_same = it.batch.records() == *records;
                    is_same && it.batch.read(&it.reply, &rules.extraction).is_some()
                })
            }
            (Consultation::EntityConsolidation { entity, .. }, ConsultationFailure::Unreadable) => {
                self.person.as_ref().is_some_and(|(due, reply)| {
                    due.entity() == entity && read_consolidation(reply).is_ok()
                })
            }
        }
    }

    /// The possible plans for the last reply about records: one with the records at the time of the request, and one
    /// with the records at the time of the comparison, because a killed run reads the records again when it continues.
    async fn plans(
        &self,
        settings: &ExtractionSettings,
        compared: &Comparison,
    ) -> Result<Vec<ExtractionPlan>, NightError> {
        let Some(Extraction { batch, reply, .. }) = &self.extraction else {
            return Ok(Vec::new());
        };
        let again = self.memory.sources(settings, &batch.records()).await?;
        let mut plans = Vec::new();
        for batch in [batch, &Batch::of(again)] {
            if let Some(read) = batch.read(reply, settings) {
                let memory = &self.memory;
                let plan = memory.plan_extraction_again(batch, read, settings, compared);
                plans.push(plan.await?);
            }
        }
        Ok(plans)
    }

    /// The change that the last reply about records leads to, to be compared with `recorded`.
    pub(crate) async fn made_of_records<L: ReadEvents + ?Sized>(
        &self,
        log: &L,
        at: Seq,
        settings: &ExtractionSettings,
        recorded: &MemoryChange,
    ) -> Result<Option<MemoryChange>, NightError> {
        let MemoryChange::Extracted {
            facts,
            records,
            compared,
        } = recorded
        else {
            return Ok(Some(recorded.clone()));
        };
        let Some(compared) = compared else {
            return self
                .made_of_records_by(log, at, settings, (facts, records))
                .await;
        };
        self.follow(log, compared.made_from).await?;
        let mut made = None;
        let verdict = self.extraction.as_ref().and_then(|it| it.verdict.as_ref());
        for mut plan in self.plans(settings, compared).await? {
            if let (Some(_), Some(verdict)) = (plan.question(settings), verdict) {
                plan.judged(verdict);
            }
            let change = plan.into_change();
            let is_recorded = change == *recorded;
            made = Some(change);
            if is_recorded {
                break;
            }
        }
        Ok(made)
    }

    /// The same for a log that does not record what the facts were compared with. Then the decision about each fact is
    /// taken from the log.
    async fn made_of_records_by<L: ReadEvents + ?Sized>(
        &self,
        log: &L,
        at: Seq,
        settings: &ExtractionSettings,
        (facts, records): (&[ExtractedFact], &[RecordId]),
    ) -> Result<Option<MemoryChange>, NightError> {
        let Some(Extraction { batch, reply, .. }) = &self.extraction else {
            return Ok(None);
        };
        let again = |batch: &Batch| {
            let notes = batch.read(reply, settings)?.into_notes();
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
                compared: None,
            })
        };
        let made = again(batch);
        let is_recorded = |made: &MemoryChange| match made {
            MemoryChange::Extracted {
                facts: again,
                records: read,
                ..
            } => again == facts && read == records,
            _ => false,
        };
        if made.as_ref().is_some_and(is_recorded) {
            return Ok(made);
        }
        // A killed run reads its records again when it continues.
        self.follow(log, Seq(at.0.saturating_sub(1))).await?;
        Ok(again(&Batch::of(
            self.memory.sources(settings, records).await?,
        )))
    }

    /// The change that the last reply about a person leads to.
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

    /// Reads the log up to this event.
    async fn follow<L: ReadEvents + ?Sized>(&self, log: &L, until: Seq) -> Result<(), NightError> {
        let until = Until(log, until);
        catch_up(&until, self.memory.assistant(), &self.memory).await?;
        Ok(())
    }
}
