//! What an assistant knows about entities, folded from changes.

mod conversations;
mod merging;
mod names;
mod plan;
mod profiles;
mod rows;
mod undoing;

use std::collections::BTreeMap;

use dormouse_contracts::{EntityId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    change::{EntityChange, EntityChangeError, Touched},
    conversation::{Archive, ArchivedConversation, Conversation, PendingAction, StaleAfter},
    profile::Profile,
    removal::{EntityRemoval, RemovedEntity},
};

use names::NameIndex;
use plan::ChangePlan;

pub use rows::{Rows, RowsError};
pub use undoing::Undoing;

/// What an assistant knows about entities.
///
/// A plain value: it starts empty, and only [`apply`](Self::apply) changes it. The same changes at the same times give
/// the same state on every machine. Reading by id follows merges. A change takes time linear in the rows it affects,
/// which are bounded, and independent of the number of entities. The exceptions are [`EntityChange::StaleCleared`],
/// which visits every running conversation, and [`EntityChange::Purged`], which visits every removed entity. Serialised
/// as its [`Rows`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Rows", into = "Rows")]
pub struct Entities {
    profiles: BTreeMap<EntityId, Profile>,
    conversations: BTreeMap<EntityId, Conversation>,
    archives: BTreeMap<EntityId, Archive>,
    removed: BTreeMap<EntityId, RemovedEntity>,
    /// Derived from the profiles.
    names: NameIndex,
}

impl Entities {
    /// A state without entities.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Applies a change at a time, and returns the affected rows. A change without effect affects none.
    ///
    /// # Errors
    ///
    /// [`EntityChangeError`]; nothing has changed. The same change is refused again until another change has removed
    /// the cause.
    pub fn apply(
        &mut self,
        change: &EntityChange,
        at: Timestamp,
    ) -> Result<Touched, EntityChangeError> {
        let plan = self.plan(change, at)?;
        Ok(self.carry_out(plan))
    }

    /// Whether this change would be accepted. Changes nothing.
    ///
    /// # Errors
    ///
    /// The errors of [`apply`](Self::apply).
    pub fn check(&self, change: &EntityChange, at: Timestamp) -> Result<(), EntityChangeError> {
        self.plan(change, at).map(drop)
    }

    /// Whether this change would be accepted and have an effect. Changes nothing.
    ///
    /// # Errors
    ///
    /// The errors of [`apply`](Self::apply).
    pub fn has_effect(
        &self,
        change: &EntityChange,
        at: Timestamp,
    ) -> Result<bool, EntityChangeError> {
        let plan = self.plan(change, at)?;
        let is_same = plan
            .profiles
            .iter()
            .all(|(id, new)| self.profiles.get(id) == new.as_ref())
            && plan
                .conversations
                .iter()
                .all(|(id, new)| self.conversations.get(id) == new.as_ref())
            && plan
                .archives
                .iter()
                .all(|(id, new)| self.archives.get(id) == new.as_ref())
            && plan
                .removed
                .iter()
                .all(|(id, new)| self.removed.get(id) == new.as_ref());
        Ok(!is_same)
    }

    /// The profile for an id, with merges followed.
    #[must_use]
    pub fn profile(&self, entity: &EntityId) -> Option<&Profile> {
        self.profiles.get(self.survivor(entity))
    }

    /// All profiles, by id.
    pub fn profiles(&self) -> impl ExactSizeIterator<Item = &Profile> {
        self.profiles.values()
    }

    /// The id under which an entity is known: its own, or the one it was finally merged into. `None` without a profile.
    #[must_use]
    pub fn resolve(&self, entity: &EntityId) -> Option<&EntityId> {
        self.profile(entity).map(|profile| &profile.entity_id)
    }

    /// The ids of all entities with this name, in order. Case and white space are ignored.
    #[must_use]
    pub fn known_as(&self, name: &str) -> Vec<&EntityId> {
        self.names.known_as(name)
    }

    /// The running conversation with an entity, even if it is stale.
    #[must_use]
    pub fn conversation(&self, entity: &EntityId) -> Option<&Conversation> {
        self.conversations.get(self.survivor(entity))
    }

    /// The running conversation with an entity, unless it is stale.
    #[must_use]
    pub fn active_conversation(
        &self,
        entity: &EntityId,
        now: Timestamp,
        stale_after: StaleAfter,
    ) -> Option<&Conversation> {
        self.conversation(entity)
            .filter(|conversation| !conversation.is_stale(now, stale_after))
    }

    /// All running conversations with the ids of their entities, by id.
    pub fn conversations(&self) -> impl ExactSizeIterator<Item = (&EntityId, &Conversation)> {
        self.conversations.iter()
    }

    /// The archived conversations with an entity and with those merged into it, oldest first.
    #[must_use]
    pub fn archived(&self, entity: &EntityId) -> Vec<&ArchivedConversation> {
        let Some(survivor) = self.resolve(entity) else {
            return Vec::new();
        };
        let merged = self.removed.keys();
        let merged = merged.filter(|id| self.survivor(id) == survivor);
        let mut archived: Vec<_> = std::iter::once(survivor)
            .chain(merged)
            .filter_map(|id| self.archives.get(id))
            .flat_map(|archive| &archive.conversations)
            .collect();
        archived.sort_by_key(|archived| archived.ended_at);
        archived
    }

    /// The pending actions for an entity: highest priority first, then oldest.
    #[must_use]
    pub fn pending_actions(&self, entity: &EntityId) -> Vec<&PendingAction> {
        let conversation = self.conversation(entity);
        let mut actions: Vec<_> = conversation
            .iter()
            .flat_map(|conversation| &conversation.pending_actions)
            .collect();
        actions.sort_by_key(|action| (std::cmp::Reverse(action.priority), action.id));
        actions
    }

    /// The ids of all entities with a running conversation on this topic, in order. Case and white space are ignored.
    #[must_use]
    pub fn talking_about(&self, topic: &str) -> Vec<&EntityId> {
        let wanted = names::fold(topic);
        self.conversations
            .iter()
            .filter(|(_, conversation)| {
                let topic = conversation.topic.as_ref();
                topic.is_some_and(|topic| names::fold(topic.as_str()) == wanted)
            })
            .map(|(id, _)| id)
            .collect()
    }

    /// The id that represents an entity, with merges followed to the end. An id of which nothing is known represents
    /// itself.
    #[must_use]
    pub fn survivor<'a>(&'a self, entity: &'a EntityId) -> &'a EntityId {
        let mut survivor = entity;
        // A merged id has no profile, so nothing can be merged into it and no cycle can arise. Rows from a store are
        // checked for cycles.
        while let Some(EntityRemoval::Merged { into, .. }) =
            self.removed.get(survivor).map(|r| &r.how)
        {
            survivor = into;
        }
        survivor
    }

    fn plan(&self, change: &EntityChange, at: Timestamp) -> Result<ChangePlan, EntityChangeError> {
        match change {
            EntityChange::Created {
                entity,
                entity_type,
                name,
            } => self.create(entity, *entity_type, name, at),
            EntityChange::Deleted { entity } => self.delete(entity, at),
            EntityChange::Restored { entity } => self.restore(entity),
            EntityChange::Purged { entity } => self.purge(entity),
            EntityChange::Merged { from, into } => self.merge(from, into, at),
            EntityChange::Unmerged { entity } => self.unmerge(entity),
            EntityChange::Reverted { before, after } => self.revert(before, after, at),
            EntityChange::StaleCleared { stale_after } => Ok(self.clear_stale(*stale_after, at)),
            EntityChange::ConversationStarted {
                entity,
                topic,
                stale_after,
            } => self.start(entity, topic.as_ref(), *stale_after, at),
            EntityChange::ConversationEnded { entity } => self.end(entity, at),
            EntityChange::TopicChanged { .. }
            | EntityChange::MessageAdded { .. }
            | EntityChange::ActionAdded { .. }
            | EntityChange::ActionCompleted { .. }
            | EntityChange::ActionEnded { .. } => self.converse(change, at),
            EntityChange::Retyped { .. }
            | EntityChange::Renamed { .. }
            | EntityChange::AliasAdded { .. }
            | EntityChange::AliasRemoved { .. }
            | EntityChange::AttributesUpdated { .. }
            | EntityChange::Observed { .. }
            | EntityChange::Consolidated { .. }
            | EntityChange::MetricSet { .. }
            | EntityChange::Interacted { .. }
            | EntityChange::Judged { .. } => self.edit(change, at),
        }
    }
}

#[cfg(test)]
mod tests;
