//! Judgements, each shown only to those who perceived what it was made from.

use dormouse_contracts::{Audience, Sources, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Favorability, Relationship, RelationshipState};

/// A judgement that moved the favorability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// By how much it moved the favorability.
    pub by: f32,
    /// Who perceived what it was made from, other than the assistant.
    pub audience: Audience,
    /// What it was made from; empty if that is not known.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub sources: Sources,
}

impl Judgement {
    /// Combines two judgements into one, for those who are in both audiences.
    fn and(self, other: &Self) -> Self {
        Self {
            by: self.by + other.by,
            audience: self.audience.intersection(&other.audience),
            sources: self.sources.union(&other.sources),
        }
    }

    /// The judgement scaled by its weight in a mean.
    pub(crate) fn scaled(&self, part: f32) -> Self {
        Self {
            by: self.by * part,
            ..self.clone()
        }
    }
}

impl Relationship {
    /// The most judgements that are stored separately. Beyond that the two oldest are combined, for those who are in
    /// both audiences.
    pub const MOST_JUDGEMENTS: usize = 32;

    /// The judgements that the favorability comes from, oldest first. Judgements of older logs, which count for
    /// everybody and have no sources, are not included, nor those from before the favorability was set.
    #[must_use]
    pub fn judgements(&self) -> &[Judgement] {
        &self.judgements
    }

    /// The same relationship without the judgements that `may_learn` refuses.
    #[must_use]
    pub fn without(&self, may_learn: impl Fn(&Audience) -> bool) -> Self {
        let (known, hidden): (Vec<_>, Vec<_>) = self
            .judgements
            .iter()
            .cloned()
            .partition(|judgement| may_learn(&judgement.audience));
        let by: f32 = hidden.iter().map(|judgement| judgement.by).sum();
        Self {
            favorability: match hidden.is_empty() {
                true => self.favorability,
                // Float sums are not exact, but a state begins at an exact score.
                false => Favorability(
                    ((self.favorability.value() - by).clamp(-1.0, 1.0) * 1e5).round() / 1e5,
                ),
            },
            judgements: known,
            ..self.clone()
        }
    }

    /// The state at a time, for those who may learn only some of the judgements.
    #[must_use]
    pub fn state_for(
        &self,
        now: Timestamp,
        may_learn: impl Fn(&Audience) -> bool,
    ) -> RelationshipState {
        self.without(may_learn).state_at(now)
    }

    pub(super) fn judged(&mut self, judgement: Judgement) {
        // It moves nothing, or it counts for everybody and has no sources: there is nothing to store.
        if judgement.by == 0.0
            || judgement.audience == Audience::Public && judgement.sources.is_empty()
        {
            return;
        }
        self.judgements.push(judgement);
        self.drop_surplus();
    }

    pub(crate) fn drop_surplus(&mut self) {
        while self.judgements.len() > Self::MOST_JUDGEMENTS {
            let oldest = self.judgements.remove(0);
            if let Some(next) = self.judgements.first_mut() {
                *next = oldest.and(next);
            }
        }
    }
}
