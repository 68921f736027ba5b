//! The relationship between an assistant and an entity.

mod interaction;
mod judged;
mod measure;

use std::fmt;

use dormouse_contracts::{Timestamp, Trust};
use serde::{Deserialize, Serialize};

pub use interaction::InteractionRule;
pub use judged::Judgement;
pub use measure::{Favorability, MeasureError, Rapport};

pub(crate) use measure::{part_of, trust_moved};

use interaction::Today;

/// How close an entity is, by the [score](Relationship::score) of the relationship.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum RelationshipState {
    /// A score below 0.25, including negative ones.
    #[default]
    Stranger,
    /// From 0.25.
    Acquaintance,
    /// From 0.50.
    Friend,
    /// From 0.75.
    Ally,
}

impl RelationshipState {
    /// The state of a score. A limit belongs to the higher state; NaN is a stranger.
    #[must_use]
    pub fn from_score(score: f64) -> Self {
        if score >= 0.75 {
            Self::Ally
        } else if score >= 0.5 {
            Self::Friend
        } else if score >= 0.25 {
            Self::Acquaintance
        } else {
            Self::Stranger
        }
    }
}

impl fmt::Display for RelationshipState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Stranger => "stranger",
            Self::Acquaintance => "acquaintance",
            Self::Friend => "friend",
            Self::Ally => "ally",
        })
    }
}

/// One measure of a relationship and its new value.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
#[non_exhaustive]
pub enum Metric {
    /// How much the assistant likes the entity.
    Favorability(Favorability),
    /// How far the assistant trusts the entity.
    Trust(Trust),
    /// How well they know each other.
    Rapport(Rapport),
}

/// The relationship between an assistant and an entity. The default is that with a new entity: a score of 0.15, a
/// stranger.
///
/// Its JSON also contains the state, for readers; decoding computes it again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(from = "RelationshipJson", into = "RelationshipJson")]
pub struct Relationship {
    pub(crate) favorability: Favorability,
    pub(crate) trust: Trust,
    pub(crate) rapport: Rapport,
    pub(crate) interaction_count: u64,
    /// The time of the stored rapport; it has faded since.
    pub(crate) rapport_at: Timestamp,
    pub(crate) last_interaction_at: Option<Timestamp>,
    pub(crate) today: Today,
    pub(crate) judgements: Vec<Judgement>,
}

impl Default for Relationship {
    fn default() -> Self {
        Self {
            favorability: Favorability::default(),
            trust: measure::HALF,
            rapport: Rapport::default(),
            interaction_count: 0,
            rapport_at: Timestamp::EPOCH,
            last_interaction_at: None,
            today: Today::default(),
            judgements: Vec::new(),
        }
    }
}

impl Relationship {
    /// How much the assistant likes the entity, in `-1.0..=1.0`.
    #[must_use]
    pub fn favorability(&self) -> Favorability {
        self.favorability
    }

    /// How far the assistant trusts the entity, in `0.0..=1.0`. It grants no permission: permissions depend on what a
    /// server attests about a single message.
    #[must_use]
    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// How well they know each other, in `0.0..=1.0`, at its last change. See [`Relationship::rapport_at`].
    #[must_use]
    pub fn rapport(&self) -> Rapport {
        self.rapport
    }

    /// The number of interactions.
    #[must_use]
    pub fn interaction_count(&self) -> u64 {
        self.interaction_count
    }

    /// The time of the last interaction.
    #[must_use]
    pub fn last_interaction_at(&self) -> Option<Timestamp> {
        self.last_interaction_at
    }

    /// `0.5 favorability + 0.3 trust + 0.2 rapport`, rounded to six places so that 0.3 stays 0.3. From −0.5 to 1.
    #[must_use]
    pub fn score(&self) -> f64 {
        self.score_with(self.rapport)
    }

    /// The state of the score.
    #[must_use]
    pub fn state(&self) -> RelationshipState {
        RelationshipState::from_score(self.score())
    }

    /// The state at a time, with the rapport faded until then.
    #[must_use]
    pub fn state_at(&self, now: Timestamp) -> RelationshipState {
        RelationshipState::from_score(self.score_with(self.rapport_at(now)))
    }

    fn score_with(&self, rapport: Rapport) -> f64 {
        let score = 0.5 * f64::from(self.favorability.value())
            + 0.3 * f64::from(self.trust.score())
            + 0.2 * f64::from(rapport.value());
        (score * 1e6).round() / 1e6
    }

    /// Sets one measure, without the rules of interaction.
    pub fn set(&mut self, metric: Metric, at: Timestamp) {
        match metric {
            Metric::Favorability(value) => {
                self.favorability = value;
                self.judgements.clear();
            }
            Metric::Trust(value) => self.trust = value,
            Metric::Rapport(value) => {
                self.rapport = value;
                self.rapport_at = self.rapport_at.max(at);
            }
        }
    }
}

#[derive(Serialize, Deserialize)]
struct RelationshipJson {
    favorability: Favorability,
    trust: Trust,
    rapport: Rapport,
    #[serde(default, skip_deserializing)]
    state: RelationshipState,
    interaction_count: u64,
    #[serde(default)]
    rapport_at: Timestamp,
    #[serde(default)]
    last_interaction_at: Option<Timestamp>,
    #[serde(default)]
    today: Today,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    judgements: Vec<Judgement>,
}

impl From<RelationshipJson> for Relationship {
    fn from(wire: RelationshipJson) -> Self {
        Self {
            favorability: wire.favorability,
            trust: wire.trust,
            rapport: wire.rapport,
            interaction_count: wire.interaction_count,
            rapport_at: wire.rapport_at,
            last_interaction_at: wire.last_interaction_at,
            today: wire.today,
            judgements: wire.judgements,
        }
    }
}

impl From<Relationship> for RelationshipJson {
    fn from(relationship: Relationship) -> Self {
        Self {
            state: relationship.state(),
            favorability: relationship.favorability,
            trust: relationship.trust,
            rapport: relationship.rapport,
            interaction_count: relationship.interaction_count,
            rapport_at: relationship.rapport_at,
            last_interaction_at: relationship.last_interaction_at,
            today: relationship.today,
            judgements: relationship.judgements,
        }
    }
}

#[cfg(test)]
mod tests;
