//! Consolidates observations into attributes, without calling a model: when it is due, what to ask, how to parse the
//! answer.

mod prompt;
mod reply;

use dormouse_contracts::{EntityId, Message, Sources, Task, Trust};

use serde::{Deserialize, Serialize};

use crate::{
    attributes::AttributeUpdate, change::EntityChange, entities::Entities,
    observation::Observation, profile::Profile,
};

pub use reply::{ConsolidationError, ReadConsolidation, read_consolidation};

/// When and how much is consolidated.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct ConsolidationPolicy {
    /// The minimum number of unconsolidated observations. Default: 5.
    pub min_observations: usize,
    /// The most entities per batch. Default: 5.
    pub max_entities: usize,
    /// Observations with less trust are not consolidated. Default: 0.5, the limit for prompts. An attribute gets the trust
    /// of its least trusted source, so a single rumour would spoil the rest.
    pub min_trust: Trust,
}

impl Default for ConsolidationPolicy {
    fn default() -> Self {
        Self {
            min_observations: 5,
            max_entities: 5,
            min_trust: crate::block::LEAST_TRUST,
        }
    }
}

/// The most observations of an entity that are consolidated at once, oldest first.
const MOST_AT_ONCE: usize = 20;

/// Whether an entity has enough unconsolidated observations.
#[must_use]
pub fn consolidation_due(profile: &Profile, policy: &ConsolidationPolicy) -> bool {
    due(profile, policy).count() >= policy.min_observations.max(1)
}

/// The entities to consolidate now, those with the most observations first, then by id.
#[must_use]
pub fn consolidation_batch<'a>(
    entities: &'a Entities,
    policy: &ConsolidationPolicy,
) -> Vec<&'a EntityId> {
    let mut batch: Vec<_> = entities
        .profiles()
        .filter(|profile| consolidation_due(profile, policy))
        .map(|profile| {
            let count = due(profile, policy).count();
            (std::cmp::Reverse(count), &profile.entity_id)
        })
        .collect();
    batch.sort();
    batch.truncate(policy.max_entities);
    batch.into_iter().map(|(_, id)| id).collect()
}

fn due<'a>(
    profile: &'a Profile,
    policy: &ConsolidationPolicy,
) -> impl Iterator<Item = &'a Observation> {
    let min_trust = policy.min_trust;
    profile
        .fresh_observations()
        .filter(move |observation| observation.trust >= min_trust)
}

/// A consolidation in progress: its observations and its prompt.
#[derive(Clone, Debug, PartialEq)]
pub struct Consolidation {
    entity: EntityId,
    observations: Vec<u64>,
    trust: Trust,
    sources: Sources,
    messages: Vec<Message>,
    task: Task,
}

impl Consolidation {
    /// Takes the oldest unconsolidated observations, at most 20. `None` if no consolidation is due.
    #[must_use]
    pub fn of(profile: &Profile, policy: &ConsolidationPolicy) -> Option<Self> {
        if !consolidation_due(profile, policy) {
            return None;
        }
        let mut taken: Vec<_> = due(profile, policy).collect();
        taken.sort_by_key(|observation| (observation.timestamp, observation.number));
        taken.truncate(MOST_AT_ONCE);
        Some(Self::over(profile, &taken))
    }

    /// Resumes a consolidation of these observations, in this order. `None` unless all of them are still there and
    /// unconsolidated.
    #[must_use]
    pub fn again(profile: &Profile, observations: &[u64]) -> Option<Self> {
        let find = |number: &u64| {
            let mut fresh = profile.fresh_observations();
            fresh.find(|observation| observation.number == *number)
        };
        let taken: Option<Vec<_>> = observations.iter().map(find).collect();
        Some(Self::over(
            profile,
            &taken.filter(|taken| !taken.is_empty())?,
        ))
    }

    fn over(profile: &Profile, taken: &[&Observation]) -> Self {
        let trusts = taken.iter().map(|observation| observation.trust);
        let trust = trusts.fold(Trust::FULL, Trust::lowest);
        Self {
            entity: profile.entity_id.clone(),
            observations: taken.iter().map(|observation| observation.number).collect(),
            trust,
            sources: sources_of(taken),
            messages: prompt::messages(profile, taken, trust),
            task: prompt::as_data(profile, taken),
        }
    }

    /// The numbers of its observations.
    #[must_use]
    pub fn observations(&self) -> &[u64] {
        &self.observations
    }

    /// The entity.
    #[must_use]
    pub fn entity(&self) -> &EntityId {
        &self.entity
    }

    /// The messages for a model. Pass the answer to [`read_consolidation`].
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The content of the messages as data.
    #[must_use]
    pub fn task(&self) -> &Task {
        &self.task
    }

    /// The lowest trust of the observations.
    #[must_use]
    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// The change for the answer: it updates attributes with the trust of the least trusted observation, and marks the
    /// observations. Newer observations are left for the next time.
    #[must_use]
    pub fn change(&self, update: AttributeUpdate) -> EntityChange {
        EntityChange::Consolidated {
            entity: self.entity.clone(),
            update,
            observations: self.observations.clone(),
            trust: self.trust,
            sources: self.sources.clone(),
        }
    }
}

/// What the observations were made from. If that is too much for one list, the sources of the least trusted
/// observations are kept.
fn sources_of(observations: &[&Observation]) -> Sources {
    let mut observations = observations.to_vec();
    observations.sort_by(|one, other| one.trust.score().total_cmp(&other.trust.score()));
    let sources = observations
        .iter()
        .map(|observation| observation.rests_on());
    sources.flat_map(Vec::from).collect()
}

/// The prompt for one entity; empty if no consolidation is due. [`Consolidation::of`] also returns the change for the
/// answer.
#[must_use]
pub fn consolidation_prompt(profile: &Profile, policy: &ConsolidationPolicy) -> Vec<Message> {
    Consolidation::of(profile, policy).map_or_else(Vec::new, |consolidation| consolidation.messages)
}

#[cfg(test)]
mod tests;
