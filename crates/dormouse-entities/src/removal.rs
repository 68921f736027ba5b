//! The state of removed entities, kept so that a deletion or merge can be undone.

use dormouse_contracts::{EntityId, Timestamp};
use serde::{Deserialize, Serialize};

use crate::{conversation::Conversation, profile::Profile};

/// What is kept of a deleted or merged entity.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RemovedEntity {
    /// The state at the removal.
    pub kept: EntityState,
    /// The time of the removal.
    pub at: Timestamp,
    /// How it was removed, with what is needed to undo it.
    pub how: EntityRemoval,
}

/// A profile with its running conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EntityState {
    /// The profile.
    pub profile: Profile,
    /// The running conversation, if there was one.
    pub conversation: Option<Conversation>,
}

/// How an entity was removed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EntityRemoval {
    /// Its profile was deleted.
    Deleted,
    /// It was merged into another one.
    Merged {
        /// The remaining entity.
        into: EntityId,
        /// The remaining entity before the merge.
        before: Box<EntityState>,
        /// The remaining entity after the merge.
        after: Box<EntityState>,
    },
}
