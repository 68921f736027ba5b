//! Reflection: an assistant draws conclusions from what it wrote down.
//!
//! Two kinds, as documented. The *interval* reflection is a turn of its own; [`ReflectionInterval`] says when it is due. The
//! *generative* one is due when enough importance has come together, and has three steps, each followed by one change:
//!
//! 1. [`questions_request`] asks which questions the latest entries raise. [`read_questions`] reads the reply;
//!    [`JournalChange::QuestionsRaised`](crate::JournalChange::QuestionsRaised).
//! 2. The caller searches its memory for each question; [`choose_evidence`] takes the best;
//!    [`JournalChange::EvidenceFound`](crate::JournalChange::EvidenceFound) keeps their ids.
//! 3. [`insights_request`] shows the evidence, and [`ReadInsights::of`] keeps the insights that it supports;
//!    [`JournalChange::Reflected`](crate::JournalChange::Reflected).
//!
//! [`ReflectionState::step`] says which step is next. So an interrupted reflection continues with the missing step.

mod copied;
mod evidence;
mod insights;
mod interval;
mod questions;
mod state;

use std::collections::HashMap;

use dormouse_contracts::{Audience, Trust};
use dormouse_retrieval::support::{AnalysedText, ShownText, support};
use serde::{Deserialize, Serialize};

use crate::{
    change::JournalChange,
    entry::{Importance, JournalEntry},
    journal::Journal,
};

pub use copied::Invention;
pub use evidence::{ReflectionEvidence, choose_evidence};
pub(crate) use insights::synthesis_tags;
pub use insights::{InsightFlaw, ReadInsights, RefusedInsight, insights_request};
pub use interval::ReflectionInterval;
pub use questions::{questions_request, read_questions};
pub use state::{ReflectionState, ReflectionStep, ReflectionUnderWay};

/// The content of a conclusion begins with this mark.
pub const SYNTHESIS_MARK: &str = "[SYNTHESIS]";
/// The tags of a conclusion.
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
    /// After this many failures of one step the reflection is given up: 3.
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
    ///
    /// Only those who perceived everything that a conclusion is made from may learn it. So a reflection takes only
    /// entries that the same people perceived: of all such groups, the one with the most importance. The others are
    /// left for another reflection.
    #[must_use]
    pub fn plan_reflection(&self, policy: &ReflectionPolicy) -> Option<JournalChange> {
        let state = self.reflection();
        if state.under_way.is_some() || policy.entries == 0 {
            return None;
        }
        let since = state.entries_since_reflection.iter().rev();
        let since = since.filter_map(|id| self.entry(*id));
        let since: Vec<_> = since.filter(|it| it.may_be_reflected_on()).collect();
        let group = largest_group(&since)?;
        let is_known = |entry: &&JournalEntry| group.has(&entry.provenance.audience);
        let (known, left): (Vec<_>, Vec<_>) = since.into_iter().partition(is_known);
        let mut chosen = known;
        chosen.truncate(policy.entries);
        chosen.reverse();
        let audiences = chosen.iter().map(|entry| &entry.provenance.audience);
        let known_to = audiences.fold(Audience::Public, |all, one| all.intersection(one));
        let through = *state.entries_since_reflection.last()?;
        let ids = |entries: Vec<&JournalEntry>| entries.iter().map(|entry| entry.id).collect();
        Some(JournalChange::ReflectionBegun {
            entries: ids(chosen),
            through,
            known_to: Some(known_to),
            left: ids(left.into_iter().rev().collect()),
        })
    }

    /// The change that ends the first step of a reflection. A question is believed like a note: as far as the entries
    /// that supply its words.
    #[must_use]
    pub fn plan_questions(&self, questions: Vec<String>) -> JournalChange {
        let under_way = self.reflection().under_way.as_ref();
        let entries = under_way.map(|under_way| self.reflected_on(under_way));
        let entries: Vec<_> = entries.into_iter().flatten().map(as_shown).collect();
        let entries: Vec<_> = entries.iter().collect();
        // A question cites no source, so its trust depends only on the entries that supply its words.
        let nothing = AnalysedText::from(ShownText::text(Trust::FULL, ""));
        let trust = |question: &String| support(question, "", &[&nothing], &entries).trust;
        let trust = questions.iter().map(trust).collect();
        JournalChange::QuestionsRaised { questions, trust }
    }

    /// The change after a failed step: it either allows another attempt or gives the reflection up. `None` if no
    /// reflection is under way.
    #[must_use]
    pub fn plan_failure(&self, policy: &ReflectionPolicy) -> Option<JournalChange> {
        let under_way = self.reflection().under_way.as_ref()?;
        let failures = under_way.failures.saturating_add(1);
        Some(match failures >= policy.attempts {
            true => JournalChange::ReflectionGivenUp,
            false => JournalChange::ReflectionFailed,
        })
    }

    /// The entries that a reflection is about, without those that have left the journal.
    fn reflected_on(&self, under_way: &ReflectionUnderWay) -> Vec<&JournalEntry> {
        let entries = under_way.entries.iter();
        entries.filter_map(|id| self.entry(*id)).collect()
    }
}

fn as_shown(entry: &JournalEntry) -> AnalysedText<'_> {
    AnalysedText::from(ShownText {
        speaker: entry.source_entity.name().unwrap_or_default().to_owned(),
        around: entry.timestamp.to_string(),
        ..ShownText::text(entry.source_trust, entry.content.as_str())
    })
}

/// The entries that everybody in `known_to` perceived.
struct Group<'a> {
    known_to: &'a Audience,
}

impl Group<'_> {
    /// Whether it has the entries of this audience.
    fn has(&self, audience: &Audience) -> bool {
        match *self.known_to == Audience::nobody() {
            // Every audience covers "nobody", so this group takes only entries without an audience.
            true => audience == self.known_to,
            false => audience.covers(self.known_to),
        }
    }
}

/// The group with the most importance. Among equals, a group with an audience comes first, and then the one with the
/// oldest entry.
/// Entries share few audiences, so these are compared, and not the entries.
fn largest_group<'a>(newest_first: &[&'a JournalEntry]) -> Option<Group<'a>> {
    // By audience: the importance of its entries, and the place of the oldest.
    let mut audiences: HashMap<&Audience, (u64, usize)> = HashMap::new();
    for (place, entry) in newest_first.iter().enumerate() {
        let (importance, oldest) = audiences.entry(&entry.provenance.audience).or_default();
        *importance += u64::from(entry.importance.get());
        *oldest = place;
    }
    let groups = audiences.iter().map(|(known_to, (_, oldest))| {
        let group = Group { known_to };
        let members = audiences.iter().filter(|(audience, _)| group.has(audience));
        let importance: u64 = members.map(|(_, (importance, _))| importance).sum();
        let is_somebody = *group.known_to != Audience::nobody();
        ((importance, is_somebody, *oldest), group)
    });
    let largest = groups.max_by_key(|(rank, _)| *rank);
    largest.map(|(_, group)| group)
}

#[cfg(test)]
mod tests;
