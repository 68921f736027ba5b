//! Merging two entities, and reverting a merge.

use dormouse_contracts::{EntityId, Timestamp};

use super::{Entities, plan::ChangePlan};
use crate::{
    change::EntityChangeError,
    merge,
    removal::{EntityRemoval, EntityState, RemovedEntity},
};

impl Entities {
    pub(super) fn merge(
        &self,
        from: &EntityId,
        into: &EntityId,
        at: Timestamp,
    ) -> Result<ChangePlan, EntityChangeError> {
        let from = self.held(self.known(from)?);
        let before = self.held(self.known(into)?);
        let (from_id, into_id) = (
            from.profile.entity_id.clone(),
            before.profile.entity_id.clone(),
        );
        if from_id == into_id {
            return Err(EntityChangeError::MergeWithItself { entity: into_id });
        }
        let next = self.archives.get(&into_id).map_or(0, |a| a.ended) + 1;
        let after = merge::combine(&from, &before, next, at);

        let mut plan = ChangePlan::of_profile(after.profile.clone());
        plan.conversations
            .insert(into_id.clone(), after.conversation.clone());
        plan.profiles.insert(from_id.clone(), None);
        plan.conversations.insert(from_id.clone(), None);
        let how = EntityRemoval::Merged {
            into: into_id,
            before: Box::new(before),
            after: Box::new(after),
        };
        let removed = RemovedEntity {
            kept: from,
            at,
            how,
        };
        plan.removed.insert(from_id, Some(removed));
        Ok(plan)
    }

    pub(super) fn unmerge(&self, entity: &EntityId) -> Result<ChangePlan, EntityChangeError> {
        let Some(RemovedEntity {
            kept,
            how:
                EntityRemoval::Merged {
                    into,
                    before,
                    after,
                },
            ..
        }) = self.removed.get(entity)
        else {
            return Err(EntityChangeError::NotMerged {
                entity: entity.clone(),
            });
        };
        let now: EntityState = self.held(self.exactly(into)?);
        let (from, survivor) = merge::separate(kept, before, after, &now);

        let mut plan = ChangePlan::of_profile(survivor.profile);
        plan.conversations
            .insert(into.clone(), survivor.conversation);
        plan.profiles.insert(entity.clone(), Some(from.profile));
        plan.conversations.insert(entity.clone(), from.conversation);
        plan.removed.insert(entity.clone(), None);
        Ok(plan)
    }
}
