//! What becomes of the facts of a batch, before it is done.

use dormouse_contracts::{ChatRequest, Trust};
use dormouse_redact::{RedactionProfile, mask};
use dormouse_text::beginning_bytes;

use super::{
    decide::{Decided, Decision, Extracted, decide},
    extract::ExtractedFacts,
    judge, request_of,
    settings::ExtractionSettings,
    source::Batch,
};
use crate::{
    change::{ExtractedFact, MemoryChange},
    memory::{Memory, MemoryError},
    note::Note,
    recall::{RecallRequest, Validity},
    record::{Record, RecordId},
    similarity::ComparableText,
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

/// What becomes of the facts that a reply holds. Nothing is done yet.
#[derive(Clone, Debug, PartialEq)]
pub struct ExtractionPlan {
    records: Vec<RecordId>,
    planned: Vec<Planned>,
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
        let names: Vec<&str> = settings.names.iter().map(String::as_str).collect();
        let mut planned: Vec<Planned> = Vec::with_capacity(read.facts.len());
        for fact in read.facts {
            let decided = if is_said_in(&planned, &fact, settings.admission.near) {
                Decided::sure(Decision::Ignore { like: None }, "repeated in one reply")
            } else {
                let neighbours = neighbours(self, &fact).await?;
                decide(&fact, &neighbours, &names, &settings.admission)
            };
            planned.push(Planned { fact, decided });
        }
        Ok(ExtractionPlan {
            records: batch.records(),
            planned,
        })
    }
}

impl ExtractedFacts {
    /// The facts as notes: those of the change that [`ExtractionPlan::into_change`] makes, whatever is decided about each.
    #[must_use]
    pub fn into_notes(self) -> Vec<Note> {
        let notes = self.facts.into_iter().map(note);
        notes.filter(|note| note.check().is_ok()).collect()
    }
}

impl ExtractionPlan {
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

    /// The one change that the plan is.
    #[must_use]
    pub fn into_change(self) -> MemoryChange {
        let facts = self.planned.into_iter().map(|planned| ExtractedFact {
            reason: reason(&planned),
            decision: planned.decided.decision,
            note: note(planned.fact),
        });
        // A text that is blank once its secrets are masked would make the log refuse all.
        let facts = facts.filter(|fact| fact.note.check().is_ok()).collect();
        MemoryChange::Extracted {
            facts,
            records: self.records,
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
