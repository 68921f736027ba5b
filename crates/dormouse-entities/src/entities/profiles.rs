//! Changes to one profile.

use dormouse_contracts::{Audience, EntityId, Timestamp};

use super::{Entities, plan::ChangePlan};
use crate::{
    block::LEAST_TRUST,
    change::{EntityChange, EntityChangeError},
    observation::ObservationStage,
    profile::{EntityType, Name, Profile},
    removal::{EntityRemoval, EntityState, RemovedEntity},
};

impl Entities {
    /// The profile for an id with merges followed, or the error if there is none.
    pub(super) fn known(&self, entity: &EntityId) -> Result<&Profile, EntityChangeError> {
        let survivor = self.survivor(entity);
        self.profiles
            .get(survivor)
            .ok_or_else(|| self.absence(survivor))
    }

    /// The profile of exactly this id, or the error if there is none.
    pub(super) fn exactly(&self, entity: &EntityId) -> Result<&Profile, EntityChangeError> {
        self.profiles
            .get(entity)
            .ok_or_else(|| self.absence(entity))
    }

    fn absence(&self, entity: &EntityId) -> EntityChangeError {
        let entity = entity.clone();
        match self.removed.get(&entity).map(|removed| &removed.how) {
            None => EntityChangeError::Unknown { entity },
            Some(EntityRemoval::Deleted) => EntityChangeError::Deleted { entity },
            Some(EntityRemoval::Merged { into, .. }) => EntityChangeError::Merged {
                entity,
                into: into.clone(),
            },
        }
    }

    pub(super) fn create(
        &self,
        entity: &EntityId,
        entity_type: EntityType,
        name: &Name,
        at: Timestamp,
    ) -> Result<ChangePlan, EntityChangeError> {
        let entity = entity.clone();
        if self.profiles.contains_key(&entity) {
            return Err(EntityChangeError::AlreadyKnown { entity });
        }
        if self.removed.contains_key(&entity) {
            return Err(self.absence(&entity));
        }
        let profile = Profile::new(entity, entity_type, name.clone(), at);
        Ok(ChangePlan::of_profile(profile))
    }

    /// Applies a change to one profile. Callers pass only changes of the kinds in [`edited`]; any other has no effect.
    pub(super) fn edit(
        &self,
        change: &EntityChange,
        at: Timestamp,
    ) -> Result<ChangePlan, EntityChangeError> {
        let Some(entity) = edited(change) else {
            return Ok(ChangePlan::default());
        };
        let before = self.known(entity)?;
        let mut profile = before.clone();
        alter(&mut profile, change, at);
        if profile != *before {
            profile.updated_at = profile.updated_at.max(at);
        }
        Ok(ChangePlan::of_profile(profile))
    }

    pub(super) fn delete(
        &self,
        entity: &EntityId,
        at: Timestamp,
    ) -> Result<ChangePlan, EntityChangeError> {
        let kept = self.held(self.exactly(entity)?);
        let mut plan = ChangePlan::default();
        plan.profiles.insert(entity.clone(), None);
        plan.conversations.insert(entity.clone(), None);
        let how = EntityRemoval::Deleted;
        plan.removed
            .insert(entity.clone(), Some(RemovedEntity { kept, at, how }));
        Ok(plan)
    }

    pub(super) fn restore(&self, entity: &EntityId) -> Result<ChangePlan, EntityChangeError> {
        let kept = self.deleted(entity)?.kept.clone();
        let mut plan = ChangePlan::of_profile(kept.profile);
        plan.conversations.insert(entity.clone(), kept.conversation);
        plan.removed.insert(entity.clone(), None);
        Ok(plan)
    }

    pub(super) fn purge(&self, entity: &EntityId) -> Result<ChangePlan, EntityChangeError> {
        self.deleted(entity)?;
        let mut plan = ChangePlan::default();
        for (id, _) in self.removed.iter() {
            // Ids merged into the purged one must not point to an unknown id, which a new entity could take later.
            if self.survivor(id) == entity {
                plan.removed.insert(id.clone(), None);
                plan.archives.insert(id.clone(), None);
            }
        }
        Ok(plan)
    }

    fn deleted(&self, entity: &EntityId) -> Result<&RemovedEntity, EntityChangeError> {
        let removed = self.removed.get(entity);
        removed
            .filter(|removed| removed.how == EntityRemoval::Deleted)
            .ok_or_else(|| EntityChangeError::NotDeleted {
                entity: entity.clone(),
            })
    }

    /// A profile with its conversation.
    pub(super) fn held(&self, profile: &Profile) -> EntityState {
        EntityState {
            profile: profile.clone(),
            conversation: self.conversations.get(&profile.entity_id).cloned(),
        }
    }
}

/// The entity whose profile a change edits; `None` for other changes.
fn edited(change: &EntityChange) -> Option<&EntityId> {
    match change {
        EntityChange::Retyped { entity, .. }
        | EntityChange::Renamed { entity, .. }
        | EntityChange::AliasAdded { entity, .. }
        | EntityChange::AliasRemoved { entity, .. }
        | EntityChange::AttributesUpdated { entity, .. }
        | EntityChange::Observed { entity, .. }
        | EntityChange::Consolidated { entity, .. }
        | EntityChange::MetricSet { entity, .. }
        | EntityChange::Interacted { entity, .. }
        | EntityChange::Judged { entity, .. } => Some(entity),
        _ => None,
    }
}

fn alter(profile: &mut Profile, change: &EntityChange, at: Timestamp) {
    match change {
        EntityChange::Retyped { entity_type, .. } => profile.entity_type = *entity_type,
        EntityChange::Renamed { name, .. } => profile.rename(name.clone()),
        EntityChange::AliasAdded { alias, .. } => profile.add_alias(alias.clone()),
        EntityChange::AliasRemoved { alias, .. } => profile.aliases.retain(|known| known != alias),
        EntityChange::AttributesUpdated {
            update,
            trust,
            audience,
            sources,
            ..
        } => {
            profile.attributes.narrow(audience.as_ref());
            profile.attributes.rest_on(sources);
            profile.attributes.update(update, *trust);
        }
        EntityChange::Observed { observation, .. } => profile.observe(observation, at),
        EntityChange::Consolidated {
            update,
            observations,
            trust,
            sources,
            ..
        } => {
            let mut audience = Some(Audience::Public);
            for observation in &mut profile.observations {
                if observations.contains(&observation.number) {
                    observation.stage = ObservationStage::Consolidated;
                    let known_to = observation.audience.as_ref();
                    audience = audience
                        .zip(known_to)
                        .map(|(all, known_to)| all.intersection(known_to));
                }
            }
            profile.attributes.narrow(audience.as_ref());
            profile.attributes.rest_on(sources);
            profile.attributes.consolidate(update, *trust);
        }
        EntityChange::MetricSet { metric, .. } => profile.relationship.set(*metric, at),
        EntityChange::Interacted { trust, .. } => profile.relationship.interact(*trust, at),
        EntityChange::Judged {
            step,
            trust,
            audience,
            sources,
            ..
        } if trust.is_none_or(|trust| trust >= LEAST_TRUST) => {
            let known_to = audience.clone().unwrap_or(Audience::Public);
            profile
                .relationship
                .judge(step.value(), known_to, sources, at);
        }
        _ => {}
    }
}
