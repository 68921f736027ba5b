//! Summing up observations in attributes, without the model: when it is due, what to ask, how to read the answer.

mod prompt;
mod reply;

use dormouse_contracts::{EntityId, Message, Trust};

use crate::{
    attributes::AttributeUpdate, change::Change, entities::Entities, observation::Observation,
    profile::Profile,
};

pub use reply::{ConsolidationError, ReadConsolidation, read_consolidation};

/// When and how much is summed up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ConsolidationPolicy {
    /// The least number of observations that have not been summed up yet: 5.
    pub min_observations: usize,
    /// The most entities in one go: 5.
    pub max_entities: usize,
    /// Observations believed less are left alone, as they do not enter a prompt either: 0.5. What is summed up is believed
    /// as its least trusted source, so that one rumour would spoil the rest.
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

/// The most observations of one entity that are summed up at once. The oldest come first, the others next time.
const MOST_AT_ONCE: usize = 20;

/// Has enough been noticed about an entity that has not been summed up yet?
#[must_use]
pub fn consolidation_due(profile: &Profile, policy: &ConsolidationPolicy) -> bool {
    due(profile, policy).count() >= policy.min_observations.max(1)
}

/// The entities to sum up now: those with most to sum up first, then by id.
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

/// One summing up under way: which observations, and what to ask.
#[derive(Clone, Debug, PartialEq)]
pub struct Consolidation {
    entity: EntityId,
    observations: Vec<u64>,
    trust: Trust,
    messages: Vec<Message>,
}

impl Consolidation {
    /// Takes the oldest observations that have not been summed up, at most 20 of them. Nothing if none are due.
    #[must_use]
    pub fn of(profile: &Profile, policy: &ConsolidationPolicy) -> Option<Self> {
        if !consolidation_due(profile, policy) {
            return None;
        }
        let mut taken: Vec<_> = due(profile, policy).collect();
        taken.sort_by_key(|observation| (observation.timestamp, observation.number));
        taken.truncate(MOST_AT_ONCE);
        let trusts = taken.iter().map(|observation| observation.trust);
        Some(Self {
            entity: profile.entity_id.clone(),
            observations: taken.iter().map(|observation| observation.number).collect(),
            trust: trusts.fold(Trust::FULL, Trust::lowest),
            messages: prompt::messages(profile, &taken),
        })
    }

    /// Whose observations.
    #[must_use]
    pub fn entity(&self) -> &EntityId {
        &self.entity
    }

    /// What to ask a model. The answer goes to [`read_consolidation`].
    #[must_use]
    pub fn messages(&self) -> &[Message] {
        &self.messages
    }

    /// The lowest trust of the observations.
    #[must_use]
    pub fn trust(&self) -> Trust {
        self.trust
    }

    /// The change that the answer makes: attributes updated, believed as far as the least trusted observation, and the
    /// observations marked. Observations that have come meanwhile are left for the next time.
    #[must_use]
    pub fn change(&self, update: AttributeUpdate) -> Change {
        Change::Consolidated {
            entity: self.entity.clone(),
            update,
            observations: self.observations.clone(),
            trust: self.trust,
        }
    }
}

/// What to ask a model about one entity; nothing if too little is to be summed up. As [`Consolidation::of`], which also
/// knows the change that the answer makes.
#[must_use]
pub fn consolidation_prompt(profile: &Profile, policy: &ConsolidationPolicy) -> Vec<Message> {
    Consolidation::of(profile, policy).map_or_else(Vec::new, |consolidation| consolidation.messages)
}

#[cfg(test)]
mod tests;
