//! The second step: evidence.

use std::collections::BTreeSet;

use dormouse_contracts::{Attribution, Audience, Origin, Timestamp, Trust};
use dormouse_text::is_blank;

use super::ReflectionPolicy;
use crate::entry::EntryProvenance;

/// A memory that helps to answer a question, from the caller's store.
#[derive(Clone, Debug, PartialEq)]
pub struct ReflectionEvidence {
    /// Its id in that store; insights cite it.
    pub id: Origin,
    /// What it says.
    pub content: String,
    /// How well it matches the question. Higher is better; only the order matters.
    pub score: f64,
    /// When it happened.
    pub at: Timestamp,
    /// Who it comes from.
    pub from: Attribution,
    /// How far it is believed.
    pub trust: Trust,
    /// Who perceived it.
    pub audience: Audience,
    /// How many conclusions lie between it and what happened; see [`EntryProvenance::depth`].
    pub depth: u8,
}

/// The best results of a search for one question, best first. Each id occurs once. Blank results and results without a
/// score are left out. So are conclusions from conclusions, so that errors do not reinforce themselves.
#[must_use]
pub fn choose_evidence(
    mut found: Vec<ReflectionEvidence>,
    policy: &ReflectionPolicy,
) -> Vec<ReflectionEvidence> {
    let mut seen = BTreeSet::new();
    found.retain(|piece| {
        piece.depth < EntryProvenance::DEEPEST
            && piece.score.is_finite()
            && !is_blank(&piece.content)
    });
    found.sort_by(|one, other| {
        let by_score = other.score.total_cmp(&one.score);
        by_score
            .then_with(|| other.at.cmp(&one.at))
            .then_with(|| one.id.cmp(&other.id))
    });
    found.retain(|piece| seen.insert(piece.id));
    found.truncate(policy.evidence);
    found
}
