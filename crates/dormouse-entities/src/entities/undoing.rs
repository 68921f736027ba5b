//! Taking a change back.

use dormouse_contracts::{EntityId, Timestamp};

use super::{Entities, plan::ChangePlan};
use crate::{
    change::{EntityChange, EntityChangeError},
    merge::without,
    relationship::{Metric, trust_moved},
    removal::{EntityRemoval, EntityState},
};

/// How a change is taken back.
#[derive(Clone, Debug, PartialEq)]
pub enum Undoing {
    /// By an opposite change that other readers of the log must see too, because it changes which ids are one person,
    /// whether somebody is known, or how far somebody is trusted.
    Opposite(EntityChange),
    /// By [`EntityChange::Reverted`].
    Reverted(EntityChange),
    /// Not at all: it began or ended a conversation, added a message, counted an interaction, or erased something.
    Impossible,
}

impl Entities {
    /// How to take back `change`, which was applied at the time `at` to the state `before`. Pure.
    ///
    /// # Errors
    ///
    /// [`EntityChangeError`] if nothing is left of its effect.
    pub fn undoing(
        &self,
        change: &EntityChange,
        at: Timestamp,
        before: &Self,
    ) -> Result<Undoing, EntityChangeError> {
        let opposite = match change {
            EntityChange::Created { entity, .. } | EntityChange::Restored { entity } => {
                self.exactly(entity)?;
                EntityChange::Deleted {
                    entity: entity.clone(),
                }
            }
            EntityChange::Deleted { entity } => {
                self.is_removed_since(entity, at)?;
                EntityChange::Restored {
                    entity: entity.clone(),
                }
            }
            EntityChange::Merged { from, .. } => {
                self.is_removed_since(from, at)?;
                EntityChange::Unmerged {
                    entity: from.clone(),
                }
            }
            EntityChange::Unmerged { entity } => {
                self.exactly(entity)?;
                let removed = before.removed.get(entity).map(|removed| &removed.how);
                let Some(EntityRemoval::Merged { into, .. }) = removed else {
                    return Ok(Undoing::Impossible);
                };
                EntityChange::Merged {
                    from: entity.clone(),
                    into: into.clone(),
                }
            }
            EntityChange::MetricSet {
                entity,
                metric: Metric::Trust(set),
            } => {
                let now = self.known(entity)?.relationship.trust();
                let before = before.known(entity)?.relationship.trust();
                EntityChange::MetricSet {
                    entity: entity.clone(),
                    metric: Metric::Trust(trust_moved(before, now.score() - set.score())),
                }
            }
            EntityChange::Purged { .. }
            | EntityChange::ConversationStarted { .. }
            | EntityChange::ConversationEnded { .. }
            | EntityChange::StaleCleared { .. }
            | EntityChange::MessageAdded { .. }
            | EntityChange::Interacted { .. } => return Ok(Undoing::Impossible),
            _ => return self.reverting(change, at, before),
        };
        Ok(Undoing::Opposite(opposite))
    }

    fn reverting(
        &self,
        change: &EntityChange,
        at: Timestamp,
        before: &Self,
    ) -> Result<Undoing, EntityChangeError> {
        let mut after = before.clone();
        let touched = after.apply(change, at)?;
        let mut touched = touched.profiles.union(&touched.conversations);
        let Some(entity) = touched.next() else {
            return Ok(Undoing::Impossible);
        };
        let reverted = EntityChange::Reverted {
            before: Box::new(before.held(before.known(entity)?)),
            after: Box::new(after.held(after.known(entity)?)),
        };
        self.check(&reverted, at)?;
        Ok(Undoing::Reverted(reverted))
    }

    /// Checks that the entity was removed at this time and is still removed.
    fn is_removed_since(&self, entity: &EntityId, at: Timestamp) -> Result<(), EntityChangeError> {
        let removed = self.removed.get(entity);
        match removed {
            Some(removed) if removed.at == at => Ok(()),
            _ => Err(EntityChangeError::ChangedSince {
                entity: entity.clone(),
            }),
        }
    }

    pub(super) fn revert(
        &self,
        before: &EntityState,
        after: &EntityState,
        at: Timestamp,
    ) -> Result<ChangePlan, EntityChangeError> {
        let entity = &after.profile.entity_id;
        let now = self.held(self.exactly(entity)?);
        let mut own = without(before, after, &now);
        if own == now {
            return Err(EntityChangeError::ChangedSince {
                entity: entity.clone(),
            });
        }
        own.profile.updated_at = own.profile.updated_at.max(at);
        let mut plan = ChangePlan::of_profile(own.profile);
        plan.conversations.insert(entity.clone(), own.conversation);
        Ok(plan)
    }
}
