//! Reflection: what an assistant concludes from what it wrote down.
//!
//! Two kinds, as documented. The *interval* reflection is a turn of its own; [`ReflectionInterval`] says when it is due. The
//! *generative* one is due when enough importance has come together, and has three steps, each followed by one change:
//!
//! 1. [`questions_request`]: what the latest entries make one ask. [`read_questions`] reads the reply;
//!    [`JournalChange::QuestionsRaised`](crate::JournalChange::QuestionsRaised).
//! 2. The caller searches its memory for each question; [`choose_evidence`] takes the best;
//!    [`JournalChange::EvidenceFound`](crate::JournalChange::EvidenceFound) keeps their ids.
//! 3. [`insights_request`] shows the evidence, and [`ReadInsights::of`] takes those insights that it supports;
//!    [`JournalChange::Reflected`](crate::JournalChange::Reflected).
//!
//! [`ReflectionState::step`] says which is next, so a reflection that was interrupted goes on with the step that is missing.

mod copied;
mod evidence;
mod insights;
mod interval;
mod questions;
mod state;

use serde::{Deserialize, Serialize};

use crate::{
    change::JournalChange,
    entry::{EntryId, Importance, JournalEntry},
    journal::Journal,
};

pub use copied::Invention;
pub use evidence::{ReflectionEvidence, choose_evidence};
pub(crate) use insights::synthesis_tags;
pub use insights::{InsightFlaw, ReadInsights, RefusedInsight, insights_request};
pub use interval::ReflectionInterval;
pub use questions::{questions_request, read_questions};
pub use state::{ReflectionState, ReflectionStep, ReflectionUnderWay};

/// How a content that was concluded begins.
pub const SYNTHESIS_MARK: &str = "[SYNTHESIS]";
/// The tags of an entry that was concluded.
pub const SYNTHESIS_TAGS: [&str; 2] = ["synthesis", "meta_learning"];

/// When and how an assistant reflects.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ReflectionPolicy {
    /// The cumulative importance from which a reflection is due: 150.
    pub threshold: u32,
    /// The most entries that the questions are asked about, newest first: 100.
    pub entries: usize,
    /// The most questions: 3.
    pub questions: usize,
    /// The most pieces of evidence for each question: 10.
    pub evidence: usize,
    /// The most insights of one reflection: 10.
    pub insights: usize,
    /// The importance of an insight: 8.
    pub importance: Importance,
    /// After so many failures of one step the reflection is given up: 3.
    pub attempts: u8,
    /// The most tokens of a reply: 1,500.
    pub reply_tokens: u32,
}

impl Default for ReflectionPolicy {
    fn default() -> Self {
        Self {
            threshold: 150,
            entries: 100,
            questions: 3,
            evidence: 10,
            insights: 10,
            importance: Importance::OF_SYNTHESIS,
            attempts: 3,
            reply_tokens: 1_500,
        }
    }
}

impl Journal {
    /// Whether a generative reflection is due. Never while one is under way.
    #[must_use]
    pub fn reflection_due(&self, policy: &ReflectionPolicy) -> bool {
        let state = self.reflection();
        state.under_way.is_none() && state.cumulative_importance >= policy.threshold
    }

    /// The change that begins a reflection on the latest entries since the last one, whether or not it is due. `None` if there are
    /// none, or one is under way. Conclusions from conclusions are left out.
    #[must_use]
    pub fn plan_reflection(&self, policy: &ReflectionPolicy) -> Option<JournalChange> {
        let state = self.reflection();
        let since = state.entries_since_reflection.iter().rev();
        let since = since.filter_map(|id| self.entry(*id));
        let since = since.filter(|entry| entry.may_be_reflected_on());
        let mut entries: Vec<EntryId> = since.take(policy.entries).map(|entry| entry.id).collect();
        entries.reverse();
        let through = *state.entries_since_reflection.last()?;
        let may_begin = state.under_way.is_none() && !entries.is_empty();
        may_begin.then_some(JournalChange::ReflectionBegun { entries, through })
    }

    /// The change after a failed step: another attempt, or none any more; `None` if no reflection is under way.
    #[must_use]
    pub fn plan_failure(&self, policy: &ReflectionPolicy) -> Option<JournalChange> {
        let under_way = self.reflection().under_way.as_ref()?;
        let failures = under_way.failures.saturating_add(1);
        Some(match failures >= policy.attempts {
            true => JournalChange::ReflectionGivenUp,
            false => JournalChange::ReflectionFailed,
        })
    }

    /// The entries that a reflection is about, as far as they are still there.
    fn reflected_on(&self, under_way: &ReflectionUnderWay) -> Vec<&JournalEntry> {
        let entries = under_way.entries.iter();
        entries.filter_map(|id| self.entry(*id)).collect()
    }
}

#[cfg(test)]
mod tests;
