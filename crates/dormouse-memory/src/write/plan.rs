//! The decisions about the facts of a batch, before they are applied.

use dormouse_contracts::{ChatRequest, Seq, Trust};
use dormouse_redact::{RedactionProfile, mask};
use dormouse_retrieval::ComparableText;
use dormouse_text::beginning_bytes;

use super::{
    decide::{Decided, Decision, Extracted, decide},
    extract::ExtractedFacts,
    judge, request_of,
    settings::ExtractionSettings,
    source::Batch,
};
use crate::{
    change::{Comparison, ExtractedFact, MemoryChange},
    memory::{Memory, MemoryError},
    note::Note,
    recall::{RecallRequest, Validity},
    record::{Record, RecordId},
};

/// How many records are compared with each fact.
const NEIGHBOURS: usize = 8;
/// How much of a fact is used as a query, in bytes.
const QUESTION: usize = 1_000;

/// A fact and the decision about it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Planned {
    pub(super) fact: Extracted,
    pub(super) decided: Decided,
}

/// The decisions about the facts in a reply. Nothing is applied yet.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtractionPlan {
    records: Vec<RecordId>,
    planned: Vec<Planned>,
    compared: Comparison,
}

/// Which records each fact is compared with.
#[derive(Clone, Copy)]
enum Neighbours<'a> {
    /// Those that recall finds, in a memory that has taken in the log through this event.
    FoundAt(Seq),
    /// Those of an earlier comparison.
    Recorded(&'a Comparison),
}

impl Memory {
    /// Decides about the facts that a model made from this batch, by words alone. Compares each with the records that recall
    /// finds for it, and changes nothing.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn plan_extraction(
        &self,
        batch: &Batch,
        read: ExtractedFacts,
        settings: &ExtractionSettings,
    ) -> Result<ExtractionPlan, MemoryError> {
        loop {
            let made_from = Seq(self.log_position().await?.seq);
            let plan = self.plan(
                batch,
                read.clone(),
                settings,
                Neighbours::FoundAt(made_from),
            );
            let plan = plan.await?;
            // If the memory has taken in more of the log meanwhile, the plan is made again: a replay can compare all
            // facts only with the memory at one position of the log.
            if self.log_position().await?.seq == made_from.0 {
                return Ok(plan);
            }
        }
    }

    /// Decides about the same facts again, from the records that they were compared with then. The memory must have taken in
    /// the same part of the log.
    ///
    /// # Errors
    ///
    /// [`MemoryError::Store`] if the file fails.
    pub async fn plan_extraction_again(
        &self,
        batch: &Batch,
        read: ExtractedFacts,
        settings: &ExtractionSettings,
        compared: &Comparison,
    ) -> Result<ExtractionPlan, MemoryError> {
        self.plan(batch, read, settings, Neighbours::Recorded(compared))
            .await
    }

    /// Decides about each fact in turn.
    async fn plan(
        &self,
        batch: &Batch,
        read: ExtractedFacts,
        settings: &ExtractionSettings,
        from: Neighbours<'_>,
    ) -> Result<ExtractionPlan, MemoryError> {
        let names: Vec<&str> = settings.names.iter().map(String::as_str).collect();
        // A text that is blank once its secrets are masked would make the log refuse the whole change.
        let facts = read.facts.into_iter();
        let facts = facts.filter(|fact| note(fact.clone()).check().is_ok());
        let mut planned: Vec<Planned> = Vec::new();
        let mut found = Vec::new();
        for (place, fact) in facts.enumerate() {
            let is_repeated = is_said_in(&planned, &fact, settings.admission.near);
            let neighbours = match from {
                _ if is_repeated => Vec::new(),
                Neighbours::FoundAt(_) => neighbours(self, &fact).await?,
                Neighbours::Recorded(compared) => compared_with(self, compared, place).await?,
            };
            let decided = match is_repeated {
                true => Decided::sure(Decision::Ignore { like: None }, "repeated in one reply"),
                false => decide(&fact, &neighbours, &names, &settings.admission),
            };
            found.push(neighbours.into_iter().map(|record| record.id).collect());
            planned.push(Planned { fact, decided });
        }
        let (Neighbours::FoundAt(made_from) | Neighbours::Recorded(&Comparison { made_from, .. })) =
            from;
        Ok(ExtractionPlan {
            records: batch.records(),
            planned,
            compared: Comparison { made_from, found },
        })
    }
}

impl ExtractedFacts {
    /// The facts as notes, as the change of [`ExtractionPlan::into_change`] contains them, before it is decided about
    /// each.
    #[must_use]
    pub fn into_notes(self) -> Vec<Note> {
        let notes = self.facts.into_iter().map(note);
        notes.filter(|note| note.check().is_ok()).collect()
    }
}

impl ExtractionPlan {
    /// What the facts were compared with.
    #[must_use]
    pub fn compared(&self) -> &Comparison {
        &self.compared
    }

    /// The request about the facts whose decision the rule is not sure of; `None` if it is sure of all.
    #[must_use]
    pub fn question(&self, settings: &ExtractionSettings) -> Option<ChatRequest> {
        let asked = judge::questions(&self.planned);
        let messages = (!asked.is_empty()).then(|| judge::messages(&asked))?;
        Some(request_of(
            messages,
            judge::as_data(&asked),
            settings.reply_tokens,
        ))
    }

    /// Takes the verdicts in the reply to that request. A fact without a valid verdict keeps the decision of the rule.
    pub fn judged(&mut self, reply: &str) {
        judge::apply(reply, &mut self.planned);
    }

    /// The plan as one change.
    #[must_use]
    pub fn into_change(self) -> MemoryChange {
        let facts = self.planned.into_iter().map(|planned| ExtractedFact {
            reason: reason(&planned),
            decision: planned.decided.decision,
            note: note(planned.fact),
        });
        MemoryChange::Extracted {
            facts: facts.collect(),
            records: self.records,
            compared: Some(self.compared),
        }
    }
}

fn is_said_in(planned: &[Planned], fact: &Extracted, near: f32) -> bool {
    let words = ComparableText::of(&fact.text);
    planned.iter().any(|planned| {
        let kept = !matches!(planned.decided.decision, Decision::Ignore { .. });
        kept && words.says_the_same(&ComparableText::of(&planned.fact.text), near)
    })
}

/// The records that the fact at this place was compared with.
async fn compared_with(
    memory: &Memory,
    compared: &Comparison,
    place: usize,
) -> Result<Vec<Record>, MemoryError> {
    let mut found = Vec::new();
    for id in compared.found.get(place).into_iter().flatten() {
        found.extend(memory.record(*id).await?);
    }
    Ok(found)
}

async fn neighbours(memory: &Memory, fact: &Extracted) -> Result<Vec<Record>, MemoryError> {
    let question = RecallRequest::new(beginning_bytes(&fact.text, QUESTION))
        .limit(NEIGHBOURS)
        .min_trust(Trust::NONE)
        .valid(Validity::Any);
    let recall = memory.recall(question).await?;
    Ok(recall.items.into_iter().map(|item| item.record).collect())
}

fn note(fact: Extracted) -> Note {
    let mut note = Note::new(fact.text)
        .kind(fact.kind)
        .at(fact.at)
        .trusted(fact.trust)
        .derivation(fact.derivation)
        .derived_from(fact.sources);
    note.valid_from = fact.valid_from;
    for name in &fact.about {
        note = note.tagged(name.to_lowercase());
    }
    note.masked()
}

fn reason(planned: &Planned) -> String {
    let decided = &planned.decided.reason;
    let reason = match &planned.fact.reason {
        Some(reason) => format!("{decided}; {reason}"),
        None => decided.clone(),
    };
    mask(&reason, RedactionProfile::Memory).into_owned()
}
