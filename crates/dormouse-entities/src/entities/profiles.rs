//! Changes to one profile.

use dormouse_contracts::{EntityId, Timestamp};

use super::{Entities, Held, Removal, Removed, plan::Plan};
use crate::{
    change::{Change, ChangeError},
    observation::ObservationStage,
    profile::{EntityType, Name, Profile},
};

impl Entities {
    /// The profile that answers for an id, or why there is none.
    pub(super) fn known(&self, entity: &EntityId) -> Result<&Profile, ChangeError> {
        let survivor = self.survivor(entity);
        self.profiles
            .get(survivor)
            .ok_or_else(|| self.absence(survivor))
    }

    /// The profile of exactly this id, or why there is none.
    pub(super) fn exactly(&self, entity: &EntityId) -> Result<&Profile, ChangeError> {
        self.profiles
            .get(entity)
            .ok_or_else(|| self.absence(entity))
    }

    fn absence(&self, entity: &EntityId) -> ChangeError {
        let entity = entity.clone();
        match self.removed.get(&entity).map(|removed| &removed.how) {
            None => ChangeError::Unknown { entity },
            Some(Removal::Deleted) => ChangeError::Deleted { entity },
            Some(Removal::Merged { into, .. }) => ChangeError::Merged {
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
    ) -> Result<Plan, ChangeError> {
        let entity = entity.clone();
        if self.profiles.contains_key(&entity) {
            return Err(ChangeError::AlreadyKnown { entity });
        }
        if self.removed.contains_key(&entity) {
            return Err(self.absence(&entity));
        }
        let profile = Profile::new(entity, entity_type, name.clone(), at);
        Ok(Plan::of_profile(profile))
    }

    /// Changes one profile in place. The caller sends only changes of that kind; any other leaves it as it is.
    pub(super) fn edit(&self, change: &Change, at: Timestamp) -> Result<Plan, ChangeError> {
        let Some(entity) = edited(change) else {
            return Ok(Plan::default());
        };
        let before = self.known(entity)?;
        let mut profile = before.clone();
        alter(&mut profile, change, at);
        if profile != *before {
            profile.updated_at = profile.updated_at.max(at);
        }
        Ok(Plan::of_profile(profile))
    }

    pub(super) fn delete(&self, entity: &EntityId, at: Timestamp) -> Result<Plan, ChangeError> {
        let kept = self.held(self.exactly(entity)?);
        let mut plan = Plan::default();
        plan.profiles.insert(entity.clone(), None);
        plan.conversations.insert(entity.clone(), None);
        let how = Removal::Deleted;
        plan.removed
            .insert(entity.clone(), Some(Removed { kept, at, how }));
        Ok(plan)
    }

    pub(super) fn restore(&self, entity: &EntityId) -> Result<Plan, ChangeError> {
        let kept = self.deleted(entity)?.kept.clone();
        let mut plan = Plan::of_profile(kept.profile);
        plan.conversations.insert(entity.clone(), kept.conversation);
        plan.removed.insert(entity.clone(), None);
        Ok(plan)
    }

    pub(super) fn purge(&self, entity: &EntityId) -> Result<Plan, ChangeError> {
        self.deleted(entity)?;
        let mut plan = Plan::default();
        for (id, _) in self.removed.iter() {
            // What was merged into it would otherwise lead to nobody, and later to a stranger with the same id.
            if self.survivor(id) == entity {
                plan.removed.insert(id.clone(), None);
                plan.archives.insert(id.clone(), None);
            }
        }
        Ok(plan)
    }

    fn deleted(&self, entity: &EntityId) -> Result<&Removed, ChangeError> {
        let removed = self.removed.get(entity);
        removed
            .filter(|removed| removed.how == Removal::Deleted)
            .ok_or_else(|| ChangeError::NotDeleted {
                entity: entity.clone(),
            })
    }

    /// A live profile with its conversation.
    pub(super) fn held(&self, profile: &Profile) -> Held {
        Held {
            profile: profile.clone(),
            conversation: self.conversations.get(&profile.entity_id).cloned(),
        }
    }
}

/// Whose profile a change edits, if it is one that does.
fn edited(change: &Change) -> Option<&EntityId> {
    match change {
        Change::Retyped { entity, .. }
        | Change::Renamed { entity, .. }
        | Change::AliasAdded { entity, .. }
        | Change::AliasRemoved { entity, .. }
        | Change::AttributesUpdated { entity, .. }
        | Change::Observed { entity, .. }
        | Change::Consolidated { entity, .. }
        | Change::MetricSet { entity, .. }
        | Change::Interacted { entity, .. }
        | Change::Judged { entity, .. } => Some(entity),
        _ => None,
    }
}

fn alter(profile: &mut Profile, change: &Change, at: Timestamp) {
    match change {
        Change::Retyped { entity_type, .. } => profile.entity_type = *entity_type,
        Change::Renamed { name, .. } => profile.rename(name.clone()),
        Change::AliasAdded { alias, .. } => profile.add_alias(alias.clone()),
        Change::AliasRemoved { alias, .. } => profile.aliases.retain(|known| known != alias),
        Change::AttributesUpdated { update, trust, .. } => {
            profile.attributes.update(update, *trust);
        }
        Change::Observed { observation, .. } => profile.observe(observation, at),
        Change::Consolidated {
            update,
            observations,
            trust,
            ..
        } => {
            profile.attributes.consolidate(update, *trust);
            for observation in &mut profile.observations {
                if observations.contains(&observation.number) {
                    observation.stage = ObservationStage::Consolidated;
                }
            }
        }
        Change::MetricSet { metric, .. } => profile.relationship.set(*metric, at),
        Change::Interacted { trust, .. } => profile.relationship.interact(*trust, at),
        Change::Judged { step, .. } => profile.relationship.judge(step.value(), at),
        _ => {}
    }
}
