//! All that an assistant knows of entities, folded from changes.

mod conversations;
mod merging;
mod names;
mod plan;
mod profiles;
mod rows;

use std::collections::BTreeMap;

use dormouse_contracts::{EntityId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{
    change::{Change, ChangeError, Touched},
    conversation::{Archive, ArchivedConversation, Conversation, PendingAction, StaleAfter},
    profile::Profile,
};

use names::Names;
use plan::Plan;

pub use rows::{Rows, RowsError};

/// All that an assistant knows of entities.
///
/// A value, and a fold: it starts empty, and [`apply`](Self::apply) is the only thing that changes it. Equal changes at
/// equal times give equal states on every machine. Reading by id follows merges. A change costs time in proportion to
/// the rows it touches, each of which is bounded, and not to the number of entities (except
/// [`Change::StaleCleared`], which looks at every running conversation, and [`Change::Purged`], which looks at everybody
/// that was removed). Serialised, it is its [`Rows`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Rows", into = "Rows")]
pub struct Entities {
    profiles: BTreeMap<EntityId, Profile>,
    conversations: BTreeMap<EntityId, Conversation>,
    archives: BTreeMap<EntityId, Archive>,
    removed: BTreeMap<EntityId, Removed>,
    /// Derived from the profiles.
    names: Names,
}

/// What is kept of an entity that is no longer known by its id.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Removed {
    /// As it was when it was removed.
    pub kept: Held,
    /// When that was.
    pub at: Timestamp,
    /// How, and what else is needed to undo it.
    pub how: Removal,
}

/// A profile with its running conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Held {
    /// The profile.
    pub profile: Profile,
    /// The running conversation, if there was one.
    pub conversation: Option<Conversation>,
}

/// How an entity was removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Removal {
    /// Its profile was deleted.
    Deleted,
    /// It was merged into another one.
    Merged {
        /// Into whom.
        into: EntityId,
        /// The survivor before.
        before: Box<Held>,
        /// The survivor after.
        after: Box<Held>,
    },
}

impl Entities {
    /// Nobody is known.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Makes a change at a time, and says which rows it touched. A change that leaves everything as it was touches none.
    ///
    /// # Errors
    ///
    /// [`ChangeError`]; nothing has changed. The same change is refused again until another one has removed the cause.
    pub fn apply(&mut self, change: &Change, at: Timestamp) -> Result<Touched, ChangeError> {
        let plan = self.plan(change, at)?;
        Ok(self.carry_out(plan))
    }

    /// Would this change be accepted? Changes nothing.
    ///
    /// # Errors
    ///
    /// What [`apply`](Self::apply) would answer.
    pub fn check(&self, change: &Change, at: Timestamp) -> Result<(), ChangeError> {
        self.plan(change, at).map(drop)
    }

    /// The profile that answers for an id, merges followed.
    #[must_use]
    pub fn profile(&self, entity: &EntityId) -> Option<&Profile> {
        self.profiles.get(self.survivor(entity))
    }

    /// All profiles, by id.
    pub fn profiles(&self) -> impl ExactSizeIterator<Item = &Profile> {
        self.profiles.values()
    }

    /// The id under which an entity is known: itself, or the one it was merged into in the end. Nothing if there is no
    /// profile.
    #[must_use]
    pub fn resolve(&self, entity: &EntityId) -> Option<&EntityId> {
        self.profile(entity).map(|profile| &profile.entity_id)
    }

    /// The ids of all entities known by this name, in order. Case and white space do not matter.
    #[must_use]
    pub fn known_as(&self, name: &str) -> Vec<&EntityId> {
        self.names.known_as(name)
    }

    /// The running conversation with an entity, also if it is stale.
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

    /// All running conversations with the ids of the entities, by id.
    pub fn conversations(&self) -> impl ExactSizeIterator<Item = (&EntityId, &Conversation)> {
        self.conversations.iter()
    }

    /// The former conversations with an entity and with those merged into it, oldest first.
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

    /// What is to be done for an entity: the highest priority first, then the oldest.
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

    /// The ids of all entities with which a conversation on this topic is running, in order. Case and white space do
    /// not matter.
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

    /// Follows merges as far as they go. The answer need not be known.
    fn survivor<'a>(&'a self, entity: &'a EntityId) -> &'a EntityId {
        let mut survivor = entity;
        // Whoever was merged is not live and cannot be merged into, so there is no circle; rows are checked for one.
        while let Some(Removal::Merged { into, .. }) = self.removed.get(survivor).map(|r| &r.how) {
            survivor = into;
        }
        survivor
    }

    fn plan(&self, change: &Change, at: Timestamp) -> Result<Plan, ChangeError> {
        match change {
            Change::Created {
                entity,
                entity_type,
                name,
            } => self.create(entity, *entity_type, name, at),
            Change::Deleted { entity } => self.delete(entity, at),
            Change::Restored { entity } => self.restore(entity),
            Change::Purged { entity } => self.purge(entity),
            Change::Merged { from, into } => self.merge(from, into, at),
            Change::Unmerged { entity } => self.unmerge(entity),
            Change::StaleCleared { stale_after } => Ok(self.clear_stale(*stale_after, at)),
            Change::ConversationStarted {
                entity,
                topic,
                stale_after,
            } => self.start(entity, topic.as_ref(), *stale_after, at),
            Change::ConversationEnded { entity } => self.end(entity, at),
            Change::TopicChanged { .. }
            | Change::MessageAdded { .. }
            | Change::ActionAdded { .. }
            | Change::ActionCompleted { .. } => self.converse(change, at),
            Change::Retyped { .. }
            | Change::Renamed { .. }
            | Change::AliasAdded { .. }
            | Change::AliasRemoved { .. }
            | Change::AttributesUpdated { .. }
            | Change::Observed { .. }
            | Change::Consolidated { .. }
            | Change::MetricSet { .. }
            | Change::Interacted { .. }
            | Change::Judged { .. } => self.edit(change, at),
        }
    }
}

#[cfg(test)]
mod tests;
