//! Judgements, each for those who were party to what it was made from.

use dormouse_contracts::{Audience, Sources, Timestamp};
use serde::{Deserialize, Serialize};

use super::{Favorability, Relationship, RelationshipState};

/// A judgement that moved the favorability.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// By how much it moved it.
    pub by: f32,
    /// Who was party to what it was made from, other than the assistant.
    pub audience: Audience,
    /// What it was made from; empty if that is not known.
    #[serde(default, skip_serializing_if = "Sources::is_empty")]
    pub sources: Sources,
}

impl Judgement {
    /// Both in one, for those who were party to both.
    fn and(self, other: &Self) -> Self {
        Self {
            by: self.by + other.by,
            audience: self.audience.intersection(&other.audience),
            sources: self.sources.union(&other.sources),
        }
    }

    /// The part of it that counts in a mean.
    pub(crate) fn scaled(&self, part: f32) -> Self {
        Self {
            by: self.by * part,
            ..self.clone()
        }
    }
}

impl Relationship {
    /// The most judgements that are kept apart. Beyond that the two oldest become one, for those who were party to both.
    pub const MOST_JUDGEMENTS: usize = 32;

    /// The judgements that the favorability comes from, oldest first. Those of older logs, which count for everybody and
    /// have no sources, are not among them, nor those before it was set.
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
                // Sums of tenths are not exact, and a state begins at an exact number.
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
        // Nothing has to be kept apart of it.
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
