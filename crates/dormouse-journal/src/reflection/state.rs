//! The state of reflection.

use std::collections::BTreeSet;

use dormouse_contracts::{Audience, Origin, Timestamp, Trust};
use serde::{Deserialize, Serialize};

use crate::{
    change::JournalChangeError,
    entry::{EntryId, Importance, JournalEntry},
};

/// The entries that wait for a reflection, and the reflection under way. It is the documented `reflection_state`; the
/// threshold is a setting ([`ReflectionPolicy::threshold`](crate::ReflectionPolicy::threshold)).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReflectionState {
    /// The total importance of all entries since the last reflection, including those that have since been pruned.
    pub cumulative_importance: u32,
    /// When the last reflection ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_reflection_time: Option<Timestamp>,
    /// How many reflections there were.
    pub reflection_count: u64,
    /// The entries since the last reflection that are still in the journal.
    pub entries_since_reflection: BTreeSet<EntryId>,
    /// The reflection under way.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub under_way: Option<ReflectionUnderWay>,
}

/// A reflection that has begun.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ReflectionUnderWay {
    /// The entries that its questions are asked about, oldest first.
    pub entries: Vec<EntryId>,
    /// The last entry that it takes into account.
    pub through: EntryId,
    /// Who perceived all of these entries; absent if the log does not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known_to: Option<Audience>,
    /// Earlier entries that count for another reflection.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left: Vec<EntryId>,
    /// Its questions; empty before the first step is done.
    #[serde(default)]
    pub questions: Vec<String>,
    /// How far each question is believed; empty if the log does not say.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub trust: Vec<Trust>,
    /// For each question, its evidence; absent before the second step is done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub evidence: Option<Vec<Vec<Origin>>>,
    /// How often the next step has failed.
    #[serde(default)]
    pub failures: u8,
}

/// What the reflection under way needs next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReflectionStep<'a> {
    /// Nothing: no reflection is under way.
    Rest,
    /// Questions.
    Ask,
    /// Evidence for these questions.
    Search(&'a [String]),
    /// Insights from this evidence, for each question.
    Conclude(&'a [String], &'a [Vec<Origin>]),
}

impl ReflectionState {
    /// Which step is next.
    #[must_use]
    pub fn step(&self) -> ReflectionStep<'_> {
        match &self.under_way {
            None => ReflectionStep::Rest,
            Some(under_way) if under_way.questions.is_empty() => ReflectionStep::Ask,
            Some(under_way) => match &under_way.evidence {
                None => ReflectionStep::Search(&under_way.questions),
                Some(evidence) => ReflectionStep::Conclude(&under_way.questions, evidence),
            },
        }
    }

    pub(crate) fn experienced(&mut self, entry: &JournalEntry) {
        let importance = u32::from(entry.importance.get());
        self.cumulative_importance = self.cumulative_importance.saturating_add(importance);
        self.entries_since_reflection.insert(entry.id);
    }

    /// Adjusts the total importance, if the entry is part of it.
    pub(crate) fn rescored(&mut self, entry: &JournalEntry, before: Importance) {
        if self.entries_since_reflection.contains(&entry.id) {
            let total = self.cumulative_importance;
            let without = total.saturating_sub(before.get().into());
            self.cumulative_importance = without.saturating_add(entry.importance.get().into());
        }
    }

    /// An entry left the journal. Its importance stays in the total, because the event still happened.
    pub(crate) fn left(&mut self, id: EntryId) {
        self.entries_since_reflection.remove(&id);
    }

    pub(crate) fn begin(&mut self, begun: ReflectionUnderWay) -> Result<(), JournalChangeError> {
        if self.under_way.is_some() {
            return Err(JournalChangeError::ReflectionUnderWay);
        }
        self.under_way = Some(begun);
        Ok(())
    }

    pub(crate) fn asked(
        &mut self,
        questions: &[String],
        trust: &[Trust],
    ) -> Result<(), JournalChangeError> {
        let is_next = self.step() == ReflectionStep::Ask && !questions.is_empty();
        let under_way = self.under_way.as_mut().filter(|_| is_next);
        let under_way = under_way.ok_or(JournalChangeError::NoSuchStep)?;
        under_way.questions = questions.to_vec();
        under_way.trust = trust.to_vec();
        under_way.failures = 0;
        Ok(())
    }

    pub(crate) fn found(&mut self, evidence: &[Vec<Origin>]) -> Result<(), JournalChangeError> {
        let is_next = matches!(self.step(), ReflectionStep::Search(_));
        let under_way = self.under_way.as_mut().filter(|_| is_next);
        let under_way = under_way.ok_or(JournalChangeError::NoSuchStep)?;
        under_way.evidence = Some(evidence.to_vec());
        under_way.failures = 0;
        Ok(())
    }

    pub(crate) fn failed(&mut self) -> Result<(), JournalChangeError> {
        let under_way = self.under_way.as_mut();
        let failures = &mut under_way.ok_or(JournalChangeError::NoSuchStep)?.failures;
        *failures = failures.saturating_add(1);
        Ok(())
    }

    pub(crate) fn given_up(&mut self) -> Result<(), JournalChangeError> {
        let under_way = self.under_way.take();
        under_way.map(drop).ok_or(JournalChangeError::NoSuchStep)
    }

    /// Ends the reflection under way, and keeps the entries that count for another one. The caller counts their
    /// importance.
    pub(crate) fn end(&mut self, at: Timestamp) -> Result<(), JournalChangeError> {
        let is_next = matches!(self.step(), ReflectionStep::Conclude(..));
        let under_way = self.under_way.take_if(|_| is_next);
        let under_way = under_way.ok_or(JournalChangeError::NoSuchStep)?;
        let ReflectionUnderWay { through, left, .. } = under_way;
        self.entries_since_reflection
            .retain(|id| *id > through || left.contains(id));
        self.last_reflection_time = Some(at);
        self.reflection_count = self.reflection_count.saturating_add(1);
        Ok(())
    }
}
